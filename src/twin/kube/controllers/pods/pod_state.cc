// Phase and conditions of a pod, as the kubelet derives them from its containers.
#include "base/text.h"
#include "twin/kube/controllers/pods/pod_life.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

const JsonObject* status_named(const JsonArray& statuses, const std::string& name) {
    for (const auto& status : statuses) {
        if (status.is_object() && base::get_string(status, "name") == name) return &status.get_object();
    }
    return nullptr;
}

bool comes_back(const JsonObject& pod, const JsonObject& status) {
    const auto policy = base::get_string(pod, "spec.restartPolicy", "Always");
    const auto code = base::get_int(status, "state.terminated.exitCode");
    return policy == "Always" || (policy == "OnFailure" && code != 0);
}

bool init_failed(const JsonObject& pod) {
    if (base::get_string(pod, "spec.restartPolicy", "Always") != "Never") return false;
    const auto& statuses = base::get_array(pod, "status.initContainerStatuses");
    for (const auto& container : base::get_array(pod, "spec.initContainers")) {
        if (role_of(container) == ContainerPlay::Role::sidecar) continue;
        const auto* status = status_named(statuses, base::get_string(container, "name"));
        if (status != nullptr && base::get_int(*status, "state.terminated.exitCode") != 0) return true;
    }
    return false;
}

std::string phase_of(const JsonObject& pod, bool initialized) {
    if (!initialized) return init_failed(pod) ? "Failed" : "Pending";
    bool all_over = true, failed = false, waits = false;
    for (const auto& value : base::get_array(pod, "status.containerStatuses")) {
        if (!value.is_object()) continue;
        const auto& status = value.get_object();
        const bool ended = base::find_path(status, "state.terminated") != nullptr;
        if (!ended || comes_back(pod, status)) all_over = false;
        failed = failed || base::get_int(status, "state.terminated.exitCode") != 0;
        waits = waits || (base::find_path(status, "state.waiting") != nullptr &&
                          base::find_path(status, "lastState.terminated") == nullptr);
    }
    if (all_over) return failed ? "Failed" : "Succeeded";
    return waits ? "Pending" : "Running";
}

// Containers (and sidecars) that are not ready.
std::string unready(const JsonObject& pod) {
    std::vector<std::string> names;
    for (const auto& container : base::get_array(pod, "spec.initContainers")) {
        if (role_of(container) != ContainerPlay::Role::sidecar) continue;
        const auto name = base::get_string(container, "name");
        const auto* status = status_named(base::get_array(pod, "status.initContainerStatuses"), name);
        if (status == nullptr || !base::get_bool(*status, "ready")) names.push_back(name);
    }
    for (const auto& status : base::get_array(pod, "status.containerStatuses")) {
        if (!base::get_bool(status, "ready")) names.push_back(base::get_string(status, "name"));
    }
    return base::join(names, " ");
}

std::string uninitialized(const JsonObject& pod) {
    std::vector<std::string> names;
    for (const auto& container : base::get_array(pod, "spec.initContainers")) {
        const auto name = base::get_string(container, "name");
        const auto* status = status_named(base::get_array(pod, "status.initContainerStatuses"), name);
        const bool sidecar = role_of(container) == ContainerPlay::Role::sidecar;
        const bool done = status != nullptr &&
                          (sidecar ? base::get_bool(*status, "started") : base::get_bool(*status, "ready"));
        if (!done) names.push_back(name);
    }
    return base::join(names, " ");
}

// The first readiness gate that nobody has opened.
std::string closed_gate(const JsonObject& pod) {
    for (const auto& gate : base::get_array(pod, "spec.readinessGates")) {
        const auto type = base::get_string(gate, "conditionType");
        if (!condition_is(pod, type, "True"))
            return "corresponding condition of pod readiness gate \"" + type + "\" " +
                   (condition_is(pod, type, "False") ? "is set to \"False\"" : "does not exist") + ".";
    }
    return {};
}

}  // namespace

ContainerPlay::Role role_of(const JsonValue& init_container) {
    return base::get_string(init_container, "restartPolicy") == "Always" ? ContainerPlay::Role::sidecar
                                                                         : ContainerPlay::Role::init;
}

void write_pod_state(JsonObject& pod, const PodState& state, base::TimePoint now) {
    const auto phase = phase_of(pod, state.initialized);
    const bool over = phase == "Succeeded" || phase == "Failed";
    const auto names = unready(pod);
    const auto gate = closed_gate(pod);
    const auto waiting = uninitialized(pod);
    object_at(pod, "status")["phase"] = phase;
    auto& conditions = conditions_of(pod);
    const bool containers_ready = !over && state.initialized && names.empty();
    const std::string reason = !over                  ? "ContainersNotReady"
                               : phase == "Succeeded" ? "PodCompleted"
                                                      : "PodFailed";
    const std::string message = over ? "" : "containers with unready status: [" + names + "]";
    set_condition(conditions, "PodReadyToStartContainers", state.sandbox && !over, "", "", now);
    const bool initialized = state.initialized || phase == "Succeeded";
    set_condition(conditions, "Initialized", initialized, initialized ? "" : "ContainersNotInitialized",
                  initialized ? "" : "containers with incomplete status: [" + waiting + "]", now);
    const bool ready = containers_ready && gate.empty();
    const bool by_gate = containers_ready && !gate.empty();
    set_condition(conditions, "Ready", ready,
                  ready     ? ""
                  : by_gate ? "ReadinessGatesNotReady"
                            : reason,
                  ready     ? ""
                  : by_gate ? gate
                            : message,
                  now);
    set_condition(conditions, "ContainersReady", containers_ready, containers_ready ? "" : reason,
                  containers_ready ? "" : message, now);
}

}  // namespace instantstart::twin::kube::controllers
