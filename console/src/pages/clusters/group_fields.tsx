// The fields of one instance group, for launching a cluster and for adding a group. Choices come from the queries: the zones
// are those that offer the chosen type.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Select from "@cloudscape-design/components/select";

import type { Problem } from "../../shared/api";
import { useInstanceTypes, useZones } from "../../shared/queries";
import type { InstanceType } from "../../shared/types";

export interface GroupDraft {
  name: string;
  instance_type: string;
  zone: string;
  count: string;
}

export const emptyGroup: GroupDraft = { name: "workers", instance_type: "", zone: "", count: "1" };

export const groupRequest = (draft: GroupDraft) => ({
  name: draft.name,
  instance_type: draft.instance_type,
  zone: draft.zone,
  count: Number(draft.count),
});

function describe(type: InstanceType): string {
  const accelerators = type.accelerators ? `${type.accelerators} × ${type.accelerator_name ?? "accelerator"}` : "no accelerator";
  return `${accelerators}, ${type.vcpus ?? "?"} vCPU, ${type.memory_gib ?? "?"} GiB${type.efa_interfaces ? `, ${type.efa_interfaces} EFA` : ""}`;
}

export function GroupFields({ draft, onChange, problem, prefix }: {
  draft: GroupDraft; onChange: (draft: GroupDraft) => void; problem?: Problem; prefix: string;
}) {
  const types = useInstanceTypes();
  const zones = useZones(draft.instance_type);
  const set = (change: Partial<GroupDraft>) => onChange({ ...draft, ...change });
  const typeOptions = (types.data?.instance_types ?? []).map((type) => ({ value: type.name, label: type.name, description: describe(type) }));
  const zoneOptions = (zones.data?.zones ?? []).map((zone) => ({ value: zone.name, label: zone.name, description: zone.zone_id }));
  const error = (field: string) => problem?.field(`${prefix}/${field}`);
  return (
    <ColumnLayout columns={2}>
      <FormField label="Group name" errorText={error("name")}>
        <Input value={draft.name} onChange={(event) => set({ name: event.detail.value })} />
      </FormField>
      <FormField label="Instance type" errorText={error("instance_type")}>
        <Select
          filteringType="auto"
          placeholder="Choose a type"
          selectedOption={typeOptions.find((each) => each.value === draft.instance_type) ?? null}
          options={typeOptions}
          statusType={types.isPending ? "loading" : "finished"}
          onChange={(event) => set({ instance_type: event.detail.selectedOption.value ?? "", zone: "" })}
        />
      </FormField>
      <FormField label="Zone" description="Zones that offer the type" errorText={error("zone")}>
        <Select
          placeholder={draft.instance_type ? "Choose a zone" : "Choose a type first"}
          disabled={!draft.instance_type}
          selectedOption={zoneOptions.find((each) => each.value === draft.zone) ?? null}
          options={zoneOptions}
          statusType={zones.isPending ? "loading" : "finished"}
          empty="No zone of this region offers the type"
          onChange={(event) => set({ zone: event.detail.selectedOption.value ?? "" })}
        />
      </FormField>
      <FormField label="Instances" errorText={error("count")}>
        <Input type="number" inputMode="numeric" value={draft.count} onChange={(event) => set({ count: event.detail.value })} />
      </FormField>
    </ColumnLayout>
  );
}
