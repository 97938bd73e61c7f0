// The fields of one instance group, for launching a cluster and for adding a group: what, where, how many. Choices come from the
// queries: the zones are those that offer the chosen type. Capacity and the rest are in capacity_fields and further_fields.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";

import type { Problem } from "../../shared/api";
import { Choice } from "../../shared/choice";
import { useInstanceTypes, useZones } from "../../shared/queries";
import type { InstanceType } from "../../shared/types";
import { CapacityFields } from "./capacity_fields";
import { FurtherFields } from "./further_fields";
import type { GroupDraft } from "./group_draft";

// What each part of the form gets; `error` gives the refusal of a field.
export interface FieldsProps {
  draft: GroupDraft;
  set: (change: Partial<GroupDraft>) => void;
  error: (field: string) => string | undefined;
  problem?: Problem;
  prefix: string;
}

export function describeType(type: InstanceType): string {
  const { count, name } = type.accelerators ?? {};
  const accelerators = count ? `${count} × ${name ?? "accelerator"}` : "no accelerator";
  return `${accelerators}, ${type.vcpus ?? "?"} vCPU, ${type.memory_gib ?? "?"} GiB${type.efa_interfaces ? `, ${type.efa_interfaces} EFA` : ""}`;
}

function Basics({ draft, set, error }: FieldsProps) {
  const types = useInstanceTypes();
  const zones = useZones(draft.instance_type);
  const typeOptions = (types.data?.instance_types ?? []).map((type) => ({
    value: type.name,
    label: type.name,
    description: describeType(type),
  }));
  const zoneOptions = (zones.data?.zones ?? []).map((zone) => ({
    value: zone.name,
    label: zone.name,
    description: zone.zone_id,
  }));
  const moreOptions = typeOptions.filter((each) => each.value !== draft.instance_type);
  const fixed = draft.capacity === "training_plan" && draft.training_plan_arn !== "";
  return (
    <ColumnLayout columns={2}>
      <FormField label="Group name" errorText={error("name")}>
        <Input value={draft.name} onChange={(event) => set({ name: event.detail.value })} autoComplete={false} />
      </FormField>
      <FormField label="Instance type" errorText={error("instance_type") ?? error("instance_types/0")}>
        <Choice
          filteringType="auto"
          placeholder="Choose a type"
          options={typeOptions}
          value={draft.instance_type}
          disabled={fixed}
          statusType={types.isPending ? "loading" : "finished"}
          onChange={(type) => set({ instance_type: type, zone: "", more_types: [] })}
        />
      </FormField>
      <FormField label="Zone" description="Zones that offer the type" errorText={error("zone")}>
        <Choice
          placeholder={draft.instance_type ? "Choose a zone" : "Choose a type first"}
          disabled={!draft.instance_type || fixed}
          options={zoneOptions}
          value={draft.zone}
          statusType={zones.isPending ? "loading" : "finished"}
          empty="No zone of this region offers the type"
          onChange={(zone) => set({ zone })}
        />
      </FormField>
      <FormField
        label="Instances"
        description={draft.autoscaled ? "Managed autoscaling sets the count" : "0 makes an empty group to scale later"}
        errorText={error("count")}
      >
        <Input
          type="number"
          inputMode="numeric"
          value={draft.autoscaled ? "0" : draft.count}
          disabled={draft.autoscaled}
          onChange={(event) => set({ count: event.detail.value })}
        />
      </FormField>
      {draft.capacity !== "training_plan" && (
        <FormField
          label="Further types"
          description="Tried in this order where the first cannot be had"
          errorText={error("instance_types")}
          constraintText={draft.more_types.join(", then ") || undefined}
        >
          <Multiselect
            filteringType="auto"
            placeholder="None"
            disabled={!draft.instance_type}
            options={moreOptions}
            hideTokens={draft.more_types.length > 4}
            selectedOptions={draft.more_types.map((type) => ({ value: type, label: type }))}
            onChange={(event) => set({ more_types: event.detail.selectedOptions.map((each) => each.value ?? "") })}
          />
        </FormField>
      )}
    </ColumnLayout>
  );
}

export function GroupFields({
  draft,
  onChange,
  problem,
  prefix,
}: {
  draft: GroupDraft;
  onChange: (draft: GroupDraft) => void;
  problem?: Problem;
  prefix: string;
}) {
  const props: FieldsProps = {
    draft,
    problem,
    prefix,
    set: (change) => onChange({ ...draft, ...change }),
    error: (field) => problem?.field(`${prefix}/${field}`),
  };
  return (
    <SpaceBetween size="l">
      <CapacityFields {...props} />
      <Basics {...props} />
      <FurtherFields {...props} />
    </SpaceBetween>
  );
}
