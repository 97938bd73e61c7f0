// The Node object of a HyperPod node: how it joins, what is written on it, and what its pods go through.
#pragma once

#include <functional>

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

inline constexpr const char* kHealthLabel = "sagemaker.amazonaws.com/node-health-status";
inline constexpr const char* kDeepCheckLabel = "sagemaker.amazonaws.com/deep-health-check-status";
inline constexpr const char* kFaultTypesLabel = "sagemaker.amazonaws.com/fault-types";
inline constexpr const char* kFaultReasonsLabel = "sagemaker.amazonaws.com/fault-reasons";
inline constexpr const char* kFaultDetails = "sagemaker.amazonaws.com/fault-details";  // an annotation

// The Kubernetes cluster behind the HyperPod cluster; null where there is none.
kube::Cluster* kube_of(State& state, const Record& cluster);
void join_kubernetes(State& state, const Record& cluster, const Record& group, const Record& node);
void leave_kubernetes(State& state, const Record& cluster, const Record& node);

// What pods of the node get of its memory; "" for an unknown type.
std::string allocatable_memory(State& state, const Record& cluster, const Record& group, const Record& node);
// Of every node's memory, for checkpoints; 0 where tiered checkpointing is off.
std::int64_t checkpoint_percent(const Record& cluster);
// The daemon and the nodes' memory, as the cluster's setting is now.
void apply_tiered_storage(State& state, const Record& cluster);
void drop_tiered_storage(State& state, const Record& cluster);  // with the cluster

struct NodeEdit {
    JsonObject labels, annotations;  // as they are, to be changed
    JsonArray taints;
};
void edit_node(State& state, const Record& cluster, const Record& node,
               const std::function<void(NodeEdit&)>& change);
void new_boot(State& state, const Record& cluster, const Record& node);  // the kernel has started again
// Own labels and taints of the group: the current ones give way to the desired ones.
void relabel_node(State& state, const Record& cluster, const Record& node, const JsonObject& config);
void put_taint(JsonArray& taints, JsonObject taint);
void drop_taint(JsonArray& taints, std::string_view key);
JsonObject health_taint();
void heal(NodeEdit& edit);  // schedulable, without a fault
// Deletes the pods of the node but those of DaemonSets, each with its own grace.
void evict_pods(State& state, const Record& cluster, const Record& node);
// An Event about the node, as HyperPod's own components write it.
void node_event(State& state, const Record& cluster, const Record& node, std::string_view reason,
                std::string_view message);

}  // namespace instantstart::twin::sagemaker
