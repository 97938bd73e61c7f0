// The table of operations, on its own page and inside a cluster's page.
import ProgressBar from "@cloudscape-design/components/progress-bar";
import type { TableProps } from "@cloudscape-design/components/table";
import { useState } from "react";

import { Choice } from "../../shared/choice";
import { DataTable } from "../../shared/data_table";
import { between, localTime, Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import type { useOperationList } from "../../shared/queries";
import { isTerminal, type Operation } from "../../shared/types";

const kStates = [
  { value: "", label: "Any state" },
  { value: "moving", label: "Not ended" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
] as const;
type Wanted = (typeof kStates)[number]["value"];

const isWanted = (operation: Operation, wanted: Wanted) =>
  wanted === "" || (wanted === "moving" ? !isTerminal(operation.state) : operation.state === wanted);

const kColumns: TableProps.ColumnDefinition<Operation>[] = [
  {
    id: "id",
    header: "Operation",
    cell: (op) => <Link to={`/operations/${op.id}`}>{op.name}</Link>,
    sortingField: "name",
    isRowHeader: true,
  },
  {
    id: "resource",
    header: "Resource",
    maxWidth: 340,
    cell: (op) => <span title={op.resource}>{op.resource}</span>,
    sortingField: "resource",
  },
  { id: "state", header: "State", cell: (op) => <Status value={op.state} />, sortingField: "state" },
  {
    id: "progress",
    header: "Progress",
    minWidth: 130,
    cell: (op) =>
      isTerminal(op.state) ? (
        op.no_change ? (
          "nothing to do"
        ) : (
          "–"
        )
      ) : (
        <ProgressBar value={Math.round((op.progress ?? 0) * 100)} ariaLabel={`Progress of ${op.name}`} />
      ),
  },
  { id: "by", header: "Requested by", cell: (op) => `${op.requested_by?.principal ?? "–"} (${op.requested_by?.face ?? "–"})` },
  { id: "created", header: "Started", cell: (op) => localTime(op.created_at), sortingField: "created_at" },
  { id: "took", header: "Took", cell: (op) => between(op.created_at, op.ended_at) },
];

export function OperationTable({ list, title }: { list: ReturnType<typeof useOperationList>; title: "h1" | "h2" }) {
  const [wanted, setWanted] = useState<Wanted>("");
  const { rows, pending, older, total } = list;
  if (list.error && rows.length === 0) return <ProblemAlert error={list.error} />;
  return (
    <DataTable
      title="Operations"
      page={title === "h1"}
      items={rows.filter((each) => isWanted(each, wanted))}
      columns={kColumns}
      loading={pending}
      older={older}
      total={wanted ? 0 : total}
      empty={wanted ? "No operation matches." : "No operation has run yet."}
      rowId={(op) => op.id}
      sortBy="created_at"
      descending
      controls={rows.length > 0 && <Choice label="State of operations" value={wanted} options={kStates} onChange={setWanted} />}
    />
  );
}
