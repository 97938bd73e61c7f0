#include "twin/kube/controllers/pods/pod_life.h"

#include <algorithm>

#include "base/text.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr double kEndsAfter = 2;  // seconds: most processes end soon after they are asked to

Key key_of(const JsonObject& object) {
    return {namespace_of(object), name_of(object)};
}

bool is_ready_node(const JsonObject& node) {
    return condition_is(node, "Ready", "True");
}

// The longest hook of its containers, and the end itself.
double seconds_to_end(const JsonObject& pod) {
    double hook = 0;
    for (const auto& container : base::get_array(pod, "spec.containers"))
        hook = std::max(hook, pre_stop_seconds(container));
    return hook + kEndsAfter;
}

JsonObject* status_of(JsonObject& status, std::string_view list, const std::string& name) {
    for (auto& value : list_at(status, list)) {
        if (value.is_object() && base::get_string(value, "name") == name) return &value.get_object();
    }
    return nullptr;
}

}  // namespace

void PodLife::clear() {
    lives_.clear();
    waits_for_files_.clear();
}

void PodLife::changed(const Change& change) {
    if (change.kind == kPods) {
        const Key key = key_of(*change.object);
        if (change.type == Change::Type::deleted) {
            lives_.erase(base::get_string(*change.object, "metadata.uid"));
            waits_for_files_.erase(key);
            logs_.drop(key);
            logs_.tell(key);
        } else if (!base::get_string(*change.object, "spec.nodeName").empty() ||
                   is_terminating(*change.object)) {
            env_.queue.add(this, key);
        }
    } else if (change.kind == kNodes) {
        node_changed(change);
    } else {
        wake_for_files(change);
    }
}

void PodLife::node_changed(const Change& change) {
    const auto name = name_of(*change.object);
    if (change.type == Change::Type::deleted) images_.forget_node(name);
    const bool modified = change.type == Change::Type::modified && change.previous;
    const auto boot = base::get_string(*change.object, "status.nodeInfo.bootID");
    const auto before = modified ? base::get_string(*change.previous, "status.nodeInfo.bootID") : boot;
    if (!before.empty() && before != boot) env_.queue.add(this, Key("", name));
    if (modified && is_ready_node(*change.previous) == is_ready_node(*change.object)) return;
    for (const auto& key : env_.index.pods_on(name)) env_.queue.add(this, key);
}

// What ran on a node has ended with it; its kubelet begins again with what its policy says.
void PodLife::reboot(const std::string& name) {
    const auto node = env_.objects.get(kNodes, "", name);
    if (!node) return;
    env_.events.write(
        *node, "Warning", "Rebooted",
        "Node " + name + " has been rebooted, boot id: " + base::get_string(*node, "status.nodeInfo.bootID"),
        "kubelet");
    const auto pods = env_.index.pods_on(name);
    for (const auto& key : pods) static_cast<void>(exit(key, "", 255));
}

void PodLife::wake_for_files(const Change& change) {
    if (change.type == Change::Type::deleted) return;
    if (change.kind == kClaims) {
        for (const auto& key : env_.index.users_of(key_of(*change.object))) env_.queue.add(this, key);
    } else if (change.kind == kConfigMaps || change.kind == kSecrets) {
        for (const auto& key : waits_for_files_) {
            if (key.ns == namespace_of(*change.object)) env_.queue.add(this, key);
        }
    }
}

void PodLife::sync(const Key& key) {
    if (key.ns.empty()) return reboot(key.name);
    const auto pod = env_.get(kPods, key);
    if (!pod) return;
    Life& life = lives_[base::get_string(*pod, "metadata.uid")];
    if (is_terminating(*pod)) return terminate(*pod, life);
    if (base::get_string(*pod, "spec.nodeName").empty() || is_finished(*pod)) return;
    const auto* node = env_.index.nodes().find(base::get_string(*pod, "spec.nodeName"));
    if (node == nullptr || node->unreachable) return;  // no kubelet; others decide about its pods
    if (base::get_array(*pod, "status.containerStatuses").empty()) return admit(*pod);
    play(*pod, life);
}

// The kubelet has taken the pod.
void PodLife::admit(const JsonObject& pod) {
    JsonObject next = pod;
    const bool has_init = !base::get_array(pod, "spec.initContainers").empty();
    JsonObject& status = object_at(next, "status");
    status["phase"] = "Pending";
    status["startTime"] = base::format_time(env_.clock.now());
    const auto fill = [&](const char* from, const char* to, std::string_view waits_for) {
        JsonArray made;
        for (const auto& container : base::get_array(pod, from))
            made.push_back(first_status(container, waits_for));
        if (!made.empty()) status[to] = std::move(made);
    };
    fill("spec.containers", "containerStatuses", has_init ? "PodInitializing" : "ContainerCreating");
    fill("spec.initContainers", "initContainerStatuses", "PodInitializing");
    PodState state;
    state.initialized = !has_init;
    state.sandbox = false;
    write_pod_state(next, state, env_.clock.now());
    env_.write(kPods, std::move(next));
}

