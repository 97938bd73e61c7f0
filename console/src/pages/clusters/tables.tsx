// The tables of a cluster's tabs.
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Header from "@cloudscape-design/components/header";
import Select from "@cloudscape-design/components/select";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import TextFilter from "@cloudscape-design/components/text-filter";
import { useCollection } from "@cloudscape-design/collection-hooks";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router-dom";

import { client, newKey, take, withKey } from "../../shared/api";
import { localTime, plain, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useDependencies, useEvents, useNodes, useStorages } from "../../shared/queries";
import type { Cluster, Dependency, EventRecord, InstanceGroup, Node, Operation, Storage } from "../../shared/types";

function SimpleTable<T>({ title, items, columns, loading, empty, actions }: {
  title: string; items: readonly T[]; columns: TableProps.ColumnDefinition<T>[]; loading: boolean; empty: string; actions?: React.ReactNode;
}) {
  const { items: shown, collectionProps, filterProps } = useCollection(items, {
    filtering: { empty: <Box textAlign="center">{empty}</Box>, noMatch: <Box textAlign="center">Nothing matches.</Box> },
    sorting: {},
  });
  return (
    <Table
      {...collectionProps}
      items={shown}
      columnDefinitions={columns}
      loading={loading}
      loadingText="Loading"
      ariaLabels={{ tableLabel: title }}
      header={<Header variant="h2" counter={`(${items.length})`} actions={actions}>{title}</Header>}
      filter={items.length > 5 ? <TextFilter {...filterProps} filteringPlaceholder={`Find in ${title.toLowerCase()}`} filteringAriaLabel={`Find in ${title.toLowerCase()}`} /> : undefined}
    />
  );
}

export function GroupTable({ cluster }: { cluster: Cluster }) {
  const navigate = useNavigate();
  const columns: TableProps.ColumnDefinition<InstanceGroup>[] = [
    { id: "name", header: "Name", cell: (group) => group.name, isRowHeader: true, sortingField: "name" },
    { id: "type", header: "Instance type", cell: (group) => group.instance_type ?? (group.instance_types ?? []).join(", ") },
    { id: "count", header: "Current of target", cell: (group) => `${group.current_count ?? 0} of ${group.target_count ?? 0}` },
    { id: "status", header: "Status", cell: (group) => <Status value={group.status} /> },
    { id: "capacity", header: "Capacity", cell: (group) => (group.capacity?.type ?? "on_demand").replaceAll("_", " ") },
    { id: "zone", header: "Zone", cell: (group) => group.zone ?? "–" },
    { id: "why", header: "Waits for", cell: (group) => (group.conditions ?? []).map((each) => each.message ?? each.type).join("; ") || "–" },
  ];
  return (
    <SimpleTable
      title="Instance groups" items={cluster.instance_groups ?? []} columns={columns} loading={false} empty="This cluster has no instance group."
      actions={<Button onClick={() => navigate(`/clusters/${cluster.name}/add-group`)}>Add instance group</Button>}
    />
  );
}

const acceleratorsOf = (node: Node) => (node.accelerators ? `${node.accelerators.in_use ?? 0} of ${node.accelerators.allocatable ?? 0}` : "–");

export function NodeTable({ name }: { name: string }) {
  const [cursors, setCursors] = useState<string[]>([""]);
  const cursor = cursors[cursors.length - 1] ?? "";
  const nodes = useNodes(name, cursor);
  const next = nodes.data?.next_cursor;
  const columns: TableProps.ColumnDefinition<Node>[] = [
    { id: "name", header: "Node", cell: (node) => node.name, isRowHeader: true, sortingField: "name" },
    { id: "group", header: "Group", cell: (node) => node.group ?? "–" },
    { id: "type", header: "Type", cell: (node) => node.instance_type ?? "–" },
    { id: "status", header: "Status", cell: (node) => <Status value={node.status} kinds={{ running: "success", failure: "error" }} /> },
    { id: "health", header: "Health", cell: (node) => <Status value={node.health} /> },
    { id: "ready", header: "Kubernetes", cell: (node) => (node.ready ? <Status value="Ready" /> : <Status value="pending" />) },
    { id: "accelerators", header: "In use", cell: acceleratorsOf },
    { id: "zone", header: "Zone", cell: (node) => node.zone ?? "–" },
  ];
  if (nodes.error) return <ProblemAlert error={nodes.error} />;
  return (
    <SimpleTable
      title="Nodes" items={nodes.data?.nodes ?? []} columns={columns} loading={nodes.isPending} empty="No node has joined yet."
      actions={
        <SpaceBetween direction="horizontal" size="xs">
          <Button disabled={cursors.length < 2} onClick={() => setCursors(cursors.slice(0, -1))}>Previous</Button>
          <Button disabled={!next} onClick={() => next && setCursors([...cursors, next])}>Next</Button>
        </SpaceBetween>
      }
    />
  );
}

