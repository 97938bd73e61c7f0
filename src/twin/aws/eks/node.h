// Node objects, as a kubelet registers them: shared by node groups and HyperPod.
#pragma once

#include <string>

#include "domain/instance_type.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin::eks {

struct NodeSpec {
    NodeSpec() = default;
    std::string name, provider_id, instance_type_label;
    std::string region, zone, zone_id, address, kubernetes_version;
    std::string arch = "amd64";
    std::int64_t cpu_millis = 2000, memory_mib = 4096, pods = 17, storage_gib = 100;
    std::int64_t kept_percent = 0;  // of the memory, which pods do not get
    kube::JsonObject labels;
    kube::JsonArray taints;
};

// Sizes of a known type into the spec.
void set_size(NodeSpec& spec, const domain::InstanceType& type);
// The object, not yet Ready.
kube::JsonObject node_object(const NodeSpec& spec, const std::string& time);
// Creates or replaces it.
void register_node(kube::Cluster& cluster, const NodeSpec& spec, const std::string& time);
// A node is Ready once the CNI is there: marks the one, or all that wait for it. To be called when it or the
// CNI comes.
void mark_ready_node(kube::Cluster& cluster, const std::string& node, const std::string& time);
void mark_ready_nodes(kube::Cluster& cluster, const std::string& time);
// Sets the Ready condition of one node ("True", "False", "Unknown").
void set_ready(kube::Cluster& cluster, const std::string& node, const std::string& status,
               const std::string& reason, const std::string& time);

}  // namespace instantstart::twin::eks