bool PodLife::is_late(const JsonObject& pod, Life& life, PodLook& look) {
    const auto* limit = base::find_path(pod, "spec.activeDeadlineSeconds");
    if (limit == nullptr || !limit->is_int64()) return false;
    const auto now = env_.clock.monotonic();
    if (life.deadline == base::Duration(0))
        life.deadline = now + env_.scaled(static_cast<double>(limit->get_int64()));
    if (life.deadline <= now) return true;
    look.look_at(life.deadline);
    return false;
}

// Without network only pods that use the host's can start; without its volumes none can.
bool PodLife::waits_for_node(const JsonObject& pod, Life& life, PodLook& look) const {
    const auto* node = env_.index.nodes().find(look.node());
    MountProblem problem;
    if (node != nullptr && !node->ready && !base::get_bool(pod, "spec.hostNetwork")) {
        problem.reason = "NetworkNotReady";
        problem.message =
            "network is not ready: container runtime network not ready: NetworkReady=false "
            "reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized";
    } else {
        problem = mount_problem(env_, pod);
    }
    if (!problem.message.empty() && problem.message != life.told)
        look.tell("Warning", problem.reason, problem.message);
    life.told = problem.message;
    return !problem.reason.empty();
}

void PodLife::play(const JsonObject& pod, Life& life) {
    PodLook look(env_, images_, logs_, pod);
    if (is_late(pod, life, look)) {
        look.tell("Normal", "DeadlineExceeded",
                  "Pod was active on the node longer than the specified deadline");
        return end_all(pod, 137, "DeadlineExceeded",
                       "Pod was active on the node longer than the specified deadline");
    }
    const auto* node = env_.index.nodes().find(look.node());
    const bool started = !base::get_string(pod, "status.podIP").empty();
    // What was told of the node stands until the node is ready again.
    const bool told = condition_is(pod, "Ready", "False") && condition_is(pod, "ContainersReady", "True");
    if (told && node != nullptr && !node->ready) return;
    if (!started && waits_for_node(pod, life, look)) {
        waits_for_files_.insert(look.key());
        if (look.next) env_.queue.add_after(this, look.key(), *look.next - env_.clock.monotonic());
        return;
    }
    waits_for_files_.erase(look.key());
    JsonObject next = pod;
    give_address(next);
    JsonObject& status = object_at(next, "status");
    const bool initialized = play_init(look, life, status);
    if (initialized) play_main(look, life, status);
    conclude(look, std::move(next), initialized);
}

void PodLife::give_address(JsonObject& pod) {
    if (!base::get_string(pod, "status.podIP").empty()) return;
    const auto node = env_.objects.get(kNodes, "", base::get_string(pod, "spec.nodeName"));
    if (!node) return;
    const auto address = address_for(pod, *node);
    JsonObject& status = object_at(pod, "status");
    status["podIP"] = address;
    status["podIPs"] = JsonArray{JsonObject{{"ip", address}}};
    for (const auto& host : base::get_array(*node, "status.addresses")) {
        if (base::get_string(host, "type") != "InternalIP") continue;
        status["hostIP"] = base::get_string(host, "address");
        status["hostIPs"] = JsonArray{JsonObject{{"ip", base::get_string(host, "address")}}};
    }
}

// One after the other; true when all that come before the containers are done.
bool PodLife::play_init(PodLook& look, Life& life, JsonObject& status) {
    for (const auto& container : base::get_array(look.pod, "spec.initContainers")) {
        const auto name = base::get_string(container, "name");
        auto* own = status_of(status, "initContainerStatuses", name);
        if (own == nullptr) continue;
        ContainerPlay play(look, container, role_of(container), *own, life.containers[name]);
        play.advance();
        if (!play.lets_others_begin()) return false;
    }
    return true;
}

void PodLife::play_main(PodLook& look, Life& life, JsonObject& status) {
    for (const auto& container : base::get_array(look.pod, "spec.containers")) {
        const auto name = base::get_string(container, "name");
        auto* own = status_of(status, "containerStatuses", name);
        if (own == nullptr) continue;
        if (base::get_string(*own, "state.waiting.reason") == "PodInitializing")
            (*own)["state"] = JsonObject{{"waiting", JsonObject{{"reason", "ContainerCreating"}}}};
        ContainerPlay play(look, container, ContainerPlay::Role::main, *own, life.containers[name]);
        play.advance();
        if (base::get_string(*own, "state.waiting.reason") == "CreateContainerConfigError")
            waits_for_files_.insert(look.key());
    }
}

void PodLife::conclude(PodLook& look, JsonObject next, bool initialized) {
    PodState state;
    state.initialized = initialized;
    write_pod_state(next, state, env_.clock.now());
    const Key key = look.key();
    const bool over = is_finished(next);
    if (look.next && !over) env_.queue.add_after(this, key, *look.next - env_.clock.monotonic());
    // Most looks find nothing new.
    if (base::get_object(next, "status") != base::get_object(look.pod, "status"))
        env_.write(kPods, std::move(next));
    if (over) logs_.tell(key);
}

