// Live counts over all clusters, and what runs now.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useNavigate } from "react-router-dom";

import { ProblemAlert } from "../../shared/problem_alert";
import { useClusterDetails, useClusters, useOperationList } from "../../shared/queries";
import { type Cluster, type Counts, type Environment, isTerminal } from "../../shared/types";
import { OperationTable } from "../operations/operation_table";

const sum = (clusters: Cluster[], pick: (cluster: Cluster) => Counts | undefined, of: keyof Counts) =>
  clusters.reduce((total, cluster) => total + (pick(cluster)?.[of] ?? 0), 0);

function Figure({ label, value, note }: { label: string; value: string | number; note?: string }) {
  return (
    <div>
      <Box variant="awsui-key-label">{label}</Box>
      <Box variant="awsui-value-large" display="block">
        {value.toLocaleString()}
      </Box>
      {note && (
        <Box variant="small" color="text-body-secondary" display="block">
          {note}
        </Box>
      )}
    </div>
  );
}

export function OverviewPage({ environment }: { environment: Environment }) {
  const clusters = useClusters();
  const operations = useOperationList();
  const navigate = useNavigate();
  const all = clusters.data?.clusters ?? [];
  const fleet = useClusterDetails(all.slice(0, 20).map((each) => each.name));
  const running = operations.rows.filter((operation) => !isTerminal(operation.state));
  const accelerators = sum(fleet, (each) => each.accelerators, "total");
  return (
    <SpaceBetween size="l">
      <Header
        variant="h1"
        description={`Account ${environment.account ?? "unknown"} in ${environment.region ?? "no region"}`}
        actions={
          <Button variant="primary" onClick={() => navigate("/clusters/launch")}>
            Launch a cluster
          </Button>
        }
      >
        Overview
      </Header>
      <ProblemAlert error={clusters.error} />
      <Container header={<Header variant="h2">Fleet</Header>}>
        <ColumnLayout columns={4} variant="text-grid">
          <Figure
            label="Clusters"
            value={all.length}
            note={environment.active_cluster ? `active: ${environment.active_cluster}` : "none is active"}
          />
          <Figure
            label="Nodes ready"
            value={sum(fleet, (each) => each.nodes, "ready")}
            note={`of ${sum(fleet, (each) => each.nodes, "total").toLocaleString()}`}
          />
          <Figure
            label="Accelerators in use"
            value={sum(fleet, (each) => each.accelerators, "in_use")}
            note={`of ${accelerators.toLocaleString()}, ${sum(fleet, (each) => each.accelerators, "ready").toLocaleString()} ready`}
          />
          <Figure label="Operations running" value={running.length} />
        </ColumnLayout>
      </Container>
      {all.length === 0 && clusters.isSuccess && (
        <Container header={<Header variant="h2">Start here</Header>}>
          <SpaceBetween size="s">
            <Box>
              There is no cluster yet. Launching one makes the network, the EKS control plane, the HyperPod cluster with automatic
              node recovery, and shared storage. You see the whole plan before anything is made.
            </Box>
            <Button variant="primary" onClick={() => navigate("/clusters/launch")}>
              Launch your first cluster
            </Button>
          </SpaceBetween>
        </Container>
      )}
      <OperationTable title="h2" list={operations} />
    </SpaceBetween>
  );
}
