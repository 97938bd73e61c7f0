// The nodes of a cluster. The server searches and pages: a fleet of any size costs one page.
import Button from "@cloudscape-design/components/button";
import Box from "@cloudscape-design/components/box";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table, { type TableProps } from "@cloudscape-design/components/table";
import { useState } from "react";
import { useSearchParams } from "react-router-dom";

import { Choice } from "../../shared/choice";
import { SearchBox } from "../../shared/data_table";
import { Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { kNodePage, useInstanceGroups, useNodes } from "../../shared/queries";
import type { Node } from "../../shared/types";
import { NodeActions } from "./node_actions";

export const kNodeStates = { running: "success", failure: "error" } as const;

const kHealths = [
  { value: "", label: "Any health" },
  { value: "healthy", label: "Healthy" },
  { value: "unhealthy", label: "Unhealthy" },
] as const;

const acceleratorsOf = (node: Node) =>
  node.accelerators?.allocatable ? `${node.accelerators.in_use ?? 0} of ${node.accelerators.allocatable}` : "–";

// EKS's own nodes are its node groups' business.
const isHyperpod = (node: Node) => node.instance_id !== undefined;

// What HyperPod's agents found.
const faultOf = (node: Node) =>
  (node.faults ?? []).map((fault) => [fault.kind, fault.code].filter(Boolean).join(": ")).join(", ");

const columnsOf = (cluster: string): TableProps.ColumnDefinition<Node>[] => [
  {
    id: "name",
    header: "Node",
    minWidth: 200,
    isRowHeader: true,
    cell: (node) => <Link to={`/clusters/${cluster}/nodes/${encodeURIComponent(node.name)}`}>{node.name}</Link>,
  },
  {
    id: "health",
    header: "Health",
    cell: (node) => (
      <>
        <Status value={node.health} />
        {faultOf(node) && (
          <Box variant="small" color="text-body-secondary" display="block">
            {faultOf(node)}
          </Box>
        )}
      </>
    ),
  },
  {
    id: "ready",
    header: "Kubernetes",
    cell: (node) => <Status value={node.ready ? "Ready" : "Not ready"} kinds={{ "not ready": "warning" }} />,
  },
  { id: "status", header: "Status", cell: (node) => <Status value={node.status} kinds={kNodeStates} /> },
  { id: "group", header: "Group", maxWidth: 200, cell: (node) => <span title={node.group}>{node.group ?? "–"}</span> },
  { id: "type", header: "Type", cell: (node) => node.instance_type ?? "–" },
  { id: "accelerators", header: "Accelerators in use", cell: acceleratorsOf },
  { id: "zone", header: "Zone", cell: (node) => node.zone ?? "–" },
  {
    id: "actions",
    header: "Actions",
    width: 90,
    cell: (node) =>
      isHyperpod(node) ? <NodeActions cluster={cluster} nodes={[node.name]} label={`Actions for ${node.name}`} /> : "–",
  },
];

// Where the page stands in the whole: 51–100 of 10,000.
function Position({ page, shown, total }: { page: number; shown: number; total: number }) {
  if (shown === 0) return null;
  const first = (page - 1) * kNodePage + 1;
  return (
    <Box
      color="text-body-secondary"
      padding={{ top: "xxs" }}
    >{`${first.toLocaleString()}–${(first + shown - 1).toLocaleString()} of ${total.toLocaleString()}`}</Box>
  );
}

export function NodeTable({ name }: { name: string }) {
  const [address] = useSearchParams();
  const [cursors, setCursors] = useState<string[]>([""]);
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  const [health, setHealth] = useState<(typeof kHealths)[number]["value"]>("");
  const [group, setGroup] = useState(address.get("group") ?? "");
  const groups = useInstanceGroups(name);
  const cursor = cursors[cursors.length - 1] ?? "";
  const nodes = useNodes(name, {
    ...(search ? { search } : {}),
    ...(health ? { health } : {}),
    ...(group ? { group } : {}),
    ...(cursor ? { cursor } : {}),
  });
  const filtered = search !== "" || health !== "" || group !== "";
  const [selected, setSelected] = useState<Node[]>([]);
  const turnTo = (next: string[]) => {
    setCursors(next);
    setSelected([]);
  };
  const restart = () => turnTo([""]);
  const groupOptions = [
    { value: "", label: "Any group" },
    ...(groups.data?.instance_groups ?? []).map((each) => ({ value: each.name, label: each.name })),
  ];
  const rows = nodes.data?.nodes ?? [];
  const total = nodes.data?.total ?? rows.length;
  const next = nodes.data?.next_cursor;
  if (nodes.error) return <ProblemAlert error={nodes.error} />;
  return (
    <Table
      items={rows}
      trackBy="name"
      stickyColumns={{ last: 1 }}
      columnDefinitions={columnsOf(name)}
      loading={nodes.isPending}
      loadingText="Loading nodes"
      ariaLabels={{
        tableLabel: "Nodes",
        selectionGroupLabel: "Choice of nodes",
        allItemsSelectionLabel: () => "Choose all nodes of this page",
        itemSelectionLabel: (_, node) => `Choose ${node.name}`,
      }}
      selectionType="multi"
      selectedItems={selected}
      isItemDisabled={(node) => !isHyperpod(node)}
      onSelectionChange={(event) => setSelected(event.detail.selectedItems)}
      header={
        <Header
          variant="h2"
          counter={
            nodes.isPending
              ? undefined
              : selected.length
                ? `(${selected.length} of ${total.toLocaleString()})`
                : `(${total.toLocaleString()})`
          }
          actions={
            <NodeActions
              variant="normal"
              cluster={name}
              nodes={selected.map((node) => node.name)}
              label="Actions for the chosen nodes"
              onStarted={() => setSelected([])}
            />
          }
        >
          Nodes
        </Header>
      }
      empty={
        <Box textAlign="center" padding="m" color="text-body-secondary">
          {filtered ? "No node matches." : "No node has joined yet."}
        </Box>
      }
      filter={
        <SpaceBetween direction="horizontal" size="xs" alignItems="center">
          <SearchBox
            name="nodes"
            placeholder="Find nodes by name or instance id"
            filteringText={typed}
            onChange={(event) => setTyped(event.detail.filteringText)}
            onDelayedChange={(event) => {
              setSearch(event.detail.filteringText.trim());
              restart();
            }}
          />
          <Choice
            label="Health of nodes"
            value={health}
            options={kHealths}
            onChange={(value) => {
              setHealth(value);
              restart();
            }}
          />
          <Choice
            label="Group of nodes"
            value={group}
            options={groupOptions}
            onChange={(value) => {
              setGroup(value);
              restart();
            }}
          />
        </SpaceBetween>
      }
      pagination={
        <SpaceBetween direction="horizontal" size="xs">
          <Position page={cursors.length} shown={rows.length} total={total} />
          <Button
            iconName="angle-left"
            variant="icon"
            ariaLabel="Previous page of nodes"
            disabled={cursors.length < 2}
            onClick={() => turnTo(cursors.slice(0, -1))}
          />
          <Button
            iconName="angle-right"
            variant="icon"
            ariaLabel="Next page of nodes"
            disabled={!next}
            onClick={() => next && turnTo([...cursors, next])}
          />
        </SpaceBetween>
      }
    />
  );
}
