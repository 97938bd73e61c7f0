// What is shown of a cluster: groups, nodes, accelerators, conditions, put together from EKS, SageMaker and
// Kubernetes.
#pragma once

#include "app/cluster_inputs.h"

namespace instantstart::app {

// Rows of instance_group.list from SageMaker's description.
JsonArray group_rows(const JsonObject& hyperpod);
// Turns the condition of groups that get no instances into WaitingForCapacity where HyperPod's events say so.
Task<void> add_capacity_conditions(Call call, JsonObject hyperpod, JsonArray& rows);
// {name, arn, status, node_recovery, …}; {} where there is no HyperPod cluster.
JsonObject hyperpod_row(const JsonObject& hyperpod);
JsonObject eks_row(const JsonObject& eks);

struct NodeFacts {
    NodeFacts() = default;
    JsonArray nodes;  // rows of node.list, sorted by name
    std::int64_t total = 0, ready = 0;
    std::optional<base::Error> unreachable;  // then the rows say what AWS knows
    std::int64_t accelerators = 0, accelerators_ready = 0, accelerators_in_use = 0;
};
// Joins SageMaker's nodes with Kubernetes' own.
Task<NodeFacts> node_facts(Call call, Target target);
// The condition of an unreachable API server: {type, reason, message, hint}.
JsonObject condition_of(const base::Error& error);

}  // namespace instantstart::app
