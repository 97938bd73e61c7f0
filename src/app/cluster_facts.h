// What is shown of a cluster: groups, nodes, accelerators, conditions, put together from EKS, SageMaker and
// Kubernetes.
#pragma once

#include "app/cluster_inputs.h"
#include "app/fleet.h"

namespace instantstart::app {

// Rows of instance_group.list from SageMaker's description.
JsonArray group_rows(const JsonObject& hyperpod);
// Turns the condition of groups that get no instances into WaitingForCapacity where HyperPod's events say so.
Task<void> add_capacity_conditions(Call call, JsonObject hyperpod, JsonArray& rows);
// {name, arn, status, node_recovery, …}; {} where there is no HyperPod cluster.
JsonObject hyperpod_row(const JsonObject& hyperpod);
JsonObject eks_row(const JsonObject& eks);

// The newest operation on a cluster: what was read before it moved tells of another cluster.
struct LastMove {
    LastMove() = default;
    std::string state;   // changes with the operation and its state
    std::string moment;  // changes with each of its steps, too
};
LastMove last_move(const Call& call, const std::string& cluster);

// A row of node.list: SageMaker's node, Kubernetes' own, or both.
JsonObject node_row(const std::string& name, const HyperpodNode* aws, const kube::Node* node,
                    const kube::ClusterCache* cache);
// Why the Kubernetes side is not, or not wholly, what the cluster is like now: {} where it is.
JsonObject freshness_condition(const FleetNodes& nodes);
// The condition of an unreachable API server: {type, reason, message, hint}.
JsonObject condition_of(const base::Error& error);

}  // namespace instantstart::app
