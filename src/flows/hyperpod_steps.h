// Steps of the HyperPod cluster: execution role, lifecycle script, the cluster itself, its groups, and nodes
// that are usable.
#pragma once

#include <string>
#include <vector>

#include "flows/step_kit.h"

namespace instantstart::flows {

// params: hyperpod_name, groups (canonical instance groups), node_recovery. Needs "eks", "network",
// "kubernetes_access" and the components already among the steps. Ends with "<group>.nodes" for each group.
void add_hyperpod(Steps& steps, const JsonObject& params);
// The same for one more group of an existing cluster (params.groups has just that one).
void add_group(Steps& steps, const JsonObject& params);
// Ids of the steps that bring nodes.
std::vector<std::string> node_steps(const JsonObject& params);

// One group as SageMaker's ClusterInstanceGroupSpecification, from our canonical group and the steps'
// results.
JsonObject group_specification(const StepCall& call, const JsonObject& group);
// From SageMaker's description of a group, for UpdateCluster: a member left out there would be reset.
JsonObject specification_of(const JsonObject& details);

// How a group's nodes stand in both layers. {wanted, running, ready, detail, usable: bool}
Task<JsonObject> group_health(Clusters& env, Context context, std::string eks_name, JsonObject hyperpod,
                              std::string group);
// What HyperPod's events say of a group that gets no instances; "" where they say nothing of capacity.
Task<std::string> capacity_event(Clusters& env, Context context, std::string hyperpod, std::string group);

}  // namespace instantstart::flows
