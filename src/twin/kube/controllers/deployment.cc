// Deployment: replica sets, one for each template, moved from the old to the new.
#include <algorithm>
#include <cstdlib>

#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";

std::int64_t revision_number(const JsonObject& object) {
    const auto* value = base::get_object(object, "metadata.annotations").if_contains(kRevision);
    return value != nullptr && value->is_string() ? std::strtoll(value->get_string().c_str(), nullptr, 10)
                                                  : 0;
}

std::string hash_of_set(const JsonObject& set) {
    return base::get_string(base::get_object(set, "metadata.labels"), "pod-template-hash");
}

std::int64_t sum(const std::vector<ObjectPtr>& sets, std::string_view path) {
    std::int64_t total = 0;
    for (const auto& set : sets) total += base::get_int(*set, path);
    return total;
}

std::int64_t available_of(const JsonObject& set) {
    return std::min(base::get_int(set, "spec.replicas"), base::get_int(set, "status.availableReplicas"));
}

}  // namespace

std::vector<ObjectPtr> Deployments::sets_of(const JsonObject& object) const {
    std::vector<ObjectPtr> sets;
    for (const auto& name : env_.index.dependents_of(base::get_string(object, "metadata.uid"))) {
        if (name.kind != kReplicaSets) continue;
        auto set = env_.get(kReplicaSets, name.key);
        if (set && !is_terminating(*set)) sets.push_back(std::move(set));
    }
    return sets;
}

ObjectPtr Deployments::new_set(const JsonObject& object, const std::string& hash, std::int64_t revision) {
    JsonObject set;
    set["apiVersion"] = "apps/v1";
    set["kind"] = "ReplicaSet";
    JsonObject labels = base::get_object(object, "spec.template.metadata.labels");
    labels["pod-template-hash"] = hash;
    JsonObject& metadata = metadata_of(set);
    metadata["name"] = name_of(object) + "-" + hash;
    metadata["namespace"] = namespace_of(object);
    metadata["labels"] = labels;
    metadata["annotations"] = JsonObject{{kRevision, std::to_string(revision)}};
    metadata["ownerReferences"] = JsonArray{owner_reference("apps/v1", "Deployment", object)};
    JsonObject selector = base::get_object(object, "spec.selector");
    object_at(selector, "matchLabels")["pod-template-hash"] = hash;
    JsonObject pod_template = base::get_object(object, "spec.template");
    object_at(object_at(pod_template, "metadata"), "labels")["pod-template-hash"] = hash;
    set["spec"] =
        JsonObject{{"replicas", 0}, {"selector", std::move(selector)}, {"template", std::move(pod_template)}};
    auto made = env_.objects.create(kReplicaSets, std::move(set));
    return made ? *made : nullptr;
}

void Deployments::scale(const JsonObject& object, const JsonObject& set, std::int64_t replicas) {
    const auto before = base::get_int(set, "spec.replicas");
    if (before == replicas) return;
    env_.events.write(object, "Normal", "ScalingReplicaSet",
                      std::string("Scaled ") + (replicas > before ? "up" : "down") + " replica set " +
                          name_of(set) + " from " + std::to_string(before) + " to " +
                          std::to_string(replicas),
                      "deployment-controller");
    JsonObject next = set;
    metadata_of(next).erase("resourceVersion");
    object_at(next, "spec")["replicas"] = replicas;
    env_.write(kReplicaSets, std::move(next));
}

