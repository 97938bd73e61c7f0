#include "twin/kube/controllers/pod_life.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

Key key_of(const JsonObject& object) {
    return {namespace_of(object), name_of(object)};
}

// 2 to 10 s, the same for the same image on the same node.
double pull_seconds(const JsonObject& pod) {
    const auto hash = base::sha256(base::get_string(pod, "spec.containers.0.image") +
                                   base::get_string(pod, "spec.nodeName"));
    return 2.0 + static_cast<double>(static_cast<unsigned char>(hash[0])) / 32.0;
}

std::string command_text(const JsonObject& pod) {
    std::string text;
    for (const char* path : {"spec.containers.0.command", "spec.containers.0.args"}) {
        for (const auto& word : base::get_array(pod, path)) {
            if (word.is_string()) text += std::string(word.get_string()) + " ";
        }
    }
    return text;
}

std::optional<std::int64_t> number_after(const std::string& text, std::string_view word) {
    const auto at = text.find(word);
    if (at == std::string::npos) return std::nullopt;
    const char* begin = text.c_str() + at + word.size();
    char* end = nullptr;
    const auto number = std::strtoll(begin, &end, 10);
    if (end == begin) return std::nullopt;
    return number;
}

// How long a pod that is to end runs; nothing for one that never ends by itself.
std::optional<double> run_seconds(const JsonObject& pod) {
    if (base::get_string(pod, "spec.restartPolicy", "Always") == "Always") return std::nullopt;
    const auto& owners = base::get_array(pod, "metadata.ownerReferences");
    if (!owners.empty() && base::get_string(owners[0], "kind") != "Job")
        return std::nullopt;  // its operator says when
    const auto command = command_text(pod);
    if (command.find("sleep infinity") != std::string::npos) return std::nullopt;
    if (const auto seconds = number_after(command, "sleep ")) return static_cast<double>(*seconds);
    return 20.0;
}

JsonObject container_status(const JsonValue& container, bool init) {
    const auto image = base::get_string(container, "image");
    JsonObject out;
    out["name"] = base::get_string(container, "name");
    out["image"] = image;
    out["imageID"] = image.find('@') == std::string::npos ? "sha256:" + base::sha256_hex(image) : image;
    out["restartCount"] = 0;
    out["ready"] = init;
    out["started"] = false;
    out["lastState"] = JsonObject();
    return out;
}

JsonObject terminated(const JsonObject& status, int code, const std::string& now) {
    const auto started = base::get_string(status, "state.running.startedAt", now);
    return {{"terminated", JsonObject{{"exitCode", code},
                                      {"reason", code == 0 ? "Completed" : "Error"},
                                      {"startedAt", started},
                                      {"finishedAt", now},
                                      {"containerID", base::get_string(status, "containerID")}}}};
}

void set_ready(JsonObject& pod, bool ready, std::string_view reason, base::TimePoint now) {
    auto& conditions = conditions_of(pod);
    set_condition(conditions, "PodReadyToStartContainers", ready, "", "", now);
    set_condition(conditions, "Initialized", true, "", "", now);
    set_condition(conditions, "Ready", ready, reason, "", now);
    set_condition(conditions, "ContainersReady", ready, reason, "", now);
}

}  // namespace

void PodLife::changed(const Change& change) {
    if (change.kind == kPods) {
        const Key key = key_of(*change.object);
        if (change.type == Change::Type::deleted) {
            lives_.erase(base::get_string(*change.object, "metadata.uid"));
            logs_.drop(key);
            logs_.tell(key);
        } else {
            env_.queue.add(this, key);
        }
    } else if (change.kind == kNodes && change.type == Change::Type::deleted) {
        for (const auto& key : env_.index.pods_on(name_of(*change.object))) env_.queue.add(this, key);
    } else if (change.kind == kClaims && change.type != Change::Type::deleted) {
        for (const auto& pod : env_.objects.list(kPods, namespace_of(*change.object))) {
            if (base::get_string(*pod, "status.phase") == "Pending") env_.queue.add(this, key_of(*pod));
        }
    }
}

