#include "twin/kube/controllers/pods/container_play.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/digest.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

using Step = ContainerLife::Step;

constexpr double kFirstBackOff = 10;  // seconds; the kubelet's, doubled up to the most
constexpr double kMostBackOff = 300;
constexpr double kSteadyRun = 600;  // a container that ran so long begins anew

double doubled(double seconds) {
    return seconds == 0 ? kFirstBackOff : std::min(kMostBackOff, seconds * 2);
}

std::string seconds_text(double seconds) {
    std::array<char, 32> out{};
    std::snprintf(out.data(), out.size(), "%.3gs", seconds);
    return out.data();
}

// "10s", "1m20s", "5m0s", as Go writes durations.
std::string go_duration(double seconds) {
    const auto whole = static_cast<std::int64_t>(seconds);
    if (whole < 60) return std::to_string(whole) + "s";
    return std::to_string(whole / 60) + "m" + std::to_string(whole % 60) + "s";
}

std::string qualified_pod(const JsonObject& pod) {
    return name_of(pod) + "_" + namespace_of(pod) + "(" + base::get_string(pod, "metadata.uid") + ")";
}

}  // namespace

JsonObject first_status(const JsonValue& container, std::string_view waits_for) {
    JsonObject out;
    out["name"] = base::get_string(container, "name");
    out["image"] = base::get_string(container, "image");
    out["imageID"] = "";
    out["restartCount"] = 0;
    out["ready"] = false;
    out["started"] = false;
    out["lastState"] = JsonObject();
    out["state"] = JsonObject{{"waiting", JsonObject{{"reason", waits_for}}}};
    return out;
}

Key PodLook::key() const {
    return {namespace_of(pod), name_of(pod)};
}

std::string PodLook::node() const {
    return base::get_string(pod, "spec.nodeName");
}

void PodLook::look_at(base::Duration due) {
    next = next ? std::min(*next, due) : due;
}

void PodLook::tell(std::string_view type, std::string_view reason, const std::string& message) const {
    env.events.write(pod, type, reason, message, "kubelet");
}

// True when `step` has waited its time; else the pod is looked at again then.
bool ContainerPlay::due(Step step, double seconds) {
    if (life_.step != step) {
        life_.step = step;
        life_.due = now() + look_.env.scaled(seconds);
    }
    if (life_.due <= now()) return true;
    look_.look_at(life_.due);
    return false;
}

void ContainerPlay::wait(std::string_view reason, std::string_view message) {
    JsonObject waiting{{"reason", reason}};
    if (!message.empty()) waiting["message"] = message;
    status_["state"] = JsonObject{{"waiting", std::move(waiting)}};
}

bool ContainerPlay::restarts(int code) const {
    const auto policy = base::get_string(look_.pod, "spec.restartPolicy", "Always");
    if (role_ == Role::sidecar) return true;
    if (role_ == Role::init) return code != 0 && policy != "Never";
    return policy == "Always" || (policy == "OnFailure" && code != 0);
}

bool ContainerPlay::is_over() const {
    const auto* ended = base::find_path(status_, "state.terminated");
    return ended != nullptr && !restarts(static_cast<int>(base::get_int(*ended, "exitCode")));
}

bool ContainerPlay::lets_others_begin() const {
    if (role_ == Role::sidecar) return is_running() && base::get_bool(status_, "started");
    return is_over() && base::get_int(status_, "state.terminated.exitCode") == 0;
}

void ContainerPlay::advance() {
    if (is_running()) return run();
    if (base::find_path(status_, "state.terminated") != nullptr) {
        if (!is_over()) come_back();
        return;
    }
    begin();
}

void ContainerPlay::begin() {
    // Its last run is over: it comes back in time.
    if (base::find_path(status_, "lastState.terminated") != nullptr) {
        if (due(Step::restart, life_.back_off)) start(true);
        return;
    }
    if (const auto failure = look_.images.failure_of(image())) return fail_pull(*failure);
    pull();
    if (life_.step != Step::create || !due(Step::create, 1)) return;
    const auto problem = config_problem();
    if (problem.empty()) return start(false);
    wait("CreateContainerConfigError", problem);
    look_.tell("Warning", "Failed", "Error: " + problem);
    life_.due = now() + look_.env.scaled(10);
    look_.look_at(life_.due);
}

void ContainerPlay::pull() {
    const auto policy = base::get_string(container_, "imagePullPolicy", "IfNotPresent");
    const bool here = look_.images.is_on(look_.node(), image());
    if (life_.step == Step::create) return;
    if (policy == "Never" && !here) {
        PullFailure absent;
        absent.reason = "ErrImageNeverPull";
        absent.message = "Container image \"" + image() + "\" is not present with pull policy of Never";
        return fail_pull(absent);
    }
    if (here && policy != "Always") {
        look_.tell("Normal", "Pulled", "Container image \"" + image() + "\" already present on machine");
        static_cast<void>(due(Step::create, 1));
        return;
    }
    const double seconds = here ? 0.4 : Images::pull_seconds(look_.node(), image());
    if (life_.step != Step::pull) {
        // It may have waited for its image before.
        if (base::get_string(status_, "state.waiting.reason") == "ImagePullBackOff" ||
            base::get_string(status_, "state.waiting.reason") == "ErrImagePull")
            wait("ContainerCreating", "");
        look_.tell("Normal", "Pulling", "Pulling image \"" + image() + "\"");
    }
    if (!due(Step::pull, seconds)) return;
    look_.images.put_on(look_.node(), image());
    const auto text = seconds_text(seconds);
    look_.tell("Normal", "Pulled",
               "Successfully pulled image \"" + image() + "\" in " + text + " (" + text +
                   " including waiting). Image size: " + std::to_string(Images::size_of(image())) +
                   " bytes.");
    life_.step = Step::none;
    static_cast<void>(due(Step::create, 0.5));
}