// Moves replicas to the new set, within the bounds of surge and unavailability.
void Deployments::roll(const JsonObject& object, const JsonObject& current,
                       const std::vector<ObjectPtr>& sets) {
    const std::int64_t wanted = base::get_int(object, "spec.replicas", 1);
    std::vector<ObjectPtr> old;
    for (const auto& set : sets) {
        if (name_of(*set) != name_of(current)) old.push_back(set);
    }
    if (base::get_string(object, "spec.strategy.type", "RollingUpdate") == "Recreate") {
        for (const auto& set : old) scale(object, *set, 0);
        if (sum(old, "status.replicas") == 0 && sum(old, "spec.replicas") == 0)
            scale(object, current, wanted);
        return;
    }
    std::int64_t surge =
        share_of(base::find_path(object, "spec.strategy.rollingUpdate.maxSurge"), wanted, true, 1);
    const std::int64_t lack =
        share_of(base::find_path(object, "spec.strategy.rollingUpdate.maxUnavailable"), wanted, false, 0);
    if (surge == 0 && lack == 0) surge = 1;
    const std::int64_t now = base::get_int(current, "spec.replicas");
    const std::int64_t others = sum(old, "spec.replicas");
    const std::int64_t room = wanted + surge - others - now;
    std::int64_t target = now > wanted ? wanted : std::min(wanted, now + std::max<std::int64_t>(room, 0));
    scale(object, current, target);
    // Old ones go as far as enough stay available without them; those that are not available go first. What
    // was scaled down a moment ago may still show in the status: no set counts for more than it is to have.
    const std::int64_t least = wanted - lack;
    const std::int64_t coming =
        std::max<std::int64_t>(0, now - base::get_int(current, "status.availableReplicas"));
    std::int64_t may = others + now - least - coming;
    std::int64_t available = std::min(now, base::get_int(current, "status.availableReplicas"));
    for (const auto& set : old) available += available_of(*set);
    for (const auto& set : old) {
        const std::int64_t replicas = base::get_int(*set, "spec.replicas");
        const std::int64_t broken = std::min(replicas - available_of(*set), std::max<std::int64_t>(may, 0));
        const std::int64_t spare =
            std::clamp<std::int64_t>(std::min(may - broken, available - least), 0, available_of(*set));
        may -= broken + spare;
        available -= spare;
        scale(object, *set, replicas - broken - spare);
    }
}

void Deployments::write_status(const JsonObject& object, const JsonObject& current,
                               const std::vector<ObjectPtr>& sets) {
    const std::int64_t wanted = base::get_int(object, "spec.replicas", 1);
    const std::int64_t replicas = sum(sets, "status.replicas");
    const std::int64_t ready = sum(sets, "status.readyReplicas");
    const std::int64_t available = sum(sets, "status.availableReplicas");
    const std::int64_t updated = base::get_int(current, "status.replicas");
    JsonObject status;
    if (replicas > 0) status["replicas"] = replicas;
    if (updated > 0) status["updatedReplicas"] = updated;
    if (ready > 0) status["readyReplicas"] = ready;
    if (available > 0) status["availableReplicas"] = available;
    if (wanted > available) status["unavailableReplicas"] = wanted - available;
    JsonArray conditions = base::get_array(object, "status.conditions");
    const auto now = env_.clock.now();
    const std::int64_t lack =
        share_of(base::find_path(object, "spec.strategy.rollingUpdate.maxUnavailable"), wanted, false, 0);
    const bool enough = available >= wanted - lack;
    set_condition(
        conditions, "Available", enough, enough ? "MinimumReplicasAvailable" : "MinimumReplicasUnavailable",
        enough ? "Deployment has minimum availability." : "Deployment does not have minimum availability.",
        now);
    const bool complete = updated == wanted && replicas == wanted && available == wanted;
    tell_progress(object, current, complete, updated + ready + available - replicas, conditions);
    for (auto& condition : conditions) {
        if (base::find_path(condition, "lastUpdateTime") == nullptr && condition.is_object())
            condition.get_object()["lastUpdateTime"] = base::get_string(condition, "lastTransitionTime");
    }
    status["conditions"] = std::move(conditions);
    put_status(object, std::move(status));
}

