#include <algorithm>

#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

struct Wanted {
    const char* key;
    const char* effect;
    bool on;
};

// True when it changed anything. What others put there stays.
bool put_taint(JsonArray& taints, const Wanted& wanted, const std::string& now) {
    const auto at = std::find_if(taints.begin(), taints.end(), [&](const JsonValue& taint) {
        return base::get_string(taint, "key") == wanted.key &&
               base::get_string(taint, "effect") == wanted.effect;
    });
    if (wanted.on == (at != taints.end())) return false;
    if (wanted.on) {
        taints.push_back(JsonObject{{"key", wanted.key}, {"effect", wanted.effect}, {"timeAdded", now}});
    } else {
        taints.erase(at);
    }
    return true;
}

}  // namespace

void NodeLife::changed(const Change& change) {
    if (change.kind == kNodes && change.type != Change::Type::deleted)
        env_.queue.add(this, Key("", name_of(*change.object)));
}

void NodeLife::sync(const Key& key) {
    const auto node = env_.objects.get(kNodes, "", key.name);
    if (!node || is_terminating(*node)) return;
    const bool ready = condition_is(*node, "Ready", "True");
    const bool unknown = condition_is(*node, "Ready", "Unknown");
    const Wanted wanted[] = {
        {"node.kubernetes.io/unschedulable", "NoSchedule", base::get_bool(*node, "spec.unschedulable")},
        {"node.kubernetes.io/not-ready", "NoSchedule", !ready && !unknown},
        {"node.kubernetes.io/not-ready", "NoExecute", !ready && !unknown},
        {"node.kubernetes.io/unreachable", "NoSchedule", unknown},
        {"node.kubernetes.io/unreachable", "NoExecute", unknown},
    };
    JsonObject next = *node;
    JsonObject& spec = object_at(next, "spec");
    JsonArray& taints = list_at(spec, "taints");
    bool changes = false;
    for (const auto& one : wanted)
        changes = put_taint(taints, one, base::format_time(env_.clock.now())) || changes;
    if (!changes) return;
    if (taints.empty()) spec.erase("taints");
    env_.write(kNodes, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
