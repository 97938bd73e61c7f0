#include <algorithm>

#include "twin/kube/controllers/nodes.h"
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

std::string status_of(const JsonObject& node, std::string_view type) {
    for (const auto& condition : base::get_array(node, "status.conditions")) {
        if (base::get_string(condition, "type") == type) return base::get_string(condition, "status");
    }
    return {};
}

}  // namespace

void NodeLife::changed(const Change& change) {
    if (change.kind != kNodes) return;
    const auto name = name_of(*change.object);
    if (change.type == Change::Type::deleted) {
        if (known_.erase(name) > 0) {
            env_.events.write(*change.object, "Normal", "RemovingNode",
                              "Node " + name + " event: Removing Node " + name + " from Controller",
                              "node-controller");
        }
        return;
    }
    env_.queue.add(this, Key("", name));
}

// The pods of a node that says no more of itself are ready no longer.
void NodeLife::tell_pods(const std::string& node) {
    const auto pods = env_.index.pods_on(node);
    for (const auto& key : pods) {
        const auto pod = env_.get(kPods, key);
        if (!pod || is_finished(*pod)) continue;
        JsonObject next = *pod;
        if (set_condition(conditions_of(next), "Ready", false, "", "", env_.clock.now()))
            env_.write(kPods, std::move(next));
        env_.events.write(*pod, "Warning", "NodeNotReady", "Node is not ready", "node-controller");
    }
}

void NodeLife::tell(const JsonObject& node) {
    const auto name = name_of(node);
    const auto ready = status_of(node, "Ready");
    const bool cordoned = base::get_bool(node, "spec.unschedulable");
    const auto [known, is_new] = known_.try_emplace(name);
    Known& before = known->second;
    const auto write = [&](const char* reason, const std::string& message, const char* component) {
        env_.events.write(node, "Normal", reason, message, component);
    };
    if (is_new) {
        write("RegisteredNode", "Node " + name + " event: Registered Node " + name + " in Controller",
              "node-controller");
    }
    if (ready != before.ready) {
        if (ready == "True") write("NodeReady", "Node " + name + " status is now: NodeReady", "kubelet");
        if (before.ready == "True") {
            write("NodeNotReady", "Node " + name + " status is now: NodeNotReady", "node-controller");
            tell_pods(name);
        }
    }
    if (cordoned && !before.cordoned)
        write("NodeNotSchedulable", "Node " + name + " status is now: NodeNotSchedulable", "kubelet");
    if (!cordoned && before.cordoned)
        write("NodeSchedulable", "Node " + name + " status is now: NodeSchedulable", "kubelet");
    before.ready = ready;
    before.cordoned = cordoned;
}

void NodeLife::sync(const Key& key) {
    const auto node = env_.objects.get(kNodes, "", key.name);
    if (!node || is_terminating(*node)) return;
    tell(*node);
    const bool ready = condition_is(*node, "Ready", "True");
    const bool unknown = condition_is(*node, "Ready", "Unknown");
    const auto pressed = [&node](const char* type) { return status_of(*node, type) == "True"; };
    const Wanted wanted[] = {
        {"node.kubernetes.io/unschedulable", "NoSchedule", base::get_bool(*node, "spec.unschedulable")},
        {"node.kubernetes.io/not-ready", "NoSchedule", !ready && !unknown},
        {"node.kubernetes.io/not-ready", "NoExecute", !ready && !unknown},
        {"node.kubernetes.io/unreachable", "NoSchedule", unknown},
        {"node.kubernetes.io/unreachable", "NoExecute", unknown},
        {"node.kubernetes.io/memory-pressure", "NoSchedule", pressed("MemoryPressure")},
        {"node.kubernetes.io/disk-pressure", "NoSchedule", pressed("DiskPressure")},
        {"node.kubernetes.io/pid-pressure", "NoSchedule", pressed("PIDPressure")},
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
