// The table of operations, on its own page and inside a cluster's page.
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import Pagination from "@cloudscape-design/components/pagination";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import Table from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import { useCollection } from "@cloudscape-design/collection-hooks";

import { between, localTime, Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { isTerminal, type Operation } from "../../shared/types";

export function OperationTable({ operations, loading, title }: { operations: Operation[]; loading: boolean; title: "h1" | "h2" }) {
  const { items, collectionProps, filterProps, paginationProps } = useCollection(operations, {
    filtering: { empty: <Box>No operation has run yet.</Box>, noMatch: <Box>No operation matches.</Box> },
    pagination: { pageSize: 20 },
    sorting: { defaultState: { sortingColumn: { sortingField: "created_at" }, isDescending: true } },
  });
  return (
    <Table
      {...collectionProps}
      items={items}
      loading={loading}
      loadingText="Loading operations"
      variant={title === "h1" ? "full-page" : "container"}
      trackBy="id"
      header={<Header variant={title} counter={`(${operations.length})`}>Operations</Header>}
      filter={<TextFilter {...filterProps} filteringPlaceholder="Find operations" filteringAriaLabel="Find operations" />}
      pagination={<Pagination {...paginationProps} ariaLabels={{ nextPageLabel: "Next page", previousPageLabel: "Previous page", paginationLabel: "Pages of operations" }} />}
      ariaLabels={{ tableLabel: "Operations" }}
      columnDefinitions={[
        { id: "id", header: "Operation", cell: (op) => <Link to={`/operations/${op.id}`}>{op.name}</Link>, sortingField: "name" },
        { id: "resource", header: "Resource", cell: (op) => op.resource, sortingField: "resource" },
        { id: "state", header: "State", cell: (op) => <Status value={op.state} />, sortingField: "state" },
        {
          id: "progress", header: "Progress", minWidth: 160,
          cell: (op) => isTerminal(op.state) ? (op.no_change ? "nothing to do" : "–") : <ProgressBar value={Math.round((op.progress ?? 0) * 100)} ariaLabel={`Progress of ${op.name}`} />,
        },
        { id: "by", header: "Requested by", cell: (op) => `${op.requested_by?.principal ?? "–"} (${op.requested_by?.face ?? "–"})` },
        { id: "created", header: "Started", cell: (op) => localTime(op.created_at), sortingField: "created_at" },
        { id: "took", header: "Took", cell: (op) => between(op.created_at, op.ended_at) },
      ]}
    />
  );
}
