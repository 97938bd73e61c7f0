// ReplicaSet: so many pods of one template.
#include <algorithm>

#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

void ReplicaSets::sync_object(const JsonObject& set) {
    std::vector<ObjectPtr> active;
    std::int64_t ready = 0;
    for (const auto& pod : pods_of(set)) {
        if (is_terminating(*pod) || is_finished(*pod)) continue;
        active.push_back(pod);
        if (is_ready(*pod)) ++ready;
    }
    const std::int64_t wanted = base::get_int(set, "spec.replicas", 1);
    const auto have = static_cast<std::int64_t>(active.size());
    for (std::int64_t i = have; i < wanted; ++i) {
        JsonObject pod = pod_from_template(base::get_object(set, "spec.template"), namespace_of(set),
                                           env_.name_after(name_of(set) + "-"),
                                           owner_reference("apps/v1", "ReplicaSet", set));
        metadata_of(pod)["generateName"] = name_of(set) + "-";
        const auto name = name_of(pod);
        if (env_.create(kPods, std::move(pod))) {
            env_.events.write(set, "Normal", "SuccessfulCreate", "Created pod: " + name,
                              "replicaset-controller");
        }
    }
    if (have > wanted) {
        // Those that do not run yet go first.
        std::sort(active.begin(), active.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
            return std::pair(is_ready(*a), name_of(*a)) < std::pair(is_ready(*b), name_of(*b));
        });
        for (std::int64_t i = 0; i < have - wanted; ++i) {
            const auto& pod = *active[static_cast<std::size_t>(i)];
            env_.remove(kPods, Key(namespace_of(pod), name_of(pod)));
            env_.events.write(set, "Normal", "SuccessfulDelete", "Deleted pod: " + name_of(pod),
                              "replicaset-controller");
        }
    }
    JsonObject status;
    status["replicas"] = have;
    if (have > 0) status["fullyLabeledReplicas"] = have;
    if (ready > 0) {
        status["readyReplicas"] = ready;
        status["availableReplicas"] = ready;
    }
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
