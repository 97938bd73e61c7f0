// What the forms of an instance group hold, and the request it makes: what was left empty is left out.
import { type Pair, toLabels, toTaints } from "../../shared/labels.ts";
import type { CapacityType, Taint } from "../../shared/types";

export interface GroupDraft {
  name: string;
  instance_type: string;
  // Further types in order of preference: a flexible group.
  more_types: string[];
  zone: string;
  count: string;
  min_count: string;
  capacity: CapacityType;
  training_plan_arn: string;
  interface_type: "" | "efa" | "efa-only";
  autoscaled: boolean;
  volume_size_gib: string;
  threads_per_core: "" | "1" | "2";
  deep_health_checks: DeepCheck[];
  labels: Pair[];
  taints: Taint[];
  subnet_id: string;
  security_group_ids: string;
  lifecycle_script: string;
  image_id: string;
  kms_key_arn: string;
  execution_role_arn: string;
}

export type DeepCheck = "InstanceStress" | "InstanceConnectivity";

export const emptyGroup: GroupDraft = {
  name: "workers",
  instance_type: "",
  more_types: [],
  zone: "",
  count: "1",
  min_count: "",
  capacity: "on_demand",
  training_plan_arn: "",
  interface_type: "",
  autoscaled: false,
  volume_size_gib: "",
  threads_per_core: "",
  deep_health_checks: [],
  labels: [],
  taints: [],
  subnet_id: "",
  security_group_ids: "",
  lifecycle_script: "",
  image_id: "",
  kms_key_arn: "",
  execution_role_arn: "",
};

export const isComplete = (draft: GroupDraft) =>
  draft.name !== "" &&
  draft.instance_type !== "" &&
  draft.zone !== "" &&
  (draft.count !== "" || draft.autoscaled) &&
  (draft.capacity !== "training_plan" || draft.training_plan_arn !== "");

const number = (text: string) => (text === "" ? undefined : Number(text));
const filled = <T>(list: T[]) => (list.length ? list : undefined);

export function groupRequest(draft: GroupDraft) {
  const flexible = draft.more_types.length > 0;
  const labels = toLabels(draft.labels);
  const capacity = {
    type: draft.capacity,
    ...(draft.capacity === "training_plan" ? { training_plan_arn: draft.training_plan_arn } : {}),
  };
  return {
    name: draft.name,
    ...(flexible ? { instance_types: [draft.instance_type, ...draft.more_types] } : { instance_type: draft.instance_type }),
    zone: draft.zone,
    count: draft.autoscaled ? 0 : Number(draft.count),
    min_count: number(draft.min_count),
    capacity: draft.capacity === "on_demand" ? undefined : capacity,
    interface_type: draft.interface_type || undefined,
    autoscaled: draft.autoscaled || undefined,
    volume_size_gib: number(draft.volume_size_gib),
    threads_per_core: number(draft.threads_per_core),
    deep_health_checks: filled(draft.deep_health_checks),
    labels: Object.keys(labels).length ? labels : undefined,
    taints: filled(toTaints(draft.taints)),
    subnet_id: draft.subnet_id || undefined,
    security_group_ids: filled(draft.security_group_ids.split(/[\s,]+/).filter(Boolean)),
    lifecycle_script: draft.lifecycle_script || undefined,
    image_id: draft.image_id || undefined,
    kms_key_arn: draft.kms_key_arn || undefined,
    execution_role_arn: draft.execution_role_arn || undefined,
  };
}