// Starts something by `send` and shows its progress.
function useStart(send: (key: string) => Promise<{ operation: Operation }>) {
  const navigate = useNavigate();
  return useMutation({ mutationFn: () => send(newKey()), onSuccess: (answer) => navigate(`/operations/${answer.operation.id}`) });
}

export function DependencyTable({ name }: { name: string }) {
  const dependencies = useDependencies(name);
  const start = useStart((key) => take(client.POST("/clusters/{cluster}/dependencies/reconcile", { params: { path: { cluster: name }, ...withKey(key) }, body: {} })));
  const columns: TableProps.ColumnDefinition<Dependency>[] = [
    { id: "name", header: "Component", cell: (each) => each.title ?? each.name, isRowHeader: true, sortingField: "name" },
    { id: "kind", header: "Kind", cell: (each) => (each.kind === "eks_addon" ? "EKS add-on" : "our manifest") },
    { id: "state", header: "State", cell: (each) => <Status value={each.state ?? (each.healthy ? "ready" : "failed")} /> },
    { id: "version", header: "Version", cell: (each) => each.version ?? "–" },
    { id: "detail", header: "Detail", cell: (each) => each.detail ?? "" },
  ];
  if (dependencies.error) return <ProblemAlert error={dependencies.error} />;
  return (
    <SpaceBetween size="s">
      <ProblemAlert error={start.error} />
      <SimpleTable
        title="Dependencies" items={dependencies.data?.dependencies ?? []} columns={columns} loading={dependencies.isPending} empty="No component is known."
        actions={<Button loading={start.isPending} onClick={() => start.mutate()}>Reconcile</Button>}
      />
    </SpaceBetween>
  );
}

export function StorageTable({ name }: { name: string }) {
  const storages = useStorages(name);
  const start = useStart((key) => take(client.POST("/clusters/{cluster}/storages", { params: { path: { cluster: name }, ...withKey(key) }, body: { kind: "s3" } })));
  const columns: TableProps.ColumnDefinition<Storage>[] = [
    { id: "name", header: "Name", cell: (each) => each.name, isRowHeader: true },
    { id: "kind", header: "Kind", cell: (each) => each.kind ?? "–" },
    { id: "bucket", header: "Bucket", cell: (each) => each.bucket ?? "–" },
    { id: "namespace", header: "Namespace", cell: (each) => each.namespace ?? "–" },
    { id: "status", header: "Claim", cell: (each) => <Status value={each.status} /> },
  ];
  if (storages.error) return <ProblemAlert error={storages.error} />;
  return (
    <SpaceBetween size="s">
      <ProblemAlert error={start.error} />
      <SimpleTable
        title="Storage" items={storages.data?.storages ?? []} columns={columns} loading={storages.isPending} empty="No storage is mounted."
        actions={<Button loading={start.isPending} onClick={() => start.mutate()}>Mount an S3 bucket</Button>}
      />
    </SpaceBetween>
  );
}

const kSources = [
  { label: "All sources", value: "" },
  { label: "HyperPod", value: "hyperpod" },
  { label: "Kubernetes", value: "kubernetes" },
];

export function EventTable({ name }: { name: string }) {
  const events = useEvents(name);
  const [source, setSource] = useState(kSources[0]!);
  const items = (events.data?.events ?? []).filter((each) => !source.value || each.source?.toLowerCase() === source.value);
  const columns: TableProps.ColumnDefinition<EventRecord>[] = [
    { id: "time", header: "Time", cell: (each) => localTime(each.time) },
    { id: "level", header: "Level", cell: (each) => <Status value={each.level} /> },
    { id: "source", header: "Source", cell: (each) => each.source ?? "–" },
    { id: "object", header: "Object", cell: (each) => each.object ?? "–" },
    { id: "reason", header: "Reason", cell: (each) => each.reason ?? "–" },
    { id: "message", header: "Message", cell: (each) => plain(each.message) },
  ];
  if (events.error) return <ProblemAlert error={events.error} />;
  return (
    <SimpleTable
      title="Events" items={items} columns={columns} loading={events.isPending} empty="Nothing has happened yet."
      actions={<Select ariaLabel="Source of events" selectedOption={source} options={kSources} onChange={(event) => setSource(kSources.find((each) => each.value === event.detail.selectedOption.value) ?? kSources[0]!)} />}
    />
  );
}
