// Scaling, editing and deleting one instance group. Only what was changed is sent.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Checkbox from "@cloudscape-design/components/checkbox";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { toLabels, toPairs, toTaints } from "../../shared/labels";
import { LabelsEditor, TaintsEditor } from "../../shared/labels_editor";
import { PlannedDialog } from "../../shared/planned_dialog";
import type { Send } from "../../shared/planned";
import type { InstanceGroup } from "../../shared/types";
import { PlanSelect } from "./plan_select";

interface Props {
  cluster: string;
  group: InstanceGroup;
  onDismiss: () => void;
}

const kPath = "/clusters/{cluster}/instance-groups/{group}";
const update =
  ({ cluster, group }: Props, change: Record<string, unknown>): Send =>
  (options, key) =>
    client.PATCH(kPath, { params: { path: { cluster, group: group.name }, ...withKey(key) }, body: { ...change, ...options } });

const differs = (a: unknown, b: unknown) => JSON.stringify(a) !== JSON.stringify(b);

export function ScaleGroup(props: Props) {
  const { group, onDismiss } = props;
  const [count, setCount] = useState(String(group.target_count ?? 0));
  const [minimum, setMinimum] = useState(group.min_count === undefined ? "" : String(group.min_count));
  const change = {
    ...(count !== String(group.target_count ?? 0) ? { count: Number(count) } : {}),
    ...(minimum !== "" && minimum !== String(group.min_count ?? "") ? { min_count: Number(minimum) } : {}),
  };
  return (
    <PlannedDialog
      title={`Scale ${group.name}`}
      action="Scale"
      onDismiss={onDismiss}
      complete={count !== "" && Object.keys(change).length > 0}
      intro={`${group.current_count ?? 0} of ${group.target_count ?? 0} instances are there.`}
      asked={JSON.stringify(["scale", props.cluster, group.name, change])}
      send={update(props, change)}
    >
      {(problem) => (
        <ColumnLayout columns={2}>
          <FormField label="Instances" errorText={problem?.field("/count")}>
            <Input type="number" inputMode="numeric" value={count} onChange={(event) => setCount(event.detail.value)} />
          </FormField>
          <FormField label="Minimum" description="Start only with at least so many" errorText={problem?.field("/min_count")}>
            <Input
              type="number"
              inputMode="numeric"
              placeholder="none"
              value={minimum}
              onChange={(event) => setMinimum(event.detail.value)}
            />
          </FormField>
        </ColumnLayout>
      )}
    </PlannedDialog>
  );
}

const kChecks = [
  { value: "InstanceStress", label: "Stress" },
  { value: "InstanceConnectivity", label: "Connectivity" },
];

export function EditGroup(props: Props) {
  const { group, onDismiss } = props;
  const [labels, setLabels] = useState(toPairs(group.labels));
  const [taints, setTaints] = useState(group.taints ?? []);
  const [checks, setChecks] = useState(group.deep_health_checks ?? []);
  const [script, setScript] = useState("");
  const planned = group.capacity?.training_plan_arn ?? "";
  const [plan, setPlan] = useState(planned);
  const [autoscaled, setAutoscaled] = useState(group.autoscaled === true);
  const change = {
    ...(differs(toLabels(labels), group.labels ?? {}) ? { labels: toLabels(labels) } : {}),
    ...(differs(toTaints(taints), toTaints(group.taints ?? [])) ? { taints: toTaints(taints) } : {}),
    ...(differs([...checks].sort(), [...(group.deep_health_checks ?? [])].sort()) ? { deep_health_checks: checks } : {}),
    ...(script ? { lifecycle_script: script } : {}),
    ...(plan !== planned ? { training_plan_arn: plan } : {}),
    ...(autoscaled !== (group.autoscaled === true) ? { autoscaled } : {}),
  };
  return (
    <PlannedDialog
      title={`Edit ${group.name}`}
      action="Save"
      onDismiss={onDismiss}
      complete={Object.keys(change).length > 0}
      size="large"
      intro="Type, zone, capacity, interfaces and volumes are fixed for the group's life: for others add a new group, move the work there and delete this one."
      asked={JSON.stringify(["edit", props.cluster, group.name, change])}
      send={update(props, change)}
    >
      {(problem) => (
        <SpaceBetween size="l">
          <LabelsEditor rows={labels} onChange={setLabels} problem={problem} pointer="/labels" />
          <TaintsEditor rows={taints} onChange={setTaints} problem={problem} pointer="/taints" />
          <ColumnLayout columns={2}>
            <FormField
              label="Deep health checks"
              description="Of instances that start from now on"
              errorText={problem?.field("/deep_health_checks")}
            >
              <Multiselect
                placeholder="None"
                options={kChecks}
                selectedOptions={kChecks.filter((each) => checks.includes(each.value))}
                onChange={(event) => setChecks(event.detail.selectedOptions.map((each) => each.value ?? ""))}
              />
            </FormField>
            <FormField
              label="Lifecycle script"
              description="Of instances that start from now on"
              errorText={problem?.field("/lifecycle_script")}
            >
              <Input
                value={script}
                placeholder={group.lifecycle_script ?? "unchanged"}
                onChange={(event) => setScript(event.detail.value)}
                autoComplete={false}
              />
            </FormField>
            {group.capacity?.type !== "spot" && (
              <FormField label="Training plan" errorText={problem?.field("/training_plan_arn")}>
                <PlanSelect value={plan} onChange={setPlan} type={group.instance_type} optional />
              </FormField>
            )}
            <FormField
              label="Managed autoscaling"
              description={
                group.node_classes?.length
                  ? `HyperpodNodeClass ${group.node_classes.join(", ")} names the group: change that by the feature`
                  : "May take the group, from zero nodes on"
              }
              errorText={problem?.field("/autoscaled")}
            >
              <Checkbox
                checked={autoscaled}
                disabled={Boolean(group.node_classes?.length)}
                onChange={(event) => setAutoscaled(event.detail.checked)}
              >
                Managed autoscaling sets the count
              </Checkbox>
            </FormField>
          </ColumnLayout>
        </SpaceBetween>
      )}
    </PlannedDialog>
  );
}

export function DeleteGroup({ cluster, group, onDismiss }: Props) {
  return (
    <PlannedDialog
      title={`Delete ${group.name}`}
      action="Delete"
      onDismiss={onDismiss}
      intro="Its instances end, and what runs on them stops. This cannot be taken back."
      asked={JSON.stringify(["delete", cluster, group.name])}
      send={(options, key) =>
        client.DELETE(kPath, { params: { path: { cluster, group: group.name }, ...withKey(key) }, body: options })
      }
    />
  );
}
