// EKS managed node groups: the nodes for what is not HyperPod's, such as system pods.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import type { TableProps } from "@cloudscape-design/components/table";
import { useState } from "react";
import { useNavigate } from "react-router-dom";

import { client, withKey } from "../../shared/api";
import { DataTable } from "../../shared/data_table";
import { CountOf, Notices, Short, Status } from "../../shared/format";
import { PlannedDialog } from "../../shared/planned_dialog";
import { ProblemAlert } from "../../shared/problem_alert";
import { useNodeGroups } from "../../shared/queries";
import type { NodeGroup } from "../../shared/types";

const kPath = "/clusters/{cluster}/node-groups/{group}";
const targetOf = (group: NodeGroup) => group.target_count ?? group.count ?? 0;
const capacityOf = (group: NodeGroup) =>
  ((typeof group.capacity === "string" ? group.capacity : group.capacity?.type) ?? "on_demand").replaceAll("_", " ");

interface Props {
  cluster: string;
  group: NodeGroup;
  onDismiss: () => void;
}

type Field = "count" | "min_count" | "max_count";
const kFields: { field: Field; label: string }[] = [
  { field: "count", label: "Nodes" },
  { field: "min_count", label: "Minimum" },
  { field: "max_count", label: "Maximum" },
];

function Scale({ cluster, group, onDismiss }: Props) {
  const now: Record<Field, string> = {
    count: String(targetOf(group)),
    min_count: String(group.min_count ?? ""),
    max_count: String(group.max_count ?? ""),
  };
  const [wanted, setWanted] = useState(now);
  const change = Object.fromEntries(
    kFields
      .filter(({ field }) => wanted[field] !== "" && wanted[field] !== now[field])
      .map(({ field }) => [field, Number(wanted[field])]),
  );
  return (
    <PlannedDialog
      title={`Scale ${group.name}`}
      action="Scale"
      onDismiss={onDismiss}
      complete={Object.keys(change).length > 0}
      asked={JSON.stringify(["node-group", cluster, group.name, change])}
      send={(options, key) =>
        client.PATCH(kPath, {
          params: { path: { cluster, group: group.name }, ...withKey(key) },
          body: { ...change, ...options },
        })
      }
    >
      {(problem) => (
        <ColumnLayout columns={3}>
          {kFields.map(({ field, label }) => (
            <FormField key={field} label={label} errorText={problem?.field(`/${field}`)}>
              <Input
                type="number"
                inputMode="numeric"
                value={wanted[field]}
                onChange={(event) => setWanted({ ...wanted, [field]: event.detail.value })}
              />
            </FormField>
          ))}
        </ColumnLayout>
      )}
    </PlannedDialog>
  );
}

function Delete({ cluster, group, onDismiss }: Props) {
  return (
    <PlannedDialog
      title={`Delete ${group.name}`}
      action="Delete"
      onDismiss={onDismiss}
      intro="Its nodes are drained and end."
      asked={JSON.stringify(["node-group", cluster, group.name, "delete"])}
      send={(options, key) =>
        client.DELETE(kPath, { params: { path: { cluster, group: group.name }, ...withKey(key) }, body: options })
      }
    />
  );
}

export function NodeGroupTable({ name }: { name: string }) {
  const groups = useNodeGroups(name);
  const navigate = useNavigate();
  const [doing, setDoing] = useState<{ what: string; group: NodeGroup }>();
  const add = () => navigate(`/clusters/${name}/add-node-group`);
  const columns: TableProps.ColumnDefinition<NodeGroup>[] = [
    { id: "name", header: "Name", cell: (group) => group.name, isRowHeader: true, sortingField: "name" },
    { id: "types", header: "Instance types", cell: (group) => (group.instance_types ?? []).join(", ") || "–" },
    {
      id: "count",
      header: "Current of target",
      cell: (group) =>
        group.current_count === undefined ? targetOf(group) : <CountOf current={group.current_count} target={targetOf(group)} />,
    },
    { id: "range", header: "Range", cell: (group) => `${group.min_count ?? 0} to ${group.max_count ?? "–"}` },
    { id: "status", header: "Status", minWidth: 130, cell: (group) => <Status value={group.status} />, sortingField: "status" },
    { id: "capacity", header: "Capacity", cell: (group) => <Short>{capacityOf(group)}</Short> },
    { id: "zone", header: "Zone", cell: (group) => <Short>{(group.zone ?? (group.zones ?? []).join(", ")) || "–"}</Short> },
    { id: "why", header: "Conditions", cell: (group) => <Notices conditions={group.conditions} /> },
    {
      id: "actions",
      header: "Actions",
      width: 90,
      cell: (group) => (
        <ButtonDropdown
          variant="inline-icon"
          expandToViewport
          ariaLabel={`Actions for ${group.name}`}
          items={[
            { id: "scale", text: "Scale" },
            { id: "delete", text: "Delete" },
          ]}
          onItemClick={(event) => setDoing({ what: event.detail.id, group })}
        />
      ),
    },
  ];
  if (groups.error) return <ProblemAlert error={groups.error} />;
  const Dialog = doing?.what === "scale" ? Scale : Delete;
  return (
    <>
      <DataTable
        title="EKS node groups"
        items={groups.data?.node_groups ?? []}
        columns={columns}
        loading={groups.isPending}
        rowId={(group) => group.name}
        wrap
        description="EC2 nodes that EKS manages, for system pods; HyperPod's recovery does not watch them"
        empty="This cluster has no EKS node group. HyperPod's groups do not need one."
        emptyAction={<Button onClick={add}>Add node group</Button>}
        actions={<Button onClick={add}>Add node group</Button>}
      />
      {doing && <Dialog cluster={name} group={doing.group} onDismiss={() => setDoing(undefined)} />}
    </>
  );
}
