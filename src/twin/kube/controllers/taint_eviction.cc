#include <algorithm>
#include <optional>

#include "twin/kube/controllers/disruption.h"
#include "twin/kube/controllers/nodes.h"
#include "twin/kube/controllers/scheduling/node_match.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kComponent = "taint-eviction-controller";

bool evicts(const JsonObject& node) {
    const auto& taints = base::get_array(node, "spec.taints");
    return std::any_of(taints.begin(), taints.end(), [](const JsonValue& taint) {
        return base::get_string(taint, "effect") == "NoExecute";
    });
}

// How long the pod bears the node's NoExecute taints: nothing where for ever, below zero where not at all.
std::optional<std::int64_t> seconds_borne(const JsonObject& pod, const NodeFacts& node) {
    const auto& tolerations = base::get_array(pod, "spec.tolerations");
    std::optional<std::int64_t> least;
    for (const auto& taint : node.taints) {
        if (taint.effect != "NoExecute") continue;
        bool tolerated = false;
        for (const auto& toleration : tolerations) {
            if (!tolerates(toleration, taint)) continue;
            tolerated = true;
            const auto* limit = base::find_path(toleration, "tolerationSeconds");
            if (limit == nullptr || !limit->is_int64()) continue;
            const auto seconds = std::max<std::int64_t>(0, limit->get_int64());
            least = least ? std::min(*least, seconds) : seconds;
        }
        if (!tolerated) return -1;
    }
    return least;
}

}  // namespace

void TaintEviction::changed(const Change& change) {
    const JsonObject& object = *change.object;
    if (change.kind == kNodes) {
        const bool before = change.previous && evicts(*change.previous);
        if (change.type == Change::Type::deleted || (!before && !evicts(object))) return;
        for (const auto& key : env_.index.pods_on(name_of(object))) env_.queue.add(this, key);
    } else if (change.kind == kPods) {
        if (change.type == Change::Type::deleted) {
            since_.erase(base::get_string(object, "metadata.uid"));
            return;
        }
        const auto* node = env_.index.nodes().find(base::get_string(object, "spec.nodeName"));
        const bool tainted =
            node != nullptr && std::any_of(node->taints.begin(), node->taints.end(),
                                           [](const Taint& taint) { return taint.effect == "NoExecute"; });
        if (tainted) env_.queue.add(this, Key(namespace_of(object), name_of(object)));
    }
}

void TaintEviction::sync(const Key& key) {
    const auto pod = env_.get(kPods, key);
    if (!pod || is_terminating(*pod) || is_finished(*pod)) return;
    const auto* node = env_.index.nodes().find(base::get_string(*pod, "spec.nodeName"));
    if (node == nullptr) return;
    const auto seconds = seconds_borne(*pod, *node);
    if (!seconds) return cancel(*pod);
    if (*seconds < 0) return evict(*pod);
    const auto now = env_.clock.monotonic();
    const auto since = since_.try_emplace(base::get_string(*pod, "metadata.uid"), now).first->second;
    const auto due = since + env_.scaled(static_cast<double>(*seconds));
    if (due <= now) return evict(*pod);
    env_.queue.add_after(this, key, due - now);
}

void TaintEviction::cancel(const JsonObject& pod) {
    if (since_.erase(base::get_string(pod, "metadata.uid")) == 0) return;
    env_.events.write(pod, "Normal", "TaintManagerEviction",
                      "Cancelling deletion of Pod " + namespace_of(pod) + "/" + name_of(pod), kComponent);
}

void TaintEviction::evict(const JsonObject& pod) {
    since_.erase(base::get_string(pod, "metadata.uid"));
    env_.events.write(pod, "Normal", "TaintManagerEviction",
                      "Marking for deletion Pod " + namespace_of(pod) + "/" + name_of(pod), kComponent);
    mark_disruption(env_, pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
    env_.remove(kPods, Key(namespace_of(pod), name_of(pod)));
}

void TaintEviction::rescale(double factor) {
    // What has been waited shrinks or grows as the durations do.
    const base::Duration now = env_.clock.monotonic();
    for (auto& [uid, since] : since_) since = now - scale_left(now - since, factor);
}

}  // namespace instantstart::twin::kube::controllers
