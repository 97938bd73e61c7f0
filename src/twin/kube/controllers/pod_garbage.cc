#include <algorithm>

#include "twin/kube/controllers/disruption.h"
#include "twin/kube/controllers/nodes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr double kQuarantine = 40;  // seconds that a pod without its node is left, should the node come back
constexpr std::string_view kOutOfService = "node.kubernetes.io/out-of-service";

bool is_out_of_service(const NodeFacts& node) {
    return !node.ready && std::any_of(node.taints.begin(), node.taints.end(),
                                      [](const Taint& taint) { return taint.key == kOutOfService; });
}

}  // namespace

void PodGarbage::changed(const Change& change) {
    if (change.kind == kNodes) {
        for (const auto& key : env_.index.pods_on(name_of(*change.object))) {
            const auto* node = env_.index.nodes().find(name_of(*change.object));
            if (node == nullptr || is_out_of_service(*node) || change.type == Change::Type::added)
                env_.queue.add(this, key);
        }
        return;
    }
    if (change.kind != kPods) return;
    const auto node = base::get_string(*change.object, "spec.nodeName");
    if (change.type == Change::Type::deleted) {
        since_.erase(base::get_string(*change.object, "metadata.uid"));
    } else if (!node.empty()) {
        const auto* facts = env_.index.nodes().find(node);
        if (facts == nullptr || is_out_of_service(*facts))
            env_.queue.add(this, Key(namespace_of(*change.object), name_of(*change.object)));
    }
}

void PodGarbage::sync(const Key& key) {
    const auto pod = env_.get(kPods, key);
    if (!pod) return;
    const auto uid = base::get_string(*pod, "metadata.uid");
    const auto* node = env_.index.nodes().find(base::get_string(*pod, "spec.nodeName"));
    if (node != nullptr) {
        since_.erase(uid);
        if (!is_terminating(*pod) || !is_out_of_service(*node)) return;
    } else if (!is_terminating(*pod)) {
        const auto now = env_.clock.monotonic();
        const auto due = since_.try_emplace(uid, now + env_.scaled(kQuarantine)).first->second;
        if (due > now) return env_.queue.add_after(this, key, due - now);
    }
    since_.erase(uid);
    if (!is_finished(*pod)) {
        JsonObject next = *pod;
        object_at(next, "status")["phase"] = "Failed";
        set_condition(conditions_of(next), "DisruptionTarget", true, "DeletionByPodGC",
                      node == nullptr ? "PodGC: node no longer exists" : "PodGC: node is out of service",
                      env_.clock.now());
        env_.write(kPods, std::move(next));
    }
    auto removed = env_.objects.remove(kPods, key.ns, key.name);
    static_cast<void>(removed);
}

void PodGarbage::rescale(double factor) {
    const base::Duration now = env_.clock.monotonic();
    for (auto& [uid, due] : since_) due = now + scale_left(due - now, factor);
}

}  // namespace instantstart::twin::kube::controllers
