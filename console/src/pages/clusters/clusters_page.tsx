import Button from "@cloudscape-design/components/button";
import type { TableProps } from "@cloudscape-design/components/table";
import { useNavigate } from "react-router-dom";

import { DataTable } from "../../shared/data_table";
import { ofTotal, Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { useClusterDetails, useClusters } from "../../shared/queries";
import type { Cluster, Environment } from "../../shared/types";

const columnsOf = (active?: string): TableProps.ColumnDefinition<Cluster>[] => [
  {
    id: "name",
    header: "Name",
    isRowHeader: true,
    sortingField: "name",
    cell: (each) => (
      <>
        <Link to={`/clusters/${each.name}`}>{each.name}</Link>
        {each.name === active ? " (active)" : ""}
      </>
    ),
  },
  { id: "eks", header: "EKS", cell: (each) => <Status value={each.status} />, sortingField: "status" },
  { id: "version", header: "Kubernetes", cell: (each) => each.kubernetes_version ?? "–", sortingField: "kubernetes_version" },
  {
    id: "hyperpod",
    header: "HyperPod",
    cell: (each) => <Status value={each.hyperpod_status} />,
    sortingField: "hyperpod_status",
  },
  { id: "nodes", header: "Nodes ready", cell: (each) => ofTotal(each.nodes) },
  { id: "accelerators", header: "Accelerators ready", cell: (each) => ofTotal(each.accelerators) },
];

export function ClustersPage({ environment }: { environment: Environment }) {
  const clusters = useClusters();
  const navigate = useNavigate();
  const details = useClusterDetails((clusters.data?.clusters ?? []).slice(0, 20).map((each) => each.name));
  if (clusters.error) return <ProblemAlert error={clusters.error} />;
  const items = (clusters.data?.clusters ?? []).map((each) => ({ ...each, ...details.find((full) => full.name === each.name) }));
  const launch = () => navigate("/clusters/launch");
  return (
    <DataTable
      page
      title="Clusters"
      items={items}
      columns={columnsOf(environment.active_cluster)}
      loading={clusters.isPending}
      rowId={(each) => each.name}
      sortBy="name"
      actions={
        <Button variant="primary" onClick={launch}>
          Launch a cluster
        </Button>
      }
      empty="There is no cluster yet. An EKS control plane, a HyperPod cluster and storage come from one form."
      emptyAction={<Button onClick={launch}>Launch a cluster</Button>}
    />
  );
}
