// Who did what, by which face, with what result.
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import Table from "@cloudscape-design/components/table";

import { localTime } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { useAudit } from "../../shared/queries";

export function AuditPage() {
  const audit = useAudit();
  if (audit.error) return <ProblemAlert error={audit.error} />;
  const entries = audit.data?.audit ?? [];
  return (
    <Table
      variant="full-page"
      header={<Header variant="h1" counter={`(${entries.length})`} description="Every write and every refused write">Audit</Header>}
      items={entries}
      loading={audit.isPending}
      loadingText="Loading the audit"
      empty={<Box textAlign="center">Nothing has been done yet.</Box>}
      ariaLabels={{ tableLabel: "Audit" }}
      columnDefinitions={[
        { id: "time", header: "Time", cell: (entry) => localTime(entry.time) },
        { id: "principal", header: "Principal", cell: (entry) => entry.principal ?? "–" },
        { id: "face", header: "Face", cell: (entry) => entry.face ?? "–" },
        { id: "operation", header: "Operation", cell: (entry) => (entry.operation_id ? <Link to={`/operations/${entry.operation_id}`}>{entry.operation ?? entry.operation_id}</Link> : entry.operation ?? "–") },
        { id: "resource", header: "Resource", cell: (entry) => entry.resource ?? "–" },
        { id: "outcome", header: "Outcome", cell: (entry) => entry.outcome ?? "–" },
      ]}
    />
  );
}
