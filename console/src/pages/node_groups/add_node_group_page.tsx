import Box from "@cloudscape-design/components/box";
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import FormField from "@cloudscape-design/components/form-field";
import Header from "@cloudscape-design/components/header";
import Input from "@cloudscape-design/components/input";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useState } from "react";
import { useParams } from "react-router-dom";

import { client, withKey } from "../../shared/api";
import { Choice } from "../../shared/choice";
import { type Pair, toLabels, toTaints } from "../../shared/labels";
import { LabelsEditor, TaintsEditor } from "../../shared/labels_editor";
import { PlannedForm } from "../../shared/planned_form";
import { useZones } from "../../shared/queries";
import type { Taint } from "../../shared/types";

const kCapacities = [
  { value: "on_demand", label: "On-demand" },
  { value: "spot", label: "Spot", description: "At a discount; may be taken back with two minutes' notice" },
] as const;

const number = (text: string) => (text === "" ? undefined : Number(text));

export function AddNodeGroupPage() {
  const { name = "" } = useParams();
  const [draft, setDraft] = useState({ name: "system", types: "m5.xlarge", count: "2", min: "", max: "", zone: "", volume: "" });
  const [efa, setEfa] = useState(false);
  const [labels, setLabels] = useState<Pair[]>([]);
  const [taints, setTaints] = useState<Taint[]>([]);
  const [capacity, setCapacity] = useState<(typeof kCapacities)[number]["value"]>("on_demand");
  const types = draft.types.split(/[\s,]+/).filter(Boolean);
  const zones = useZones("");
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const request = {
    name: draft.name,
    instance_types: types,
    count: Number(draft.count),
    min_count: number(draft.min),
    max_count: number(draft.max),
    capacity,
    zone: draft.zone,
    volume_size_gib: number(draft.volume),
    efa: efa || undefined,
    labels: labels.length ? toLabels(labels) : undefined,
    taints: taints.length ? toTaints(taints) : undefined,
  };
  const zoneOptions = (zones.data?.zones ?? []).map((zone) => ({
    value: zone.name,
    label: zone.name,
    description: zone.zone_id,
  }));
  return (
    <PlannedForm
      title="Add an EKS node group"
      description={`EC2 nodes that EKS manages, in ${name}`}
      action="Add"
      complete={draft.name !== "" && types.length > 0 && draft.count !== "" && draft.zone !== ""}
      asked={JSON.stringify(["node-group", name, request])}
      send={(options, key) =>
        client.POST("/clusters/{cluster}/node-groups", {
          params: { path: { cluster: name }, ...withKey(key) },
          body: { ...request, ...options },
        })
      }
    >
      {(problem) => (
        <Container header={<Header variant="h2">Node group</Header>}>
          <ColumnLayout columns={2}>
            <FormField label="Group name" errorText={problem?.field("/name")}>
              <Input value={draft.name} autoComplete={false} onChange={(event) => set({ name: event.detail.value })} />
            </FormField>
            <FormField label="Instance types" description="Separated by commas" errorText={problem?.field("/instance_types")}>
              <Input
                value={draft.types}
                autoComplete={false}
                placeholder="m5.xlarge"
                onChange={(event) => set({ types: event.detail.value })}
              />
            </FormField>
            <FormField label="Nodes" errorText={problem?.field("/count")}>
              <Input
                type="number"
                inputMode="numeric"
                value={draft.count}
                onChange={(event) => set({ count: event.detail.value })}
              />
            </FormField>
            <FormField label="Capacity" errorText={problem?.field("/capacity")}>
              <Choice options={kCapacities} value={capacity} onChange={setCapacity} />
            </FormField>
            <FormField label="Minimum" errorText={problem?.field("/min_count")}>
              <Input
                type="number"
                inputMode="numeric"
                value={draft.min}
                placeholder="1"
                onChange={(event) => set({ min: event.detail.value })}
              />
            </FormField>
            <FormField label="Maximum" errorText={problem?.field("/max_count")}>
              <Input
                type="number"
                inputMode="numeric"
                value={draft.max}
                placeholder="as many as nodes"
                onChange={(event) => set({ max: event.detail.value })}
              />
            </FormField>
            <FormField label="Zone" errorText={problem?.field("/zone")}>
              <Choice
                options={zoneOptions}
                value={draft.zone}
                placeholder="Choose a zone"
                statusType={zones.isPending ? "loading" : "finished"}
                onChange={(zone) => set({ zone })}
              />
            </FormField>
            <FormField label="Root volume in GiB" errorText={problem?.field("/volume_size_gib")}>
              <Input
                type="number"
                inputMode="numeric"
                value={draft.volume}
                placeholder="80"
                onChange={(event) => set({ volume: event.detail.value })}
              />
            </FormField>
            <FormField label="Network" errorText={problem?.field("/efa")}>
              <Checkbox
                checked={efa}
                description="On all network cards; for types that have it"
                onChange={(event) => setEfa(event.detail.checked)}
              >
                EFA interfaces
              </Checkbox>
            </FormField>
          </ColumnLayout>
          <Box margin={{ top: "l" }}>
            <SpaceBetween size="l">
              <LabelsEditor rows={labels} onChange={setLabels} problem={problem} pointer="/labels" />
              <TaintsEditor rows={taints} onChange={setTaints} problem={problem} pointer="/taints" />
            </SpaceBetween>
          </Box>
        </Container>
      )}
    </PlannedForm>
  );
}
