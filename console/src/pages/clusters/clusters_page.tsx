import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";
import { useNavigate } from "react-router-dom";

import { ofTotal, Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { useClusterDetails, useClusters } from "../../shared/queries";
import type { Environment } from "../../shared/types";

export function ClustersPage({ environment }: { environment: Environment }) {
  const clusters = useClusters();
  const navigate = useNavigate();
  const details = useClusterDetails((clusters.data?.clusters ?? []).slice(0, 20).map((each) => each.name));
  if (clusters.error) return <ProblemAlert error={clusters.error} />;
  const items = (clusters.data?.clusters ?? []).map((each) => ({ ...each, ...details.find((full) => full.name === each.name) }));
  return (
    <Table
      variant="full-page"
      items={items}
      trackBy="name"
      loading={clusters.isPending}
      loadingText="Loading clusters"
      ariaLabels={{ tableLabel: "Clusters" }}
      header={
        <Header variant="h1" counter={`(${items.length})`} actions={<Button variant="primary" onClick={() => navigate("/clusters/launch")}>Launch a cluster</Button>}>
          Clusters
        </Header>
      }
      empty={
        <Box textAlign="center" padding="l">
          <SpaceBetween size="s">
            <b>No clusters</b>
            <Box color="text-body-secondary">An EKS control plane, a HyperPod cluster and storage come from one form.</Box>
            <Button onClick={() => navigate("/clusters/launch")}>Launch a cluster</Button>
          </SpaceBetween>
        </Box>
      }
      columnDefinitions={[
        { id: "name", header: "Name", isRowHeader: true, cell: (each) => <><Link to={`/clusters/${each.name}`}>{each.name}</Link>{each.name === environment.active_cluster ? " (active)" : ""}</> },
        { id: "eks", header: "EKS", cell: (each) => <Status value={each.status} /> },
        { id: "version", header: "Kubernetes", cell: (each) => each.kubernetes_version ?? "–" },
        { id: "hyperpod", header: "HyperPod", cell: (each) => <Status value={each.hyperpod_status} /> },
        { id: "nodes", header: "Nodes ready", cell: (each) => ofTotal(each.nodes) },
        { id: "accelerators", header: "Accelerators ready", cell: (each) => ofTotal(each.accelerators) },
      ]}
    />
  );
}
