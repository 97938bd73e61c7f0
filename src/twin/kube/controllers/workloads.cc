#include "twin/kube/controllers/workloads.h"

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

void WorkloadController::changed(const Change& change) {
    if (change.kind == kind_) {
        if (change.type != Change::Type::deleted)
            env_.queue.add(this, Key(namespace_of(*change.object), name_of(*change.object)));
        return;
    }
    if (change.kind == child_) {
        for (const auto& owner : base::get_array(*change.object, "metadata.ownerReferences")) {
            if (!base::get_bool(owner, "controller") || base::get_string(owner, "kind") != owner_kind_)
                continue;
            env_.queue.add(this, Key(namespace_of(*change.object), base::get_string(owner, "name")));
        }
    }
    other_changed(change);
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

}  // namespace instantstart::twin::kube::controllers
