// Which features can come with a cluster of these groups: what the plan would refuse is not offered.
import type { InstanceType } from "../../shared/types";
import type { GroupDraft } from "../instance_groups/group_draft";
import type { FeatureName } from "./launch_features";

const kCores = 16; // what observability's collectors ask of one node
const kNeedNodes: FeatureName[] = [
  "training_operator",
  "inference_operator",
  "kuberay",
  "keda",
  "load_balancer_controller",
  "observability",
  "task_governance",
];
// Each brings what the other is.
const kPairs: [FeatureName, FeatureName][] = [
  ["inference_operator", "keda"],
  ["inference_operator", "load_balancer_controller"],
];

const hasNodes = (group: GroupDraft) => !group.autoscaled && Number(group.count) > 0;

function hasCores(group: GroupDraft, types: InstanceType[]): boolean {
  const cores = (name: string) => types.find((each) => each.name === name)?.vcpus ?? kCores;
  return hasNodes(group) && [group.instance_type, ...group.more_types].every((name) => cores(name) >= kCores);
}

// Why it cannot be chosen, with the way out; undefined where it can.
export function whyNot(
  feature: FeatureName,
  groups: GroupDraft[],
  chosen: FeatureName[],
  types: InstanceType[],
): string | undefined {
  if (feature === "autoscaling" && !groups.some((group) => group.autoscaled))
    return "Needs a group with Managed autoscaling (among its more settings)";
  if (feature === "autoscaling" && !groups.some(hasNodes)) return "Needs another group, with instances that stay";
  if (kNeedNodes.includes(feature) && !groups.some(hasNodes)) return "Its pods need a group with instances";
  if (feature === "observability" && !groups.some((group) => hasCores(group, types)))
    return "Its collectors need a node of 16 vCPU (4xlarge) or more";
  const pair = kPairs.find((each) => each.includes(feature) && each.some((other) => other !== feature && chosen.includes(other)));
  return pair && "Cannot be on together with what is chosen: each brings the same";
}