void PodLife::end_all(JsonObject pod, int code, std::string_view reason, std::string_view message) {
    const auto now = base::format_time(env_.clock.now());
    auto& status = object_at(pod, "status");
    for (auto& value : list_at(status, "containerStatuses")) {
        if (!value.is_object() || base::find_path(value, "state.terminated") != nullptr) continue;
        auto& one = value.get_object();
        const auto started = base::get_string(one, "state.running.startedAt", now);
        one["state"] = JsonObject{
            {"terminated",
             JsonObject{
                 {"exitCode", code}, {"reason", "Error"}, {"startedAt", started}, {"finishedAt", now}}}};
        one["ready"] = false;
        one["started"] = false;
    }
    status["phase"] = "Failed";
    if (!reason.empty()) status["reason"] = reason;
    if (!message.empty()) status["message"] = message;
    auto& conditions = conditions_of(pod);
    for (const char* type : {"Ready", "ContainersReady"})
        set_condition(conditions, type, false, "PodFailed", "", env_.clock.now());
    const Key key = key_of(pod);
    env_.write(kPods, std::move(pod));
    logs_.tell(key);
}

base::Result<void> PodLife::exit(const Key& key, std::string_view container, int code) {
    const auto pod = env_.get(kPods, key);
    if (!pod) return base::not_found_error("pod " + key.ns + "/" + key.name);
    JsonObject next = *pod;
    Life& life = lives_[base::get_string(*pod, "metadata.uid")];
    PodLook look(env_, images_, logs_, *pod);
    bool ended = false;
    for (const auto& [from, to] : {std::pair("spec.initContainers", "initContainerStatuses"),
                                   std::pair("spec.containers", "containerStatuses")}) {
        const bool main = std::string_view(to) == "containerStatuses";
        for (const auto& one : base::get_array(*pod, from)) {
            const auto name = base::get_string(one, "name");
            if (container.empty() ? !main : name != container) continue;
            auto* own = status_of(object_at(next, "status"), to, name);
            if (own == nullptr || base::find_path(*own, "state.running") == nullptr) continue;
            const auto role = main ? ContainerPlay::Role::main : role_of(one);
            ContainerPlay(look, one, role, *own, life.containers[name]).end(code);
            ended = true;
        }
    }
    if (!ended) {
        return base::conflict_error("not_running", "container " + std::string(container) + " of pod " +
                                                       key.ns + "/" + key.name + " is not running");
    }
    conclude(look, std::move(next), condition_is(*pod, "Initialized", "True"));
    return base::ok();
}

void PodLife::terminate(const JsonObject& pod, Life& life) {
    const auto node_name = base::get_string(pod, "spec.nodeName");
    const auto* node = env_.index.nodes().find(node_name);
    const auto grace = base::get_int(pod, "metadata.deletionGracePeriodSeconds", 30);
    const bool runs = !node_name.empty() && !is_finished(pod);
    if (runs && node == nullptr) return;                                    // the collector of pods takes it
    if (runs && node != nullptr && node->unreachable && grace > 0) return;  // nobody is there to end it
    if (runs && grace > 0) {
        const auto now = env_.clock.monotonic();
        if (life.remove_at == base::Duration(0)) {
            life.remove_at = now + env_.scaled(std::min(seconds_to_end(pod), static_cast<double>(grace)));
            for (const auto& status : base::get_array(pod, "status.containerStatuses")) {
                if (base::find_path(status, "state.running") == nullptr) continue;
                env_.events.write(pod, "Normal", "Killing",
                                  "Stopping container " + base::get_string(status, "name"), "kubelet");
            }
        }
        if (life.remove_at > now) return env_.queue.add_after(this, key_of(pod), life.remove_at - now);
    }
    // Whoever holds the pod by a finalizer wants to know how it ended.
    if (runs && has_finalizers(kPods, pod)) end_all(pod, 143, "", "");
    auto removed = env_.objects.remove(kPods, namespace_of(pod), name_of(pod));
    static_cast<void>(removed);
}

std::string PodLife::address_for(const JsonObject& pod, const JsonObject& node) {
    std::string host;
    for (const auto& address : base::get_array(node, "status.addresses")) {
        if (base::get_string(address, "type") == "InternalIP") host = base::get_string(address, "address");
    }
    if (base::get_bool(pod, "spec.hostNetwork")) return host;
    auto parts = base::split(host, '.');
    if (parts.size() != 4) parts = {"10", "1", "0", "0"};
    // From the upper half of the third octet's range, so that they do not meet the nodes' own.
    const auto number = addresses_++ % (100U * 250U);
    return parts[0] + "." + parts[1] + "." + std::to_string(150U + number / 250U) + "." +
           std::to_string(4U + number % 250U);
}

void PodLife::rescale(double factor) {
    const base::Duration now = env_.clock.monotonic();
    const auto move = [&](base::Duration& at) {
        if (at != base::Duration(0)) at = now + scale_left(at - now, factor);
    };
    for (auto& [uid, life] : lives_) {
        move(life.remove_at);
        move(life.deadline);
        for (auto& [name, container] : life.containers) {
            move(container.due);
            if (container.knows_start) container.started = now - scale_left(now - container.started, factor);
        }
    }
}

}  // namespace instantstart::twin::kube::controllers
