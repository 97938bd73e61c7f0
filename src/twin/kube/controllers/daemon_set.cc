// DaemonSet: one pod on every node that may have it.
#include <algorithm>
#include <map>

#include "twin/kube/controllers/revisions.h"
#include "twin/kube/controllers/scheduling/node_match.h"
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

bool stays(const JsonObject& spec, const NodeFacts& node) {
    return matches_node_affinity(spec, node) &&
           untolerated_taint(base::get_array(spec, "tolerations"), node, true) == nullptr;
}

bool eligible(const JsonObject& spec, const NodeFacts& node) {
    return matches_node_affinity(spec, node) &&
           untolerated_taint(base::get_array(spec, "tolerations"), node) == nullptr;
}

}  // namespace

void DaemonSets::Tally::add(const Tally& other, std::int64_t sign) {
    desired += sign * other.desired;
    current += sign * other.current;
    misplaced += sign * other.misplaced;
    ready += sign * other.ready;
    available += sign * other.available;
    updated += sign * other.updated;
}

void DaemonSets::other_changed(const Change& change) {
    if (change.kind == kDaemonSets) states_.erase(base::get_string(*change.object, "metadata.uid"));
    if (change.kind != kNodes) return;
    const bool same = change.type == Change::Type::modified && change.previous &&
                      base::get_object(*change.previous, "metadata.labels") ==
                          base::get_object(*change.object, "metadata.labels") &&
                      base::get_object(*change.previous, "spec") == base::get_object(*change.object, "spec");
    if (same) return;
    for (const auto& set : env_.objects.list(kDaemonSets)) {
        states_[base::get_string(*set, "metadata.uid")].dirty.insert(name_of(*change.object));
        env_.queue.add(this, Key(namespace_of(*set), name_of(*set)));
    }
}

void DaemonSets::child_changed(const std::string& owner_uid, const Change& change) {
    State& state = states_[owner_uid];
    const Key key(namespace_of(*change.object), name_of(*change.object));
    const auto node = node_of(*change.object);
    auto& pods = state.pods[node];
    if (change.type == Change::Type::deleted) {
        pods.erase(key);
        state.outdated.erase(key);
        if (pods.empty()) state.pods.erase(node);
    } else {
        pods.insert(key);
    }
    state.dirty.insert(node);
}

bool DaemonSets::create_pod(const JsonObject& set, const std::string& node, const std::string& revision) {
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
    return create_child(set, std::move(pod), "daemonset-controller");
}

// A pod that has failed is made anew.
void DaemonSets::replace_failed(const JsonObject& set, const JsonObject& pod) {
    const auto name = name_of(pod);
    env_.events.write(set, "Warning", "FailedDaemonPod",
                      "Found failed daemon pod " + namespace_of(pod) + "/" + name + " on node " +
                          base::get_string(pod, "spec.nodeName") + ", will try to kill it",
                      "daemonset-controller");
    env_.remove(kPods, Key(namespace_of(pod), name));
}

void DaemonSets::remove_pod(const JsonObject& set, const JsonObject& pod) {
    if (is_terminating(pod)) return;
    const auto name = name_of(pod);
    env_.remove(kPods, Key(namespace_of(pod), name));
    env_.events.write(set, "Normal", "SuccessfulDelete", "Deleted pod: " + name, "daemonset-controller");
}

// The set's pod on the node; one too many, or one that has ended, goes.
ObjectPtr DaemonSets::pod_on(const JsonObject& set, State& state, const std::string& node) {
    const auto found = state.pods.find(node);
    if (found == state.pods.end()) return nullptr;
    ObjectPtr one;
    const auto keys = found->second;  // a copy: what goes changes it
    for (const auto& key : keys) {
        const auto pod = env_.get(kPods, key);
        if (!pod) continue;
        if (is_finished(*pod)) {
            if (!is_terminating(*pod)) replace_failed(set, *pod);
        } else if (one) {
            remove_pod(set, *pod);
        } else {
            one = pod;
        }
    }
    return one;
}