// The kubelet tries, fails, waits 10 s and twice as long each time; between the tries it says so.
void ContainerPlay::fail_pull(const PullFailure& failure) {
    if (failure.reason == "InvalidImageName" || failure.reason == "ErrImageNeverPull") {
        if (base::get_string(status_, "state.waiting.reason") == failure.reason) return;
        const bool invalid = failure.reason == "InvalidImageName";
        look_.tell("Warning", invalid ? "InspectFailed" : "ErrImageNeverPull", failure.message);
        look_.tell("Warning", "Failed", "Error: " + failure.reason);
        return wait(failure.reason, failure.message);
    }
    const auto waits = base::get_string(status_, "state.waiting.reason");
    if (waits == "ErrImagePull") {
        // Seen for a moment only.
        if (!due(Step::retry_pull, 2)) return;
        look_.tell("Normal", "BackOff", "Back-off pulling image \"" + image() + "\"");
        look_.tell("Warning", "Failed", "Error: ImagePullBackOff");
        wait("ImagePullBackOff",
             "Back-off pulling image \"" + image() + "\": ErrImagePull: " + failure.message);
        life_.pull_back_off = doubled(life_.pull_back_off);
        life_.step = Step::none;
        static_cast<void>(due(Step::retry_pull, life_.pull_back_off));
        return;
    }
    if (waits == "ImagePullBackOff" && !due(Step::retry_pull, kFirstBackOff)) return;
    look_.tell("Normal", "Pulling", "Pulling image \"" + image() + "\"");
    look_.tell("Warning", "Failed", "Failed to pull image \"" + image() + "\": " + failure.message);
    look_.tell("Warning", "Failed", "Error: ErrImagePull");
    wait("ErrImagePull", failure.message);
    life_.step = Step::none;
    static_cast<void>(due(Step::retry_pull, 2));
}

// What the environment of the container refers to and is not there.
std::string ContainerPlay::config_problem() const {
    const auto missing = [this](const JsonValue* ref, const Kind& kind, const char* singular) {
        if (ref == nullptr || base::get_bool(*ref, "optional")) return std::string();
        const auto object = base::get_string(*ref, "name");
        const auto found = look_.env.objects.get(kind, namespace_of(look_.pod), object);
        if (!found) return std::string(singular) + " \"" + object + "\" not found";
        const auto key = base::get_string(*ref, "key");
        if (key.empty() || base::get_object(*found, "data").contains(key) ||
            base::get_object(*found, "binaryData").contains(key))
            return std::string();
        return "couldn't find key " + key + " in " + (kind == kSecrets ? "Secret " : "ConfigMap ") +
               namespace_of(look_.pod) + "/" + object;
    };
    for (const auto& source : base::get_array(container_, "envFrom")) {
        auto problem = missing(base::find_path(source, "configMapRef"), kConfigMaps, "configmap");
        if (problem.empty()) problem = missing(base::find_path(source, "secretRef"), kSecrets, "secret");
        if (!problem.empty()) return problem;
    }
    for (const auto& variable : base::get_array(container_, "env")) {
        auto problem =
            missing(base::find_path(variable, "valueFrom.configMapKeyRef"), kConfigMaps, "configmap");
        if (problem.empty())
            problem = missing(base::find_path(variable, "valueFrom.secretKeyRef"), kSecrets, "secret");
        if (!problem.empty()) return problem;
    }
    return {};
}

void ContainerPlay::start(bool again) {
    const auto wall = base::format_time(look_.env.clock.now());
    const auto count = base::get_int(status_, "restartCount") + (again ? 1 : 0);
    if (again) {
        look_.tell("Normal", "Pulled", "Container image \"" + image() + "\" already present on machine");
        if (const auto* ended = base::find_path(status_, "state.terminated")) {
            const JsonValue last = *ended;
            status_["lastState"] = JsonObject{{"terminated", last}};
        }
    }
    const auto full = full_image_name(image());
    status_["image"] = image();
    status_["imageID"] = image().find('@') == std::string::npos ? "sha256:" + base::sha256_hex(full) : full;
    status_["restartCount"] = count;
    status_["containerID"] = "containerd://" + base::sha256_hex(base::get_string(look_.pod, "metadata.uid") +
                                                                name() + std::to_string(count));
    status_["state"] = JsonObject{{"running", JsonObject{{"startedAt", wall}}}};
    status_["started"] = false;
    status_["ready"] = false;
    life_.step = Step::none;
    life_.started = now();
    life_.knows_start = true;
    life_.told_unready = false;
    look_.logs.append(
        look_.key(), name(),
        {"starting " + image(), "node " + look_.node() + ", pod " + name_of(look_.pod), "ready"});
    look_.tell("Normal", "Created", "Created container: " + name());
    look_.tell("Normal", "Started", "Started container " + name());
    run();
}

