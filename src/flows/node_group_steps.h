// Steps of EKS managed node groups: plain EC2 nodes for system pods, with a role and a launch template of
// their own, in the compute subnet of their zone.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// Names by cluster and node group.
std::string node_group_role_purpose(const std::string& group);
std::string node_group_template_name(const std::string& cluster, const std::string& group);

// EKS's description; {} where there is no such node group.
Task<JsonObject> describe_node_group(Clusters& env, Context context, std::string eks_name, std::string group);
// Whether a node group is as a change wants it: {count, min_count, max_count, labels, taints}.
bool node_group_is_as_asked(const JsonObject& described, const JsonObject& changes);
// eks:CreateNodegroup, and UpdateNodegroupConfig from what EKS describes.
JsonObject node_group_request(const StepCall& call);
JsonObject node_group_change_request(const StepCall& call, const JsonObject& described);

// params: node_group {name, instance_types (EC2's names), ami_type, count, min_count, max_count, capacity,
// zone, labels, taints, volume_size_gib, efa, network_cards}. "network" is among the steps.
void add_node_group(Steps& steps, const JsonObject& params);
// params: node_group (its name), changes.
void add_node_group_change(Steps& steps);
// params: node_group (its name). With its launch template and role, where these are ours.
void add_node_group_removal(Steps& steps);

}  // namespace instantstart::flows