// True when `step` has waited its time; else it is named again then.
bool PodLife::due(const JsonObject& pod, Life::Step step, double seconds) {
    Life& life = lives_[base::get_string(pod, "metadata.uid")];
    const base::Duration now = env_.clock.monotonic();
    if (life.step != step) {
        life.step = step;
        life.due = now + env_.scaled(seconds);
    }
    if (life.due <= now) {
        life.step = Life::Step::none;
        return true;
    }
    env_.queue.add_after(this, key_of(pod), life.due - now);
    return false;
}

void PodLife::sync(const Key& key) {
    const auto pod = env_.get(kPods, key);
    if (!pod) return;
    const auto node_name = base::get_string(*pod, "spec.nodeName");
    if (is_terminating(*pod)) return terminate(*pod);
    if (node_name.empty() || is_finished(*pod)) return;
    if (!env_.objects.get(kNodes, "", node_name)) {
        auto removed = env_.objects.remove(kPods, key.ns, key.name);
        static_cast<void>(removed);
        return;
    }
    const auto& statuses = base::get_array(*pod, "status.containerStatuses");
    if (statuses.empty()) return create_containers(*pod);
    const auto waiting = base::get_string(statuses[0], "state.waiting.reason");
    if (waiting == "ContainerCreating") {
        if (volumes_ready(*pod) && due(*pod, Life::Step::start, pull_seconds(*pod))) start(*pod);
        return;
    }
    if (waiting == "CrashLoopBackOff") {
        const auto restarts = std::min<std::int64_t>(base::get_int(statuses[0], "restartCount"), 5);
        if (due(*pod, Life::Step::restart, 10.0 * static_cast<double>(1 << restarts))) start(*pod);
        return;
    }
    const auto seconds = run_seconds(*pod);
    if (seconds && due(*pod, Life::Step::finish, *seconds)) {
        const auto code = number_after(command_text(*pod), "exit ").value_or(0);
        end_containers(*pod, "", static_cast<int>(code));
    }
}

bool PodLife::volumes_ready(const JsonObject& pod) const {
    for (const auto& volume : base::get_array(pod, "spec.volumes")) {
        const auto name = base::get_string(volume, "persistentVolumeClaim.claimName");
        if (name.empty()) continue;
        const auto claim = env_.get(kClaims, Key(namespace_of(pod), name));
        if (!claim || base::get_string(*claim, "status.phase") != "Bound") return false;
    }
    return true;
}