DaemonSets::Tally DaemonSets::look_at_pod(const JsonObject& set, State& state, const ObjectPtr& pod,
                                          const std::string& revision) {
    Tally out;
    const Key key(namespace_of(*pod), name_of(*pod));
    const bool serves = !is_terminating(*pod);
    out.current = 1;
    if (serves && is_ready(*pod)) out.ready = 1;
    if (serves && is_available(set, *pod)) out.available = 1;
    const auto& labels = base::get_object(*pod, "metadata.labels");
    if (base::get_string(labels, "controller-revision-hash") == revision) {
        out.updated = 1;
        state.outdated.erase(key);
    } else if (serves) {
        state.outdated.insert(key);
    }
    return out;
}

// At most so many pods are made in one look, as kube-controller-manager bursts; the next look goes on.
void DaemonSets::look_at_nodes(const JsonObject& set, State& state) {
    constexpr int kBurst = 250;
    const auto revision = revision_hash(set);
    const JsonObject spec = template_spec(set);
    int may_make = kBurst;
    std::set<std::string> left;
    const auto names = std::move(state.dirty);
    state.dirty.clear();
    for (const auto& name : names) {
        const auto* node = env_.index.nodes().find(name);
        auto pod = pod_on(set, state, name);
        Tally now;
        if (node == nullptr) {
            // Of a node that is gone: one that was placed is the collector's.
            if (pod && base::get_string(*pod, "spec.nodeName").empty()) remove_pod(set, *pod);
        } else if (eligible(spec, *node)) {
            if (pod) {
                now = look_at_pod(set, state, pod, revision);
            } else if (may_make-- <= 0 || !create_pod(set, name, revision)) {
                left.insert(name);
            }
            now.desired = 1;
        } else if (pod) {
            now.misplaced = 1;
            if (!stays(spec, *node)) remove_pod(set, *pod);
        }
        state.sum.add(state.nodes[name], -1);
        state.sum.add(now, 1);
        state.nodes[name] = now;
        if (node == nullptr && !pod) state.nodes.erase(name);
    }
    if (may_make < 0) env_.queue.add(this, Key(namespace_of(set), name_of(set)));
    state.dirty.insert(left.begin(), left.end());
}

// Outdated pods go as far as enough others serve; those that do not serve go first.
void DaemonSets::update(const JsonObject& set, State& state) {
    if (state.outdated.empty() ||
        base::get_string(set, "spec.updateStrategy.type", "RollingUpdate") != "RollingUpdate")
        return;
    const auto most = share_of(base::find_path(set, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
                               state.sum.desired, true, 1);
    std::int64_t may = std::max<std::int64_t>(most, 1) - (state.sum.desired - state.sum.available);
    const auto outdated = state.outdated;
    for (const auto& key : outdated) {
        const auto pod = env_.get(kPods, key);
        if (!pod || is_terminating(*pod)) continue;
        if (is_available(set, *pod) && may-- <= 0) continue;
        remove_pod(set, *pod);
    }
}

void DaemonSets::sync_object(const JsonObject& set) {
    const auto kept = current_revision(env_, set, "DaemonSet");
    State& state = states_[base::get_string(set, "metadata.uid")];
    const auto generation = base::get_int(set, "metadata.generation", 1);
    // What takes time to become available is looked at again and again.
    if (state.generation != generation || base::get_int(set, "spec.minReadySeconds") > 0) {
        state.generation = generation;
        for (const auto& [load, name] : env_.index.nodes().by_load()) state.dirty.insert(name);
        for (const auto& [name, pods] : state.pods) state.dirty.insert(name);
    }
    look_at_nodes(set, state);
    update(set, state);
    write_status(set, state.sum);
}

void DaemonSets::write_status(const JsonObject& set, const Tally& sum) {
    JsonObject status;
    status["desiredNumberScheduled"] = sum.desired;
    status["currentNumberScheduled"] = sum.current;
    status["numberMisscheduled"] = sum.misplaced;
    status["numberReady"] = sum.ready;
    status["updatedNumberScheduled"] = sum.updated;
    if (sum.available > 0) status["numberAvailable"] = sum.available;
    if (sum.desired > sum.available) status["numberUnavailable"] = sum.desired - sum.available;
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
