#include "twin/aws/sagemaker/watch.h"

#include "twin/aws/sagemaker/karpenter.h"
#include "twin/aws/sagemaker/kube_node.h"

namespace instantstart::twin::sagemaker {

namespace {

const kube::Kind kNodes("", "nodes");
const kube::Kind kPods("", "pods");

const JsonValue* health_of(const JsonObject& node) {
    return base::get_object(node, "metadata.labels").if_contains(kHealthLabel);
}

// A label that asks for recovery has come: HyperPod acts on it about a minute later.
void node_changed(State& state, const std::string& cluster, const kube::Change& change) {
    if (change.previous == nullptr || change.type != kube::Change::Type::modified) return;
    const JsonValue *now = health_of(*change.object), *before = health_of(*change.previous);
    if (now == nullptr || (before != nullptr && *now == *before)) return;
    if (!now->is_string() || !std::string_view(now->get_string()).starts_with("UnschedulablePending")) return;
    const std::string name = base::get_string(*change.object, "metadata.name");
    for (const auto& [logical, node] : state.nodes) {
        if (base::get_string(node.hidden, "cluster") != cluster || kube_name(node) != name) continue;
        set_timer(state, node, "fault_label", std::chrono::minutes(1));
        return;
    }
}

bool of_autoscaling(const kube::Kind& kind) {
    return kind == kNodePools || kind == kNodeClasses;
}

// What may change what autoscaling would do: pods that find no place or leave one, and its own objects.
bool concerns_autoscaling(const kube::Change& change) {
    using Type = kube::Change::Type;
    const JsonObject& object = *change.object;
    if (of_autoscaling(change.kind)) {
        return change.type != Type::modified || change.previous == nullptr ||
               base::get_int(object, "metadata.generation") !=
                   base::get_int(*change.previous, "metadata.generation");
    }
    if (change.kind != kPods) return false;
    if (change.type == Type::deleted) return true;
    const std::string phase = base::get_string(object, "status.phase");
    return phase == "Succeeded" || phase == "Failed" || base::get_string(object, "spec.nodeName").empty();
}

}  // namespace

void watch_cluster(State& state, const Record& cluster) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr) return;
    const std::string id = cluster_id(cluster);
    state.watches[id] = live->objects().subscribe([&state, id](const kube::Change& change) {
        if (change.kind == kNodes) return node_changed(state, id, change);
        if (change.kind != kPods && !of_autoscaling(change.kind)) return;
        const Record* found = find_cluster_by_id(state, id);
        if (found != nullptr && scales(*found) && concerns_autoscaling(change)) plan_pass(state, *found);
    });
}

}  // namespace instantstart::twin::sagemaker