void PodLife::create_containers(const JsonObject& pod) {
    JsonObject next = pod;
    JsonObject& status = object_at(next, "status");
    const auto now = env_.clock.now();
    status["phase"] = "Pending";
    status["startTime"] = base::format_time(now);
    JsonArray statuses;
    for (const auto& container : base::get_array(pod, "spec.containers")) {
        JsonObject made = container_status(container, false);
        made["state"] = JsonObject{{"waiting", JsonObject{{"reason", "ContainerCreating"}}}};
        statuses.push_back(std::move(made));
    }
    status["containerStatuses"] = std::move(statuses);
    set_ready(next, false, "ContainersNotReady", now);
    env_.events.write(pod, "Normal", "Pulling",
                      "Pulling image \"" + base::get_string(pod, "spec.containers.0.image") + "\"",
                      "kubelet");
    env_.write(kPods, std::move(next));
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

void PodLife::start(const JsonObject& pod) {
    const auto node = env_.objects.get(kNodes, "", base::get_string(pod, "spec.nodeName"));
    if (!node) return;
    JsonObject next = pod;
    JsonObject& status = object_at(next, "status");
    const auto now = env_.clock.now();
    status["phase"] = "Running";
    if (!status.contains("podIP")) {
        const auto address = address_for(pod, *node);
        status["podIP"] = address;
        status["podIPs"] = JsonArray{JsonObject{{"ip", address}}};
        for (const auto& host : base::get_array(*node, "status.addresses")) {
            if (base::get_string(host, "type") == "InternalIP")
                status["hostIP"] = base::get_string(host, "address");
        }
    }
    for (auto& value : list_at(status, "containerStatuses")) {
        JsonObject& container = value.as_object();
        const auto name = base::get_string(container, "name");
        container["state"] = JsonObject{{"running", JsonObject{{"startedAt", base::format_time(now)}}}};
        container["ready"] = true;
        container["started"] = true;
        container["containerID"] =
            "containerd://" + base::sha256_hex(base::get_string(pod, "metadata.uid") + name +
                                               std::to_string(base::get_int(container, "restartCount")));
        logs_.append(key_of(pod), name,
                     {"starting " + base::get_string(container, "image"),
                      "node " + name_of(*node) + ", pod " + name_of(pod), "ready"});
        env_.events.write(pod, "Normal", "Created", "Created container: " + name, "kubelet");
        env_.events.write(pod, "Normal", "Started", "Started container " + name, "kubelet");
    }
    JsonArray init;
    for (const auto& container : base::get_array(pod, "spec.initContainers")) {
        JsonObject made = container_status(container, true);
        made["state"] = terminated(made, 0, base::format_time(now));
        init.push_back(std::move(made));
    }
    if (!init.empty()) status["initContainerStatuses"] = std::move(init);
    set_ready(next, true, "", now);
    env_.write(kPods, std::move(next));
}

base::Result<void> PodLife::exit(const Key& key, std::string_view container, int code) {
    const auto pod = env_.get(kPods, key);
    if (!pod) return base::not_found_error("pod " + key.ns + "/" + key.name);
    if (base::get_string(*pod, "status.phase") != "Running") {
        return base::conflict_error("not_running", "pod " + key.ns + "/" + key.name + " is not running");
    }
    end_containers(*pod, container, code);
    return base::ok();
}

// Ends one container, or all for "".
void PodLife::end_containers(const JsonObject& pod, std::string_view container, int code) {
    const auto policy = base::get_string(pod, "spec.restartPolicy", "Always");
    const bool restarts = policy == "Always" || (policy == "OnFailure" && code != 0);
    const auto now = base::format_time(env_.clock.now());
    JsonObject next = pod;
    bool all_ended = true;
    for (auto& value : list_at(object_at(next, "status"), "containerStatuses")) {
        JsonObject& status = value.as_object();
        const bool meant = container.empty() || base::get_string(status, "name") == container;
        if (meant && base::find_path(status, "state.running") != nullptr) {
            JsonObject ended = terminated(status, code, now);
            status["ready"] = false;
            status["started"] = false;
            if (restarts) {
                status["lastState"] = std::move(ended);
                status["restartCount"] = base::get_int(status, "restartCount") + 1;
                status["state"] =
                    JsonObject{{"waiting", JsonObject{{"reason", "CrashLoopBackOff"},
                                                      {"message", "back-off restarting failed container"}}}};
            } else {
                status["state"] = std::move(ended);
            }
        }
        all_ended = all_ended && base::find_path(status, "state.terminated") != nullptr;
    }
    if (restarts)
        env_.events.write(pod, "Warning", "BackOff", "Back-off restarting failed container", "kubelet");
    if (all_ended) return finish_pod(std::move(next));
    set_ready(next, false, "ContainersNotReady", env_.clock.now());
    env_.write(kPods, std::move(next));
}

void PodLife::finish_pod(JsonObject pod) {
    bool failed = false;
    for (const auto& status : base::get_array(pod, "status.containerStatuses")) {
        failed = failed || base::get_int(status, "state.terminated.exitCode") != 0;
    }
    object_at(pod, "status")["phase"] = failed ? "Failed" : "Succeeded";
    set_ready(pod, false, failed ? "PodFailed" : "PodCompleted", env_.clock.now());
    const Key key = key_of(pod);
    env_.write(kPods, std::move(pod));
    logs_.tell(key);
}

void PodLife::terminate(const JsonObject& pod) {
    const bool runs = !base::get_string(pod, "spec.nodeName").empty() && !is_finished(pod) &&
                      env_.objects.get(kNodes, "", base::get_string(pod, "spec.nodeName")) != nullptr;
    const auto grace = base::get_int(pod, "metadata.deletionGracePeriodSeconds", 30);
    // Most processes end soon after they are asked to.
    if (runs && grace > 0 && !due(pod, Life::Step::remove, std::min(2.0, static_cast<double>(grace)))) return;
    auto removed = env_.objects.remove(kPods, namespace_of(pod), name_of(pod));
    static_cast<void>(removed);
}

void PodLife::rescale(double factor) {
    const base::Duration now = env_.clock.monotonic();
    for (auto& [uid, life] : lives_) life.due = now + scale_left(life.due - now, factor);
}

}  // namespace instantstart::twin::kube::controllers
