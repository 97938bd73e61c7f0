// What a group would take, before the plan is asked for: hardware, price class and quota.
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Box from "@cloudscape-design/components/box";
import StatusIndicator from "@cloudscape-design/components/status-indicator";
import type { ReactNode } from "react";

import { dollars } from "../../shared/cost_view";
import { useInstanceTypes, usePrice, useQuotas } from "../../shared/queries";
import type { InstanceType, Quota } from "../../shared/types";
import { kClasses } from "./capacity_fields";
import type { GroupDraft } from "./group_draft";

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Box variant="awsui-key-label">{label}</Box>
      <div>{children}</div>
    </div>
  );
}

// AWS keeps a row of its own for Spot where it has one; else both count against the same.
function quotaFor(draft: GroupDraft, quotas: Quota[]): Quota | undefined {
  const spot = quotas.find((each) => /spot/i.test(each.name));
  const other = quotas.find((each) => !/spot/i.test(each.name));
  return draft.capacity === "spot" ? (spot ?? other) : other;
}

function QuotaFact({ draft, count }: { draft: GroupDraft; count: number }) {
  const quotas = useQuotas(draft.instance_type);
  const quota = quotaFor(draft, quotas.data?.quotas ?? []);
  if (quotas.isPending) return <StatusIndicator type="loading">Asking</StatusIndicator>;
  if (!quota) return <StatusIndicator type="info">No quota of AWS names this type</StatusIndicator>;
  const free = quota.free ?? 0;
  return (
    <>
      <StatusIndicator type={count <= free ? "success" : "error"}>
        {free} free of {quota.limit ?? 0}
      </StatusIndicator>
      <Box variant="small" color="text-body-secondary" display="block">
        {quota.used ?? 0} used · {quota.name}
      </Box>
    </>
  );
}

function PriceFact({ draft, count }: { draft: GroupDraft; count: number }) {
  const price = usePrice(draft.capacity === "training_plan" ? "" : draft.instance_type);
  const hourly = price.data?.prices[0]?.hourly_usd;
  const bought = kClasses.find((each) => each.value === draft.capacity);
  return (
    <>
      {bought?.label}
      {hourly !== undefined && (
        <div>
          {draft.capacity === "spot" && "at most "}
          {dollars(hourly * count)} an hour, {dollars(hourly)} each
        </div>
      )}
      <Box variant="small" color="text-body-secondary" display="block">
        {bought?.description}
      </Box>
    </>
  );
}

function hardware(type: InstanceType | undefined, count: number): string {
  if (!type) return "–";
  const accelerators = type.accelerators?.count
    ? `${count * type.accelerators.count} × ${type.accelerators.name ?? "accelerator"}`
    : "no accelerators";
  return `${accelerators}, ${count * (type.vcpus ?? 0)} vCPU, ${count * (type.memory_gib ?? 0)} GiB`;
}

export function CapacitySummary({ draft }: { draft: GroupDraft }) {
  const types = useInstanceTypes();
  if (!draft.instance_type)
    return (
      <Box color="text-body-secondary">
        Choose a type to see its price class, quota and hardware. The plan then shows addresses and every step.
      </Box>
    );
  const type = types.data?.instance_types.find((each) => each.name === draft.instance_type);
  const count = draft.autoscaled ? 0 : Number(draft.count) || 0;
  return (
    <ColumnLayout columns={4} variant="text-grid">
      <Fact label="Price class">
        <PriceFact draft={draft} count={count} />
      </Fact>
      <Fact label="Quota">
        <QuotaFact draft={draft} count={count} />
      </Fact>
      <Fact label="Hardware of all instances">{hardware(type, count)}</Fact>
      <Fact label="Pods per node">{type?.max_pods ?? "–"}</Fact>
    </ColumnLayout>
  );
}
