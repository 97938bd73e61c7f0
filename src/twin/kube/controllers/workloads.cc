#include "twin/kube/controllers/workloads.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

// What happens inside a running pod is no matter to its owner.
bool same_for_owner(const Change& change) {
    if (change.kind != kPods || change.type != Change::Type::modified || !change.previous) return false;
    const auto& before = *change.previous;
    const auto& after = *change.object;
    const auto* ends = base::find_path(before, "metadata.finalizers");
    const auto* held = base::find_path(after, "metadata.finalizers");
    return is_ready(before) == is_ready(after) && is_terminating(before) == is_terminating(after) &&
           is_finished(before) == is_finished(after) && (ends == nullptr) == (held == nullptr) &&
           base::get_object(before, "metadata.labels") == base::get_object(after, "metadata.labels") &&
           base::get_int(before, "status.containerStatuses.0.restartCount") ==
               base::get_int(after, "status.containerStatuses.0.restartCount");
}

}  // namespace

void WorkloadController::changed(const Change& change) {
    if (change.kind == kind_) {
        if (change.type != Change::Type::deleted) {
            env_.queue.add(this, Key(namespace_of(*change.object), name_of(*change.object)));
        } else {
            failures_.erase(base::get_string(*change.object, "metadata.uid"));
            other_changed(change);
        }
        return;
    }
    if (change.kind == child_ && !same_for_owner(change)) {
        for (const auto& owner : base::get_array(*change.object, "metadata.ownerReferences")) {
            if (!base::get_bool(owner, "controller") || base::get_string(owner, "kind") != owner_kind_)
                continue;
            child_changed(base::get_string(owner, "uid"), change);
            const auto children = env_.index.pods_of(base::get_string(owner, "uid")).size();
            env_.queue.add_after(this, Key(namespace_of(*change.object), base::get_string(owner, "name")),
                                 gathering(children));
        }
    }
    other_changed(change);
}

base::Duration WorkloadController::gathering(std::size_t children) const {
    if (children < 500) return base::Duration::zero();
    return env_.scaled(std::min(5.0, static_cast<double>(children) / 1000.0));
}

void WorkloadController::sync(const Key& key) {
    const auto object = env_.get(kind_, key);
    if (object && !is_terminating(*object)) sync_object(*object);
}

std::vector<ObjectPtr> WorkloadController::pods_of(const JsonObject& object) const {
    std::vector<ObjectPtr> pods;
    for (const auto& key : env_.index.pods_of(base::get_string(object, "metadata.uid"))) {
        if (auto pod = env_.get(kPods, key)) pods.push_back(std::move(pod));
    }
    return pods;
}

void WorkloadController::put_status(const JsonObject& object, JsonObject status) {
    status["observedGeneration"] = base::get_int(object, "metadata.generation", 1);
    if (base::get_object(object, "status") == status) return;  // most looks find nothing new
    JsonObject next = object;
    metadata_of(next).erase("resourceVersion");
    next["status"] = std::move(status);
    env_.write(kind_, std::move(next));
}

bool WorkloadController::create_child(const JsonObject& owner, JsonObject pod, std::string_view component) {
    const auto uid = base::get_string(owner, "metadata.uid");
    const auto now = env_.clock.monotonic();
    const Key key(namespace_of(owner), name_of(owner));
    const auto name = name_of(pod);
    if (const auto failed = failures_.find(uid);
        failed != failures_.end() && failed->second.not_before > now) {
        env_.queue.add_after(this, key, failed->second.not_before - now);
        return false;
    }
    const auto made = env_.admit_and_create(kPods, std::move(pod));
    if (made) {
        failures_.erase(uid);
        env_.events.write(owner, "Normal", "SuccessfulCreate", "Created pod: " + name, component);
        return true;
    }
    auto& failures = failures_[uid];
    failures.message = made.error().message;
    const double wait = static_cast<double>(1 << std::min(failures.count++, 10));
    failures.not_before = now + env_.scaled(wait);
    env_.queue.add_after(this, key, env_.scaled(wait));
    env_.events.write(owner, "Warning", "FailedCreate", "Error creating: " + failures.message, component);
    return false;
}

std::string WorkloadController::creation_failure(const JsonObject& owner) const {
    const auto found = failures_.find(base::get_string(owner, "metadata.uid"));
    return found == failures_.end() ? std::string() : found->second.message;
}

bool WorkloadController::is_available(const JsonObject& owner, const JsonObject& pod) {
    if (!is_ready(pod)) return false;
    const auto seconds = base::get_int(owner, "spec.minReadySeconds");
    if (seconds <= 0) return true;
    for (const auto& condition : base::get_array(pod, "status.conditions")) {
        if (base::get_string(condition, "type") != "Ready") continue;
        const auto since = base::parse_time(base::get_string(condition, "lastTransitionTime"));
        if (!since) return true;
        const base::Duration left = *since + env_.scaled(static_cast<double>(seconds)) - env_.clock.now();
        if (left <= base::Duration::zero()) return true;
        env_.queue.add_after(this, Key(namespace_of(owner), name_of(owner)), left);
    }
    return false;
}

}  // namespace instantstart::twin::kube::controllers
