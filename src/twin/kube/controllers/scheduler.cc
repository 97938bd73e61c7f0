#include "twin/kube/controllers/scheduler.h"

#include <map>

#include "base/text.h"
#include "twin/kube/controllers/placement.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool wants_scheduling(const JsonObject& pod) {
    return base::get_string(pod, "spec.nodeName").empty() && !is_terminating(pod) && !is_finished(pod) &&
           base::get_array(pod, "spec.schedulingGates").empty() &&
           base::get_string(pod, "spec.schedulerName", "default-scheduler") == "default-scheduler";
}

// What of a node matters for placement.
bool placement_changed(const Change& change) {
    if (!change.previous || change.type == Change::Type::deleted) return true;
    for (const char* path : {"metadata.labels", "spec", "status.allocatable"}) {
        const auto* before = base::find_path(*change.previous, path);
        const auto* after = base::find_path(*change.object, path);
        const bool both = before != nullptr && after != nullptr;
        if (both ? *before != *after : before != after) return true;
    }
    return false;
}

std::string explain(std::size_t nodes, const std::map<std::string, int>& reasons) {
    if (nodes == 0) return "no nodes available to schedule pods";
    std::vector<std::string> parts;
    for (const auto& [reason, count] : reasons) parts.push_back(std::to_string(count) + " " + reason);
    std::sort(parts.begin(), parts.end());
    const std::string head = "0/" + std::to_string(nodes) + " nodes are available: ";
    return head + base::join(parts, ", ") + ". preemption: " + head + std::to_string(nodes) +
           " Preemption is not helpful for scheduling.";
}

}  // namespace

void Scheduler::changed(const Change& change) {
    if (change.kind == kPods) {
        const Key key(namespace_of(*change.object), name_of(*change.object));
        if (change.type == Change::Type::deleted) {
            waiting_.erase(key);
            if (!base::get_string(*change.object, "spec.nodeName").empty()) wake_waiting();
            return;
        }
        const bool ended = change.previous && is_finished(*change.object) && !is_finished(*change.previous);
        if (ended) wake_waiting();
        // Its own note that it found no node is no reason to try again.
        if (wants_scheduling(*change.object) && !waiting_.contains(key)) env_.queue.add(this, key);
    } else if (change.kind == kNodes && placement_changed(change)) {
        wake_waiting();
    } else if (change.kind == kClaims || change.kind == kVolumes) {
        wake_waiting();
    }
}

void Scheduler::wake_waiting() {
    for (const auto& key : waiting_) env_.queue.add(this, key);
}

// A claim that must be bound before its pod may be placed.
std::string Scheduler::claims_problem(const JsonObject& pod) const {
    for (const auto& volume : base::get_array(pod, "spec.volumes")) {
        const auto name = base::get_string(volume, "persistentVolumeClaim.claimName");
        if (name.empty()) continue;
        const auto claim = env_.get(kClaims, Key(namespace_of(pod), name));
        if (!claim) return "persistentvolumeclaim \"" + name + "\" not found";
        if (base::get_string(*claim, "status.phase") == "Bound") continue;
        const auto storage = env_.get(Kind("storage.k8s.io", "storageclasses"),
                                      Key("", base::get_string(*claim, "spec.storageClassName")));
        const bool first_consumer =
            storage && base::get_string(*storage, "volumeBindingMode") == "WaitForFirstConsumer" &&
            base::get_string(*claim, "spec.volumeName").empty();
        if (!first_consumer) return "pod has unbound immediate PersistentVolumeClaims";
    }
    return {};
}

void Scheduler::choose_volumes_node(const JsonObject& pod, const std::string& node) {
    for (const auto& volume : base::get_array(pod, "spec.volumes")) {
        const auto name = base::get_string(volume, "persistentVolumeClaim.claimName");
        const auto claim = name.empty() ? nullptr : env_.get(kClaims, Key(namespace_of(pod), name));
        if (!claim || base::get_string(*claim, "status.phase") == "Bound") continue;
        JsonObject next = *claim;
        object_at(metadata_of(next), "annotations")["volume.kubernetes.io/selected-node"] = node;
        env_.write(kClaims, std::move(next));
    }
}

// All nodes; for a pod pinned to one by name only that one.
std::vector<ObjectPtr> Scheduler::candidates(const JsonObject& pod) const {
    const auto& terms = base::get_array(
        pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    const auto pinned =
        terms.size() == 1 ? base::get_string(terms[0], "matchFields.0.values.0") : std::string();
    if (pinned.empty()) return env_.objects.list(kNodes);
    const auto node = env_.objects.get(kNodes, "", pinned);
    return node ? std::vector<ObjectPtr>{node} : std::vector<ObjectPtr>();
}

void Scheduler::sync(const Key& key) {
    const auto pod = env_.get(kPods, key);
    waiting_.erase(key);
    if (!pod || !wants_scheduling(*pod)) return;
    const auto nodes = candidates(*pod);
    if (const auto problem = claims_problem(*pod); !problem.empty()) {
        return refuse(*pod, "0/" + std::to_string(nodes.size()) + " nodes are available: " + problem +
                                ". preemption: 0/" + std::to_string(nodes.size()) + " nodes are available: " +
                                std::to_string(nodes.size()) + " Preemption is not helpful for scheduling.");
    }
    const Amounts requests = pod_requests(*pod);
    std::map<std::string, int> reasons;
    std::string best;
    std::int64_t fewest = 0;
    for (const auto& node : nodes) {
        const auto name = name_of(*node);
        const auto why = refusals(*pod, requests, *node, env_.index.used_on(name));
        for (const auto& reason : why) ++reasons[reason];
        if (!why.empty()) continue;
        const auto pods = static_cast<std::int64_t>(env_.index.pods_on(name).size());
        if (!best.empty() && pods >= fewest) continue;
        best = name;
        fewest = pods;
    }
    if (best.empty()) return refuse(*pod, explain(nodes.size(), reasons));
    choose_volumes_node(*pod, best);
    bind(*pod, best);
}

void Scheduler::bind(const JsonObject& pod, const std::string& node) {
    JsonObject next = pod;
    object_at(next, "spec")["nodeName"] = node;
    set_condition(conditions_of(next), "PodScheduled", true, "", "", env_.clock.now());
    env_.write(kPods, std::move(next));
    env_.events.write(pod, "Normal", "Scheduled",
                      "Successfully assigned " + namespace_of(pod) + "/" + name_of(pod) + " to " + node,
                      "default-scheduler");
}

void Scheduler::refuse(const JsonObject& pod, const std::string& message) {
    waiting_.emplace(namespace_of(pod), name_of(pod));
    JsonObject next = pod;
    set_condition(conditions_of(next), "PodScheduled", false, "Unschedulable", message, env_.clock.now());
    env_.write(kPods, std::move(next));
    env_.events.write(pod, "Warning", "FailedScheduling", message, "default-scheduler");
}

}  // namespace instantstart::twin::kube::controllers
