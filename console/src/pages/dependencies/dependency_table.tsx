// What a HyperPod cluster needs inside Kubernetes, and how it is.
import Button from "@cloudscape-design/components/button";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { TableProps } from "@cloudscape-design/components/table";

import { client, take, withKey } from "../../shared/api";
import { DataTable } from "../../shared/data_table";
import { Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useDependencies } from "../../shared/queries";
import { useStart } from "../../shared/start";
import type { Dependency } from "../../shared/types";

const kColumns: TableProps.ColumnDefinition<Dependency>[] = [
  { id: "name", header: "Component", cell: (each) => each.title ?? each.name, isRowHeader: true, sortingField: "name" },
  {
    id: "kind",
    header: "Kind",
    minWidth: 130,
    cell: (each) => (each.kind === "eks_addon" ? "EKS add-on" : "our manifest"),
    sortingField: "kind",
  },
  {
    id: "state",
    header: "State",
    minWidth: 130,
    cell: (each) => <Status value={each.state ?? (each.healthy ? "ready" : "failed")} />,
    sortingField: "state",
  },
  { id: "version", header: "Version", cell: (each) => each.version ?? "–" },
  { id: "detail", header: "Detail", cell: (each) => each.detail ?? "" },
];

export function DependencyTable({ name }: { name: string }) {
  const dependencies = useDependencies(name);
  const start = useStart((key) =>
    take(
      client.POST("/clusters/{cluster}/dependencies/reconcile", {
        params: { path: { cluster: name }, ...withKey(key) },
        body: {},
      }),
    ),
  );
  if (dependencies.error) return <ProblemAlert error={dependencies.error} />;
  return (
    <SpaceBetween size="s">
      <ProblemAlert error={start.error} />
      <DataTable
        title="Dependencies"
        items={dependencies.data?.dependencies ?? []}
        columns={kColumns}
        loading={dependencies.isPending}
        empty="No component is known."
        rowId={(each) => each.name}
        wrap
        actions={
          <Button loading={start.isPending} onClick={() => start.mutate()}>
            Reconcile
          </Button>
        }
      />
    </SpaceBetween>
  );
}
