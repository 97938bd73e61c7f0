// StatefulSet: numbered pods, one after the other, each with its own claims.
#include <cstdlib>

#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

std::int64_t ordinal_of(const JsonObject& pod) {
    const auto name = name_of(pod);
    return std::strtoll(name.c_str() + name.rfind('-') + 1, nullptr, 10);
}

std::string revision_of_pod(const JsonObject& pod) {
    return base::get_string(base::get_object(pod, "metadata.labels"), "controller-revision-hash");
}

}  // namespace

void StatefulSets::create_pod(const JsonObject& set, std::int64_t ordinal, const std::string& revision) {
    const std::string name = name_of(set) + "-" + std::to_string(ordinal);
    JsonObject pod = pod_from_template(base::get_object(set, "spec.template"), namespace_of(set), name,
                                       owner_reference("apps/v1", "StatefulSet", set));
    auto& labels = object_at(metadata_of(pod), "labels");
    labels["controller-revision-hash"] = revision;
    labels["statefulset.kubernetes.io/pod-name"] = name;
    labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
    auto& spec = object_at(pod, "spec");
    spec["hostname"] = name;
    spec["subdomain"] = base::get_string(set, "spec.serviceName");
    for (const auto& value : base::get_array(set, "spec.volumeClaimTemplates")) {
        if (!value.is_object()) continue;
        JsonObject claim = value.get_object();
        const auto volume = name_of(claim);
        const auto claim_name = volume + "-" + name;
        claim["apiVersion"] = "v1";
        claim["kind"] = "PersistentVolumeClaim";
        metadata_of(claim)["name"] = claim_name;
        metadata_of(claim)["namespace"] = namespace_of(set);
        env_.create(kClaims, std::move(claim));
        list_at(spec, "volumes")
            .push_back(JsonObject{{"name", volume},
                                  {"persistentVolumeClaim", JsonObject{{"claimName", claim_name}}}});
    }
    env_.create(kPods, std::move(pod));
}

bool StatefulSets::scale(const JsonObject& set, const std::map<std::int64_t, ObjectPtr>& pods,
                         const std::string& revision) {
    const std::int64_t wanted = base::get_int(set, "spec.replicas", 1);
    const bool parallel = base::get_string(set, "spec.podManagementPolicy") == "Parallel";
    bool acted = false;
    for (std::int64_t i = 0; i < wanted; ++i) {
        const auto pod = pods.find(i);
        if (pod == pods.end()) {
            create_pod(set, i, revision);
            acted = true;
        } else if (is_finished(*pod->second)) {
            env_.remove(kPods, Key(namespace_of(set), name_of(*pod->second)));
            acted = true;
        } else if (is_ready(*pod->second) && !is_terminating(*pod->second)) {
            continue;
        }
        if (!parallel) return true;  // the next follows when this one is ready
    }
    for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= wanted; ++pod) {
        env_.remove(kPods, Key(namespace_of(set), name_of(*pod->second)));
        acted = true;
        if (!parallel) break;
    }
    return acted;
}

void StatefulSets::update_one(const JsonObject& set, const std::map<std::int64_t, ObjectPtr>& pods,
                              const std::string& revision) {
    if (base::get_string(set, "spec.updateStrategy.type", "RollingUpdate") != "RollingUpdate") return;
    const std::int64_t partition = base::get_int(set, "spec.updateStrategy.rollingUpdate.partition");
    for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= partition; ++pod) {
        if (revision_of_pod(*pod->second) == revision) continue;
        return env_.remove(kPods, Key(namespace_of(set), name_of(*pod->second)));
    }
}

void StatefulSets::sync_object(const JsonObject& set) {
    const auto revision = name_of(set) + "-" + short_hash(base::get_object(set, "spec.template"));
    std::map<std::int64_t, ObjectPtr> pods;
    std::int64_t ready = 0, updated = 0;
    for (const auto& pod : pods_of(set)) {
        pods[ordinal_of(*pod)] = pod;
        if (is_terminating(*pod)) continue;
        if (is_ready(*pod)) ++ready;
        if (revision_of_pod(*pod) == revision) ++updated;
    }
    if (!scale(set, pods, revision)) update_one(set, pods, revision);
    JsonObject status;
    status["replicas"] = static_cast<std::int64_t>(pods.size());
    status["readyReplicas"] = ready;
    status["availableReplicas"] = ready;
    status["currentReplicas"] = updated;
    status["updatedReplicas"] = updated;
    status["currentRevision"] = revision;
    status["updateRevision"] = revision;
    status["collisionCount"] = 0;
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
