// Who did what, by which face, with what result.
import type { TableProps } from "@cloudscape-design/components/table";

import { DataTable } from "../../shared/data_table";
import { localTime } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { useAuditList } from "../../shared/queries";
import type { AuditEntry } from "../../shared/types";

const kColumns: TableProps.ColumnDefinition<AuditEntry>[] = [
  { id: "time", header: "Time", cell: (entry) => localTime(entry.time), sortingField: "time" },
  { id: "principal", header: "Principal", cell: (entry) => entry.principal ?? "–", sortingField: "principal" },
  { id: "face", header: "Face", cell: (entry) => entry.face ?? "–", sortingField: "face" },
  {
    id: "operation",
    header: "Operation",
    sortingField: "operation",
    cell: (entry) =>
      entry.operation_id ? (
        <Link to={`/operations/${entry.operation_id}`}>{entry.operation ?? entry.operation_id}</Link>
      ) : (
        (entry.operation ?? "–")
      ),
  },
  { id: "resource", header: "Resource", cell: (entry) => entry.resource ?? "–", sortingField: "resource" },
  { id: "outcome", header: "Outcome", cell: (entry) => entry.outcome ?? "–", sortingField: "outcome" },
];

export function AuditPage() {
  const { rows, pending, error, older } = useAuditList();
  if (error && rows.length === 0) return <ProblemAlert error={error} />;
  return (
    <DataTable
      page
      title="Audit"
      description="Every write and every refused write"
      items={rows}
      columns={kColumns}
      loading={pending}
      older={older}
      empty="Nothing has been done yet."
      rowId={(entry) => entry.id ?? `${entry.time} ${entry.operation}`}
      sortBy="time"
      descending
    />
  );
}
