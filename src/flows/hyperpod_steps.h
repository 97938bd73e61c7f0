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
// sagemaker:CreateCluster with all groups, and UpdateCluster with one new one.
JsonObject hyperpod_request(const StepCall& call);
JsonObject group_request(const StepCall& call, const std::string& name);
// Parts of such a specification: the script of an S3 URI, and taints in SageMaker's words.
JsonObject lifecycle_of(const std::string& script);
JsonArray taints_of(const JsonArray& taints);

std::string hyperpod_name(const StepCall& call);
// SageMaker's description of the flow's HyperPod cluster, looked at anew; {} where there is none.
Task<JsonObject> describe_hyperpod(Clusters& env, StepCall call);
// A group of that description; null where there is none.
const JsonObject* group_in(const JsonObject& hyperpod, std::string_view name);
// What everyone holds who sends UpdateCluster: AWS takes one at a time, and each is read, changed and sent
// back.
std::string hyperpod_lease(const JsonObject& params);
// How long a conflict with what others do to the cluster is waited for: while deep health checks run AWS
// takes no update, and they take about two hours.
inline constexpr base::Duration kHyperpodWait = std::chrono::hours(3);

struct NodesPlan {
    NodesPlan(std::string group, std::string after) : group(std::move(group)), after(std::move(after)) {}
    std::string group, after;
    std::int64_t least = 0;  // min_count: where HyperPod rolls the group back below it the step fails
    bool exactly = false;    // what is too much must be gone, too
};
// "<group>.nodes": the nodes of the group are usable.
void add_nodes_step(Steps& steps, const NodesPlan& plan);

// How a group's nodes stand in both layers. {wanted, present, running, ready, usable_nodes, detail, usable:
// bool}
Task<JsonObject> group_health(Clusters& env, Context context, std::string eks_name, JsonObject hyperpod,
                              std::string group);
// Whether a Kubernetes node can take work: Ready, Schedulable, with all accelerators of its type.
bool is_usable_node(const JsonObject& node);
// Nodes of the group that either layer still has.
Task<std::int64_t> nodes_left(Clusters& env, Context context, std::string eks_name, std::string hyperpod,
                              std::string group);
// What HyperPod's events say of a group that gets no instances; "" where they say nothing of capacity.
Task<std::string> capacity_event(Clusters& env, Context context, std::string hyperpod, std::string group);
// The condition of a group that is bound to a training plan which has not begun; {} where it has.
Task<JsonObject> plan_condition(Clusters& env, Context context, std::string plan_arn, std::string group);

}  // namespace instantstart::flows
