// Managed tiered checkpointing, as far as the cluster sees it: a share of every node's memory is kept for
// checkpoints, and a DaemonSet of HyperPod's manages it.
#include "domain/instance_type.h"
#include "twin/aws/sagemaker/kube_node.h"

namespace instantstart::twin::sagemaker {

namespace {

const kube::Kind kNodes("", "nodes");
const kube::Kind kDaemonSets("apps", "daemonsets");
const kube::Kind kNamespaces("", "namespaces");
constexpr const char* kNamespace = "aws-hyperpod";
constexpr const char* kDaemon = "hyperpod-memory-management-daemon";  // the twin's name for it

JsonObject daemon() {
    const JsonObject labels{{"app.kubernetes.io/name", kDaemon}};
    JsonObject container{
        {"name", "daemon"},
        {"image", "602401143452.dkr.ecr.us-west-2.amazonaws.com/hyperpod/memory-management:1.0.0"},
        {"resources", {{"requests", {{"cpu", "10m"}, {"memory", "64Mi"}}}}}};
    JsonObject pod{{"containers", JsonArray{JsonValue(container)}},
                   {"hostNetwork", true},
                   {"nodeSelector", {{"sagemaker.amazonaws.com/compute-type", "hyperpod"}}},
                   {"priorityClassName", "system-node-critical"},
                   {"tolerations", JsonArray{JsonObject{{"operator", "Exists"}}}}};
    return {{"apiVersion", "apps/v1"},
            {"kind", "DaemonSet"},
            {"metadata", {{"name", kDaemon}, {"namespace", kNamespace}, {"labels", labels}}},
            {"spec",
             {{"selector", {{"matchLabels", labels}}},
              {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}};
}

void put_daemon(kube::ObjectStore& objects, bool on) {
    if (!on) {
        static_cast<void>(objects.remove(kDaemonSets, kNamespace, kDaemon));
        return;
    }
    if (objects.get(kNamespaces, "", kNamespace) == nullptr) {
        static_cast<void>(objects.apply(
            kNamespaces, {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", kNamespace}}}},
            "hyperpod"));
    }
    static_cast<void>(objects.apply(kDaemonSets, daemon(), "hyperpod"));
}

}  // namespace

std::int64_t checkpoint_percent(const Record& cluster) {
    if (base::get_string(cluster.data, "TieredStorageConfig.Mode") != "Enable") return 0;
    return base::get_int(cluster.data, "TieredStorageConfig.InstanceMemoryAllocationPercentage", 20);
}

void apply_tiered_storage(State& state, const Record& cluster) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr) return;
    put_daemon(live->objects(), checkpoint_percent(cluster) > 0);
    for (const Record* node : nodes_of(state, cluster)) {
        const Record* group = find_group(state, cluster, base::get_string(node->data, "InstanceGroupName"));
        const kube::ObjectPtr present = live->objects().get(kNodes, "", kube_name(*node));
        if (group == nullptr || present == nullptr) continue;
        const std::string memory = allocatable_memory(state, cluster, *group, *node);
        JsonObject changed = *present;
        JsonObject status = base::get_object(changed, "status");
        JsonObject allocatable = base::get_object(status, "allocatable");
        if (memory.empty() || base::get_string(status, "allocatable.memory") == memory) continue;
        allocatable["memory"] = memory;
        status["allocatable"] = std::move(allocatable);
        changed["status"] = std::move(status);
        static_cast<void>(live->objects().update(kNodes, std::move(changed)));
    }
}

void drop_tiered_storage(State& state, const Record& cluster) {
    if (kube::Cluster* live = kube_of(state, cluster)) put_daemon(live->objects(), false);
}

}  // namespace instantstart::twin::sagemaker
