// DaemonSet: one pod on every node that may have it.
#include <algorithm>
#include <map>

#include "twin/kube/controllers/placement.h"
#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

// What the controller adds, so that its pods stay on nodes in trouble.
constexpr const char* kTolerated[][2] = {
    {"node.kubernetes.io/not-ready", "NoExecute"},
    {"node.kubernetes.io/unreachable", "NoExecute"},
    {"node.kubernetes.io/disk-pressure", "NoSchedule"},
    {"node.kubernetes.io/memory-pressure", "NoSchedule"},
    {"node.kubernetes.io/pid-pressure", "NoSchedule"},
    {"node.kubernetes.io/unschedulable", "NoSchedule"},
    {"node.kubernetes.io/network-unavailable", "NoSchedule"},
};

JsonObject template_spec(const JsonObject& set) {
    JsonObject spec = base::get_object(set, "spec.template.spec");
    const bool host_network = base::get_bool(spec, "hostNetwork");
    auto& tolerations = list_at(spec, "tolerations");
    for (const auto& [key, effect] : kTolerated) {
        if (std::string_view(key).ends_with("network-unavailable") && !host_network) continue;
        tolerations.push_back(JsonObject{{"key", key}, {"operator", "Exists"}, {"effect", effect}});
    }
    return spec;
}

void pin_to(JsonObject& spec, const std::string& node) {
    const JsonArray fields{
        JsonObject{{"key", "metadata.name"}, {"operator", "In"}, {"values", JsonArray{JsonValue(node)}}}};
    auto& required = object_at(object_at(object_at(spec, "affinity"), "nodeAffinity"),
                               "requiredDuringSchedulingIgnoredDuringExecution");
    auto& terms = list_at(required, "nodeSelectorTerms");
    if (terms.empty()) terms.push_back(JsonObject());
    for (auto& term : terms) {
        if (term.is_object()) term.get_object()["matchFields"] = fields;
    }
}

// A pod of the set that is not placed yet is pinned to its node by affinity.
std::string node_of(const JsonObject& pod) {
    auto bound = base::get_string(pod, "spec.nodeName");
    if (!bound.empty()) return bound;
    return base::get_string(pod,
                            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                            "nodeSelectorTerms.0.matchFields.0.values.0");
}

bool eligible(const JsonObject& spec, const JsonObject& node) {
    return matches_node_affinity(spec, node) && untolerated_taint(spec, node).empty();
}

bool stays(const JsonObject& spec, const JsonObject& node) {
    return matches_node_affinity(spec, node) && untolerated_taint(spec, node, true).empty();
}

}  // namespace

void DaemonSets::other_changed(const Change& change) {
    if (change.kind != kNodes) return;
    const bool same = change.type == Change::Type::modified && change.previous &&
                      base::get_object(*change.previous, "metadata.labels") ==
                          base::get_object(*change.object, "metadata.labels") &&
                      base::get_object(*change.previous, "spec") == base::get_object(*change.object, "spec");
    if (same) return;
    for (const auto& set : env_.objects.list(kDaemonSets))
        env_.queue.add(this, Key(namespace_of(*set), name_of(*set)));
}

void DaemonSets::create_pod(const JsonObject& set, const std::string& node, const std::string& revision) {
    JsonObject pod =
        pod_from_template(base::get_object(set, "spec.template"), namespace_of(set),
                          env_.name_after(name_of(set) + "-"), owner_reference("apps/v1", "DaemonSet", set));
    metadata_of(pod)["generateName"] = name_of(set) + "-";
    auto& labels = object_at(metadata_of(pod), "labels");
    labels["controller-revision-hash"] = revision;
    labels["pod-template-generation"] = std::to_string(base::get_int(set, "metadata.generation", 1));
    JsonObject spec = template_spec(set);
    pin_to(spec, node);
    pod["spec"] = std::move(spec);
    const auto name = name_of(pod);
    if (env_.create(kPods, std::move(pod))) {
        env_.events.write(set, "Normal", "SuccessfulCreate", "Created pod: " + name, "daemonset-controller");
    }
}

void DaemonSets::sync_object(const JsonObject& set) {
    const auto revision = short_hash(base::get_object(set, "spec.template"));
    const JsonObject spec = template_spec(set);
    std::map<std::string, ObjectPtr> by_node;
    for (const auto& pod : pods_of(set)) {
        auto& one = by_node[node_of(*pod)];
        if (one || is_finished(*pod)) {
            env_.remove(kPods, Key(namespace_of(*pod), name_of(*pod)));
        } else {
            one = pod;
        }
    }
    std::int64_t desired = 0, current = 0, misplaced = 0, ready = 0, updated = 0;
    std::vector<ObjectPtr> outdated;
    for (const auto& node : env_.objects.list(kNodes)) {
        const auto name = name_of(*node);
        const auto found = by_node.find(name);
        const auto pod = found == by_node.end() ? nullptr : found->second;
        if (found != by_node.end()) by_node.erase(found);
        const bool wanted = eligible(spec, *node);
        if (wanted) ++desired;
        if (!pod) {
            if (wanted) create_pod(set, name, revision);
            continue;
        }
        if (!wanted) {
            ++misplaced;
            if (!stays(spec, *node)) env_.remove(kPods, Key(namespace_of(*pod), name_of(*pod)));
            continue;
        }
        ++current;
        if (is_ready(*pod) && !is_terminating(*pod)) ++ready;
        const auto& labels = base::get_object(*pod, "metadata.labels");
        if (base::get_string(labels, "controller-revision-hash") == revision) {
            ++updated;
        } else if (!is_terminating(*pod)) {
            outdated.push_back(pod);
        }
    }
    for (const auto& [node, pod] : by_node) {
        if (pod) env_.remove(kPods, Key(namespace_of(*pod), name_of(*pod)));
    }
    if (base::get_string(set, "spec.updateStrategy.type", "RollingUpdate") == "RollingUpdate") {
        const auto most = share_of(base::find_path(set, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
                                   desired, true, 1);
        std::int64_t may = std::max<std::int64_t>(most, 1) - (desired - ready);
        for (const auto& pod : outdated) {
            if (is_ready(*pod) && may-- <= 0) continue;
            env_.remove(kPods, Key(namespace_of(*pod), name_of(*pod)));
        }
    }
    JsonObject status;
    status["desiredNumberScheduled"] = desired;
    status["currentNumberScheduled"] = current;
    status["numberMisscheduled"] = misplaced;
    status["numberReady"] = ready;
    status["updatedNumberScheduled"] = updated;
    if (ready > 0) status["numberAvailable"] = ready;
    if (desired > ready) status["numberUnavailable"] = desired - ready;
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