void ContainerPlay::run() {
    if (!life_.knows_start) {
        // Found running after a restart of the twin: its probes have had their time, its work begins again.
        life_.started = now();
        life_.knows_start = true;
        if (base::get_bool(status_, "ready")) life_.started -= look_.env.scaled(3600);
    }
    const auto natural = role_ == Role::init      ? run_of_init_container(container_)
                         : role_ == Role::sidecar ? plain_run(container_)
                                                  : run_of_container(look_.pod, container_);
    if (natural) {
        const auto ends = life_.started + look_.env.scaled(std::max(1.0, natural->seconds));
        if (ends <= now()) return end(natural->code);
        look_.look_at(ends);
    }
    if (role_ != Role::init) check_probes();
}

// When a probe has said what it says: the first time it is asked, or when it has failed often enough.
base::Duration ContainerPlay::ready_at(const JsonValue& probe, bool failing) const {
    const auto period = static_cast<double>(base::get_int(probe, "periodSeconds", 10));
    const auto delay = static_cast<double>(base::get_int(probe, "initialDelaySeconds"));
    const auto times = static_cast<double>(failing ? base::get_int(probe, "failureThreshold", 3)
                                                   : base::get_int(probe, "successThreshold", 1));
    return life_.started + look_.env.scaled(delay + (failing ? times : times - 1) * period);
}

bool ContainerPlay::past(const JsonValue& probe, bool failing) const {
    const auto at = ready_at(probe, failing);
    if (at <= now()) return true;
    look_.look_at(at);
    return false;
}

void ContainerPlay::check_probes() {
    if (const auto* startup = base::find_path(container_, "startupProbe")) {
        const bool good = probe_succeeds(*startup);
        if (!base::get_bool(status_, "started") && !past(*startup, !good)) return;
        if (!good) return kill_by("Startup");
    }
    status_["started"] = true;
    if (const auto* readiness = base::find_path(container_, "readinessProbe")) {
        const bool good = probe_succeeds(*readiness);
        if (good) {
            status_["ready"] = base::get_bool(status_, "ready") || past(*readiness, false);
        } else if (past(*readiness, true) && !life_.told_unready) {
            life_.told_unready = true;
            look_.tell("Warning", "Unhealthy", "Readiness probe failed: ");
        }
    } else {
        status_["ready"] = true;
    }
    const auto* liveness = base::find_path(container_, "livenessProbe");
    if (liveness != nullptr && !probe_succeeds(*liveness) && past(*liveness, true)) kill_by("Liveness");
}

void ContainerPlay::kill_by(std::string_view probe) {
    look_.tell("Warning", "Unhealthy", std::string(probe) + " probe failed: ");
    const std::string lower = probe == "Startup" ? "startup" : "liveness";
    look_.tell("Normal", "Killing", "Container " + name() + " failed " + lower + " probe, will be restarted");
    end(137);
}

void ContainerPlay::end(int code, std::string_view reason) {
    const auto wall = base::format_time(look_.env.clock.now());
    JsonObject ended{{"exitCode", code},
                     {"reason", !reason.empty() ? std::string(reason)
                                : code == 0     ? "Completed"
                                                : "Error"},
                     {"startedAt", base::get_string(status_, "state.running.startedAt", wall)},
                     {"finishedAt", wall},
                     {"containerID", base::get_string(status_, "containerID")}};
    status_["state"] = JsonObject{{"terminated", std::move(ended)}};
    status_["started"] = false;
    // A finished init container is what "ready" means for it.
    status_["ready"] = role_ == Role::init && code == 0;
    life_.step = Step::none;
    if (!is_over()) come_back();
}

// The first restart comes at once; then each waits longer than the one before.
void ContainerPlay::come_back() {
    if (life_.step != Step::restart) {
        const bool steady = life_.knows_start && now() - life_.started >= look_.env.scaled(kSteadyRun);
        if (steady) life_.back_off = 0;
        const double delay = life_.back_off;
        if (delay > 0) {
            const JsonValue last = *base::find_path(status_, "state.terminated");
            status_["lastState"] = JsonObject{{"terminated", last}};
            wait("CrashLoopBackOff", "back-off " + go_duration(delay) + " restarting failed container=" +
                                         name() + " pod=" + qualified_pod(look_.pod));
            look_.tell(
                "Warning", "BackOff",
                "Back-off restarting failed container " + name() + " in pod " + qualified_pod(look_.pod));
        }
        static_cast<void>(due(Step::restart, std::max(delay, 1.0)));
        life_.back_off = doubled(delay);
        return;
    }
    if (due(Step::restart, 1)) start(true);
}

}  // namespace instantstart::twin::kube::controllers
