// What most groups leave alone: interfaces, disks, checks, labels, and parts of the user's own instead of those that are made.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useEffect, useState } from "react";

import { Choice } from "../../shared/choice";
import { LabelsEditor, TaintsEditor } from "../../shared/labels_editor";
import { useInstanceTypes } from "../../shared/queries";
import type { DeepCheck, GroupDraft } from "./group_draft";
import type { FieldsProps } from "./group_fields";

const kInterfaces = [
  { value: "", label: "As the type has it" },
  { value: "efa", label: "EFA with IP", description: "Each further card has EFA and an IP address of its own" },
  { value: "efa-only", label: "EFA only", description: "Further cards without IP: far fewer addresses of the subnet" },
] as const;

const kThreads = [
  { value: "", label: "As HyperPod sets it" },
  { value: "1", label: "1", description: "One thread a core" },
  { value: "2", label: "2", description: "All virtual CPUs" },
] as const;

const kChecks: { value: DeepCheck; label: string; description: string }[] = [
  {
    value: "InstanceStress",
    label: "Stress",
    description: "Loads accelerators, CPU and memory; about an hour before a node is used",
  },
  { value: "InstanceConnectivity", label: "Connectivity", description: "NCCL and EFA between instances" },
];

// What is refused in a closed section must be seen: which fields it holds.
const kFields = [
  "interface_type",
  "volume_size_gib",
  "kms_key_arn",
  "threads_per_core",
  "min_count",
  "deep_health_checks",
  "labels",
  "taints",
  "autoscaled",
  "subnet_id",
  "security_group_ids",
  "lifecycle_script",
  "image_id",
  "execution_role_arn",
];

function TextField({
  label,
  description,
  field,
  placeholder,
  type,
  props,
}: {
  label: string;
  description?: string;
  placeholder?: string;
  type?: "number";
  props: FieldsProps;
  field:
    | "volume_size_gib"
    | "kms_key_arn"
    | "min_count"
    | "subnet_id"
    | "security_group_ids"
    | "lifecycle_script"
    | "image_id"
    | "execution_role_arn";
}) {
  return (
    <FormField label={label} description={description} errorText={props.error(field)}>
      <Input
        value={props.draft[field]}
        placeholder={placeholder}
        autoComplete={false}
        {...(type ? { type, inputMode: "numeric" as const } : {})}
        onChange={(event) => props.set({ [field]: event.detail.value } as Partial<GroupDraft>)}
      />
    </FormField>
  );
}

function DeepChecks({ draft, set, error }: FieldsProps) {
  const toggle = (check: DeepCheck, on: boolean) =>
    set({
      deep_health_checks: kChecks
        .map((each) => each.value)
        .filter((each) => (each === check ? on : draft.deep_health_checks.includes(each))),
    });
  return (
    <FormField
      label="Deep health checks"
      description="Each new instance passes them before it is used"
      errorText={error("deep_health_checks")}
    >
      {kChecks.map((each) => (
        <Checkbox
          key={each.value}
          checked={draft.deep_health_checks.includes(each.value)}
          description={each.description}
          onChange={(event) => toggle(each.value, event.detail.checked)}
        >
          {each.label}
        </Checkbox>
      ))}
    </FormField>
  );
}

function Hardware(props: FieldsProps) {
  const { draft, set, error } = props;
  const types = useInstanceTypes();
  const type = types.data?.instance_types.find((each) => each.name === draft.instance_type);
  const cards = type?.efa_interfaces ?? 0;
  return (
    <ColumnLayout columns={2}>
      <FormField
        label="Network interfaces"
        description={type ? (cards > 0 ? `${type.name} has ${cards} EFA` : `${type.name} has no EFA`) : undefined}
        errorText={error("interface_type")}
      >
        <Choice
          options={kInterfaces}
          value={draft.interface_type}
          disabled={type !== undefined && cards === 0}
          onChange={(interface_type) => set({ interface_type })}
        />
      </FormField>
      <FormField label="Threads per core" errorText={error("threads_per_core")}>
        <Choice options={kThreads} value={draft.threads_per_core} onChange={(threads_per_core) => set({ threads_per_core })} />
      </FormField>
      <TextField label="Extra volume in GiB" field="volume_size_gib" type="number" placeholder="none" props={props} />
      <TextField label="KMS key of the extra volume" field="kms_key_arn" placeholder="arn:aws:kms:…" props={props} />
      <TextField
        label="Minimum"
        description="Start only with at least so many"
        field="min_count"
        type="number"
        placeholder="none"
        props={props}
      />
      <DeepChecks {...props} />
      {draft.capacity !== "training_plan" && (
        <FormField label="Managed autoscaling" errorText={error("autoscaled")}>
          <Checkbox
            checked={draft.autoscaled}
            description="The group starts empty; pods that wait make it grow"
            onChange={(event) => set({ autoscaled: event.detail.checked })}
          >
            Autoscaled
          </Checkbox>
        </FormField>
      )}
    </ColumnLayout>
  );
}

export function FurtherFields(props: FieldsProps) {
  const { draft, set, problem, prefix } = props;
  const refused = problem !== undefined && kFields.some((field) => props.error(field) !== undefined);
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (refused) setOpen(true);
  }, [refused, problem]);
  return (
    <ExpandableSection
      headerText="More settings"
      headerDescription="Interfaces, volumes, checks, labels and taints, own network and image"
      expanded={open}
      onChange={(event) => setOpen(event.detail.expanded)}
    >
      <SpaceBetween size="l">
        <Hardware {...props} />
        <LabelsEditor rows={draft.labels} onChange={(labels) => set({ labels })} problem={problem} pointer={`${prefix}/labels`} />
        <TaintsEditor rows={draft.taints} onChange={(taints) => set({ taints })} problem={problem} pointer={`${prefix}/taints`} />
        <ColumnLayout columns={2}>
          <TextField
            label="Own subnet"
            description="Instead of the /20 that is provided"
            field="subnet_id"
            placeholder="subnet-…"
            props={props}
          />
          <TextField
            label="Own security groups"
            description="With an own subnet; separated by commas"
            field="security_group_ids"
            placeholder="sg-…"
            props={props}
          />
          <TextField
            label="Own lifecycle script"
            field="lifecycle_script"
            placeholder="s3://sagemaker-…/on_create.sh"
            props={props}
          />
          <TextField label="Own image" field="image_id" placeholder="ami-…" props={props} />
          <TextField label="Own execution role" field="execution_role_arn" placeholder="arn:aws:iam::…:role/…" props={props} />
        </ColumnLayout>
      </SpaceBetween>
    </ExpandableSection>
  );
}