// Whether it gets on: each step gives it progressDeadlineSeconds for the next one.
void Deployments::tell_progress(const JsonObject& object, const JsonObject& current, bool complete,
                                std::int64_t measure, JsonArray& conditions) {
    const auto now = env_.clock.now();
    const auto uid = base::get_string(object, "metadata.uid");
    const std::string set = "ReplicaSet \"" + name_of(current) + "\"";
    const auto failure = base::get_string(current, "status.conditions.0.message");
    if (!failure.empty()) {
        set_condition(conditions, "ReplicaFailure", true, "FailedCreate", failure, now);
    } else {
        conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                        [](const JsonValue& one) {
                                            return base::get_string(one, "type") == "ReplicaFailure";
                                        }),
                         conditions.end());
    }
    if (base::get_bool(object, "spec.paused")) {
        progress_.erase(uid);
        if (!complete)
            set_condition(conditions, "Progressing", false, "DeploymentPaused", "Deployment is paused", now);
        return;
    }
    if (complete) {
        progress_.erase(uid);
        set_condition(conditions, "Progressing", true, "NewReplicaSetAvailable",
                      set + " has successfully progressed.", now);
        return;
    }
    auto& progress = progress_[uid];
    const bool moved = progress.set != name_of(current) || measure > progress.measure;
    if (moved) progress.since = env_.clock.monotonic();
    progress.set = name_of(current);
    progress.measure = measure;
    const auto seconds = base::get_int(object, "spec.progressDeadlineSeconds", 600);
    const auto left = progress.since + env_.scaled(static_cast<double>(seconds)) - env_.clock.monotonic();
    if (left > base::Duration::zero()) {
        env_.queue.add_after(this, Key(namespace_of(object), name_of(object)), left);
        // Once too late, only a step puts it right.
        if (moved || !condition_is(object, "Progressing", "False"))
            set_condition(conditions, "Progressing", true, "ReplicaSetUpdated", set + " is progressing.",
                          now);
    } else {
        set_condition(conditions, "Progressing", false, "ProgressDeadlineExceeded",
                      set + " has timed out progressing.", now);
    }
}

void Deployments::rescale(double factor) {
    const auto now = env_.clock.monotonic();
    for (auto& [uid, progress] : progress_) progress.since = now - scale_left(now - progress.since, factor);
}

void Deployments::sync_object(const JsonObject& object) {
    const auto hash = short_hash(base::get_object(object, "spec.template"));
    auto sets = sets_of(object);
    ObjectPtr current;
    std::int64_t newest = 0;
    for (const auto& set : sets) {
        newest = std::max(newest, revision_number(*set));
        if (hash_of_set(*set) == hash) current = set;
    }
    if (!current) {
        current = new_set(object, hash, newest + 1);
        if (!current) return;
        sets.push_back(current);
        ++newest;
    }
    // A template that was in use before becomes the newest again (kubectl rollout undo).
    std::int64_t others = 0;
    for (const auto& set : sets) {
        if (set != current) others = std::max(others, revision_number(*set));
    }
    const auto wanted = std::max(revision_number(*current), others + 1);
    const auto number_it = [&](const Kind& kind, const JsonObject& one) {
        if (revision_number(one) == wanted) return false;
        JsonObject next = one;
        object_at(metadata_of(next), "annotations")[kRevision] = std::to_string(wanted);
        env_.write(kind, std::move(next));
        return true;  // its change brings us back
    };
    if (number_it(kReplicaSets, *current) || number_it(kDeployments, object)) return;
    const auto ready_for = base::get_int(object, "spec.minReadySeconds");
    if (base::get_int(*current, "spec.minReadySeconds") != ready_for) {
        JsonObject next = *current;
        object_at(next, "spec")["minReadySeconds"] = ready_for;
        return env_.write(kReplicaSets, std::move(next));  // its change brings us back
    }
    if (!base::get_bool(object, "spec.paused")) roll(object, *current, sets);
    write_status(object, *current, sets);
    drop_old(object, *current, sets);
}

void Deployments::drop_old(const JsonObject& object, const JsonObject& current,
                           const std::vector<ObjectPtr>& sets) {
    const auto keep = static_cast<std::size_t>(base::get_int(object, "spec.revisionHistoryLimit", 10));
    std::vector<ObjectPtr> idle;
    for (const auto& set : sets) {
        const bool empty =
            base::get_int(*set, "spec.replicas") == 0 && base::get_int(*set, "status.replicas") == 0;
        if (name_of(*set) != name_of(current) && empty) idle.push_back(set);
    }
    std::sort(idle.begin(), idle.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
        return revision_number(*a) < revision_number(*b);
    });
    for (std::size_t i = 0; i + keep < idle.size(); ++i)
        env_.remove(kReplicaSets, Key(namespace_of(*idle[i]), name_of(*idle[i])));
}

}  // namespace instantstart::twin::kube::controllers
