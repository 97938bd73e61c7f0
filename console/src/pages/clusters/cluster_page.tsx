// One cluster: its summary above, and a tab for each of its parts.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import BreadcrumbGroup from "@cloudscape-design/components/breadcrumb-group";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import Header from "@cloudscape-design/components/header";
import KeyValuePairs from "@cloudscape-design/components/key-value-pairs";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import Tabs from "@cloudscape-design/components/tabs";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate, useParams, useSearchParams } from "react-router-dom";

import { client, take } from "../../shared/api";
import { ofTotal, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useCluster, useOperationList } from "../../shared/queries";
import type { Cluster, Environment } from "../../shared/types";
import { DependencyTable } from "../dependencies/dependency_table";
import { EventTable } from "../events/event_table";
import { FeaturesTab } from "../features/features_tab";
import { GroupTable } from "../instance_groups/group_table";
import { NodeGroupTable } from "../node_groups/node_group_table";
import { NodeTable } from "../nodes/node_table";
import { OperationTable } from "../operations/operation_table";
import { StorageTable } from "../storages/storage_table";
import { DeleteDialog } from "./delete_dialog";

function Summary({ cluster }: { cluster: Cluster }) {
  return (
    <Container header={<Header variant="h2">Summary</Header>}>
      <KeyValuePairs
        columns={4}
        items={[
          { label: "EKS control plane", value: <Status value={cluster.eks?.status} /> },
          { label: "Kubernetes version", value: cluster.eks?.version ?? "–" },
          { label: "HyperPod", value: <Status value={cluster.hyperpod?.status} /> },
          { label: "Node recovery", value: cluster.hyperpod?.node_recovery ?? "–" },
          { label: "Nodes ready", value: ofTotal(cluster.nodes) },
          { label: "Accelerators ready", value: ofTotal(cluster.accelerators) },
          { label: "Accelerators in use", value: (cluster.accelerators?.in_use ?? 0).toLocaleString() },
          { label: "VPC", value: cluster.eks?.vpc_id ?? "–" },
        ]}
      />
    </Container>
  );
}

function Operations({ name }: { name: string }) {
  return <OperationTable title="h2" list={useOperationList(`cluster/${name}`)} />;
}

export function ClusterPage({ environment }: { environment: Environment }) {
  const { name = "" } = useParams();
  const [search, setSearch] = useSearchParams();
  const cluster = useCluster(name);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [deleting, setDeleting] = useState(false);
  const activate = useMutation({
    mutationFn: () => take(client.POST("/clusters/{cluster}/activate", { params: { path: { cluster: name } }, body: {} })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ["environment"] }),
  });

  if (cluster.error) return <ProblemAlert error={cluster.error} />;
  if (!cluster.data)
    return (
      <Box textAlign="center">
        <Spinner /> Loading the cluster
      </Box>
    );
  const value = cluster.data.cluster;
  return (
    <SpaceBetween size="l">
      <BreadcrumbGroup
        ariaLabel="Breadcrumbs"
        items={[
          { text: "Clusters", href: "/clusters" },
          { text: name, href: "" },
        ]}
        onFollow={(event) => (event.preventDefault(), event.detail.href && navigate(event.detail.href))}
      />
      <Header
        variant="h1"
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button disabled={environment.active_cluster === name} loading={activate.isPending} onClick={() => activate.mutate()}>
              {environment.active_cluster === name ? "Active" : "Make active"}
            </Button>
            <Button onClick={() => navigate(`/clusters/${name}/add-group`)}>Add instance group</Button>
            <Button onClick={() => setDeleting(true)}>Delete</Button>
          </SpaceBetween>
        }
      >
        {name}
      </Header>
      <ProblemAlert error={activate.error} />
      {(value.conditions ?? []).map((condition) => (
        <Alert key={condition.type} type="warning" header={condition.type}>
          {condition.message ?? condition.reason} {condition.hint}
        </Alert>
      ))}
      <Summary cluster={value} />
      <Tabs
        ariaLabel="Parts of the cluster"
        activeTabId={search.get("tab") ?? "groups"}
        onChange={(event) => setSearch({ tab: event.detail.activeTabId }, { replace: true })}
        tabs={[
          { id: "groups", label: "Instance groups", content: <GroupTable name={name} /> },
          { id: "nodes", label: "Nodes", content: <NodeTable name={name} /> },
          { id: "features", label: "Features", content: <FeaturesTab name={name} /> },
          { id: "node-groups", label: "EKS node groups", content: <NodeGroupTable name={name} /> },
          { id: "dependencies", label: "Dependencies", content: <DependencyTable name={name} /> },
          { id: "storage", label: "Storage", content: <StorageTable name={name} /> },
          { id: "events", label: "Events", content: <EventTable name={name} /> },
          { id: "operations", label: "Operations", content: <Operations name={name} /> },
        ]}
      />
      {deleting && <DeleteDialog name={name} onDismiss={() => setDeleting(false)} />}
    </SpaceBetween>
  );
}
