// The instance groups of a cluster with live counts, and what can be done with each.
import Button from "@cloudscape-design/components/button";
import ButtonDropdown from "@cloudscape-design/components/button-dropdown";
import SpaceBetween from "@cloudscape-design/components/space-between";
import type { TableProps } from "@cloudscape-design/components/table";
import { useState } from "react";
import { useNavigate } from "react-router-dom";

import { DataTable } from "../../shared/data_table";
import { CountOf, Notices, Short, Status } from "../../shared/format";
import { ProblemAlert } from "../../shared/problem_alert";
import { useInstanceGroups } from "../../shared/queries";
import type { InstanceGroup } from "../../shared/types";
import { DeleteGroup, EditGroup, ScaleGroup } from "./group_dialogs";
import { UpdateSoftware } from "./update_software";

type Doing = { what: "scale" | "edit" | "delete" | "update"; group: InstanceGroup } | { what: "update"; group?: undefined };

const typesOf = (group: InstanceGroup) =>
  (group.instance_types?.length ? group.instance_types : [group.instance_type ?? "–"]).join(", then ");

const actionsOf = (group: InstanceGroup) => [
  {
    id: "scale",
    text: "Scale",
    disabled: Boolean(group.node_classes?.length),
    disabledReason: "Managed autoscaling sets its count",
  },
  { id: "edit", text: "Edit labels, taints and checks" },
  { id: "update", text: "Update software" },
  { id: "delete", text: "Delete" },
];

function Dialog({
  cluster,
  doing,
  groups,
  onDismiss,
}: {
  cluster: string;
  doing: Doing;
  groups: InstanceGroup[];
  onDismiss: () => void;
}) {
  if (doing.what === "update")
    return <UpdateSoftware cluster={cluster} groups={groups} chosen={doing.group?.name} onDismiss={onDismiss} />;
  const props = { cluster, group: doing.group, onDismiss };
  if (doing.what === "scale") return <ScaleGroup {...props} />;
  return doing.what === "edit" ? <EditGroup {...props} /> : <DeleteGroup {...props} />;
}

export function GroupTable({ name }: { name: string }) {
  const groups = useInstanceGroups(name);
  const navigate = useNavigate();
  const [doing, setDoing] = useState<Doing>();
  const items = groups.data?.instance_groups ?? [];
  const add = () => navigate(`/clusters/${name}/add-group`);
  const columns: TableProps.ColumnDefinition<InstanceGroup>[] = [
    { id: "name", header: "Name", minWidth: 130, cell: (group) => group.name, isRowHeader: true, sortingField: "name" },
    { id: "type", header: "Instance type", minWidth: 140, cell: typesOf },
    {
      id: "count",
      header: "Current of target",
      minWidth: 115,
      cell: (group) => <CountOf current={group.current_count} target={group.target_count} />,
    },
    { id: "status", header: "Status", minWidth: 120, cell: (group) => <Status value={group.status} />, sortingField: "status" },
    {
      id: "capacity",
      header: "Capacity",
      minWidth: 105,
      cell: (group) => <Short>{(group.capacity?.type ?? "on_demand").replaceAll("_", " ")}</Short>,
    },
    { id: "zone", header: "Zone", minWidth: 110, cell: (group) => <Short>{group.zone ?? "–"}</Short>, sortingField: "zone" },
    { id: "why", header: "Conditions", minWidth: 250, cell: (group) => <Notices conditions={group.conditions} /> },
    {
      id: "actions",
      header: "Actions",
      width: 90,
      cell: (group) => (
        <ButtonDropdown
          variant="inline-icon"
          expandToViewport
          ariaLabel={`Actions for ${group.name}`}
          items={actionsOf(group)}
          onItemClick={(event) => setDoing({ what: event.detail.id as "scale", group })}
        />
      ),
    },
  ];
  if (groups.error) return <ProblemAlert error={groups.error} />;
  return (
    <>
      <DataTable
        title="Instance groups"
        items={items}
        columns={columns}
        loading={groups.isPending}
        rowId={(group) => group.name}
        wrap
        empty="This cluster has no instance group."
        emptyAction={<Button onClick={add}>Add instance group</Button>}
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            {items.length > 0 && <Button onClick={() => setDoing({ what: "update" })}>Update software</Button>}
            <Button onClick={add}>Add instance group</Button>
          </SpaceBetween>
        }
      />
      {doing && <Dialog cluster={name} doing={doing} groups={items} onDismiss={() => setDoing(undefined)} />}
    </>
  );
}
