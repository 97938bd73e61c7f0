// ReplicaSet: so many pods of one template.
#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

std::int64_t deletion_cost(const JsonObject& pod) {
    const auto& annotations = base::get_object(pod, "metadata.annotations");
    const auto* cost = annotations.if_contains("controller.kubernetes.io/pod-deletion-cost");
    return cost != nullptr && cost->is_string() ? std::strtoll(cost->get_string().c_str(), nullptr, 10) : 0;
}

}  // namespace

// Those without a node go first, then those that are not ready, of low cost, young.
void ReplicaSets::remove_pods(const JsonObject& set, std::vector<ObjectPtr> active, std::int64_t count) {
    const auto rank = [](const JsonObject& pod) {
        return std::tuple(!base::get_string(pod, "spec.nodeName").empty(), is_ready(pod), deletion_cost(pod));
    };
    std::sort(active.begin(), active.end(), [&rank](const ObjectPtr& a, const ObjectPtr& b) {
        const auto first = rank(*a), second = rank(*b);
        if (first != second) return first < second;
        const auto born = base::get_string(*a, "metadata.creationTimestamp");
        const auto other = base::get_string(*b, "metadata.creationTimestamp");
        return born != other ? born > other : name_of(*a) < name_of(*b);
    });
    for (std::int64_t i = 0; i < count; ++i) {
        const auto& pod = *active[static_cast<std::size_t>(i)];
        env_.remove(kPods, Key(namespace_of(pod), name_of(pod)));
        env_.events.write(set, "Normal", "SuccessfulDelete", "Deleted pod: " + name_of(pod),
                          "replicaset-controller");
    }
}

// At most so many in one look, as kube-controller-manager bursts; the pods' own changes bring the set back.
void ReplicaSets::create_pods(const JsonObject& set, std::int64_t count) {
    constexpr std::int64_t kBurst = 500;
    for (std::int64_t i = 0; i < std::min(count, kBurst); ++i) {
        JsonObject pod = pod_from_template(base::get_object(set, "spec.template"), namespace_of(set),
                                           env_.name_after(name_of(set) + "-"),
                                           owner_reference("apps/v1", "ReplicaSet", set));
        metadata_of(pod)["generateName"] = name_of(set) + "-";
        if (!create_child(set, std::move(pod), "replicaset-controller")) return;
    }
}

void ReplicaSets::sync_object(const JsonObject& set) {
    const auto counts = env_.index.counts_of(base::get_string(set, "metadata.uid"));
    const std::int64_t wanted = base::get_int(set, "spec.replicas", 1);
    std::int64_t available = counts.ready;
    // Its pods are only looked at where one must go or its time of being ready counts.
    if (counts.active > wanted || base::get_int(set, "spec.minReadySeconds") > 0) {
        available = 0;
        std::vector<ObjectPtr> active;
        for (const auto& pod : pods_of(set)) {
            if (is_terminating(*pod) || is_finished(*pod)) continue;
            if (is_available(set, *pod)) ++available;
            active.push_back(pod);
        }
        if (counts.active > wanted) remove_pods(set, std::move(active), counts.active - wanted);
    }
    if (counts.active < wanted) create_pods(set, wanted - counts.active);
    JsonObject status;
    status["replicas"] = counts.active;
    if (counts.active > 0) status["fullyLabeledReplicas"] = counts.active;
    if (counts.ready > 0) status["readyReplicas"] = counts.ready;
    if (available > 0) status["availableReplicas"] = available;
    if (const auto failure = creation_failure(set); !failure.empty() && counts.active < wanted) {
        JsonArray conditions = base::get_array(set, "status.conditions");
        set_condition(conditions, "ReplicaFailure", true, "FailedCreate", failure, env_.clock.now());
        status["conditions"] = std::move(conditions);
    }
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
