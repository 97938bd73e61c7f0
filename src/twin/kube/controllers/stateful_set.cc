// StatefulSet: numbered pods, one after the other, each with its own claims.
#include <algorithm>
#include <cstdlib>

#include "twin/kube/controllers/revisions.h"
#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kComponent = "statefulset-controller";

std::int64_t ordinal_of(const JsonObject& pod) {
    const auto name = name_of(pod);
    return std::strtoll(name.c_str() + name.rfind('-') + 1, nullptr, 10);
}

std::string revision_of_pod(const JsonObject& pod) {
    return base::get_string(base::get_object(pod, "metadata.labels"), "controller-revision-hash");
}

std::int64_t first_ordinal(const JsonObject& set) {
    return base::get_int(set, "spec.ordinals.start");
}

}  // namespace

void StatefulSets::create_claims(const JsonObject& set, const std::string& pod, JsonObject& spec) {
    for (const auto& value : base::get_array(set, "spec.volumeClaimTemplates")) {
        if (!value.is_object()) continue;
        JsonObject claim = value.get_object();
        const auto volume = name_of(claim);
        const auto claim_name = volume + "-" + pod;
        claim["apiVersion"] = "v1";
        claim["kind"] = "PersistentVolumeClaim";
        auto& metadata = metadata_of(claim);
        metadata["name"] = claim_name;
        metadata["namespace"] = namespace_of(set);
        const auto& labels = base::get_object(set, "spec.selector.matchLabels");
        if (!labels.empty()) {
            auto& own = object_at(metadata, "labels");
            for (const auto& label : labels) own[label.key()] = label.value();
        }
        if (base::get_string(set, "spec.persistentVolumeClaimRetentionPolicy.whenDeleted") == "Delete")
            metadata["ownerReferences"] = JsonArray{owner_reference("apps/v1", "StatefulSet", set)};
        if (env_.create(kClaims, std::move(claim))) {
            env_.events.write(
                set, "Normal", "SuccessfulCreate",
                "create Claim " + claim_name + " Pod " + pod + " in StatefulSet " + name_of(set) + " success",
                kComponent);
        }
        list_at(spec, "volumes")
            .push_back(JsonObject{{"name", volume},
                                  {"persistentVolumeClaim", JsonObject{{"claimName", claim_name}}}});
    }
}

void StatefulSets::create_pod(const JsonObject& set, std::int64_t ordinal, const std::string& revision) {
    const std::string name = name_of(set) + "-" + std::to_string(ordinal);
    // The template of an earlier revision stands in its history.
    JsonObject pod_template = base::get_object(set, "spec.template");
    if (const auto earlier = env_.get(kRevisions, Key(namespace_of(set), revision)))
        pod_template = base::get_object(*earlier, "data.spec.template");
    JsonObject pod = pod_from_template(pod_template, namespace_of(set), name,
                                       owner_reference("apps/v1", "StatefulSet", set));
    auto& labels = object_at(metadata_of(pod), "labels");
    labels["controller-revision-hash"] = revision;
    labels["statefulset.kubernetes.io/pod-name"] = name;
    labels["apps.kubernetes.io/pod-index"] = std::to_string(ordinal);
    auto& spec = object_at(pod, "spec");
    spec["hostname"] = name;
    spec["subdomain"] = base::get_string(set, "spec.serviceName");
    create_claims(set, name, spec);
    const auto made = env_.admit_and_create(kPods, std::move(pod));
    if (made) {
        env_.events.write(set, "Normal", "SuccessfulCreate",
                          "create Pod " + name + " in StatefulSet " + name_of(set) + " successful",
                          kComponent);
        return;
    }
    env_.events.write(
        set, "Warning", "FailedCreate",
        "create Pod " + name + " in StatefulSet " + name_of(set) + " failed error: " + made.error().message,
        kComponent);
    env_.queue.add_after(this, Key(namespace_of(set), name_of(set)), env_.scaled(15));
}

void StatefulSets::remove_pod(const JsonObject& set, const JsonObject& pod) {
    if (is_terminating(pod)) return;
    env_.remove(kPods, Key(namespace_of(set), name_of(pod)));
    env_.events.write(set, "Normal", "SuccessfulDelete",
                      "delete Pod " + name_of(pod) + " in StatefulSet " + name_of(set) + " successful",
                      kComponent);
}

void StatefulSets::remove_claims(const JsonObject& set, std::int64_t ordinal) {
    if (base::get_string(set, "spec.persistentVolumeClaimRetentionPolicy.whenScaled") != "Delete") return;
    for (const auto& value : base::get_array(set, "spec.volumeClaimTemplates")) {
        env_.remove(kClaims, Key(namespace_of(set), base::get_string(value, "metadata.name") + "-" +
                                                        name_of(set) + "-" + std::to_string(ordinal)));
    }
}

bool StatefulSets::scale(const JsonObject& set, const Pods& pods, const std::string& current,
                         const std::string& update) {
    const std::int64_t first = first_ordinal(set);
    const std::int64_t last = first + base::get_int(set, "spec.replicas", 1);
    const std::int64_t partition = base::get_int(set, "spec.updateStrategy.rollingUpdate.partition");
    const bool parallel = base::get_string(set, "spec.podManagementPolicy") == "Parallel";
    bool acted = false;
    for (std::int64_t i = first; i < last; ++i) {
        const auto pod = pods.find(i);
        if (pod == pods.end()) {
            create_pod(set, i, i < partition ? current : update);
            acted = true;
        } else if (is_finished(*pod->second)) {
            remove_pod(set, *pod->second);
            acted = true;
        } else if (is_available(set, *pod->second) && !is_terminating(*pod->second)) {
            continue;
        }
        if (!parallel) return true;  // the next follows when this one is ready
    }
    for (auto pod = pods.rbegin(); pod != pods.rend(); ++pod) {
        if (pod->first >= first && pod->first < last) continue;
        remove_pod(set, *pod->second);
        remove_claims(set, pod->first);
        acted = true;
        if (!parallel) return true;
    }
    return acted;
}

void StatefulSets::update_one(const JsonObject& set, const Pods& pods, const std::string& revision) {
    if (base::get_string(set, "spec.updateStrategy.type", "RollingUpdate") != "RollingUpdate") return;
    const std::int64_t partition = base::get_int(set, "spec.updateStrategy.rollingUpdate.partition");
    for (auto pod = pods.rbegin(); pod != pods.rend() && pod->first >= partition; ++pod) {
        if (revision_of_pod(*pod->second) != revision) return remove_pod(set, *pod->second);
        if (!is_available(set, *pod->second)) return;  // one at a time
    }
}

void StatefulSets::sync_object(const JsonObject& set) {
    const auto kept = current_revision(env_, set, "StatefulSet");
    const auto update = name_of(set) + "-" + revision_hash(set);
    const auto current = base::get_string(set, "status.currentRevision", update);
    Pods pods;
    std::int64_t ready = 0, available = 0, updated = 0, older = 0;
    for (const auto& pod : pods_of(set)) {
        pods[ordinal_of(*pod)] = pod;
        if (is_terminating(*pod)) continue;
        if (is_ready(*pod)) ++ready;
        if (is_available(set, *pod)) ++available;
        if (revision_of_pod(*pod) == update) ++updated;
        if (revision_of_pod(*pod) == current) ++older;
    }
    if (!scale(set, pods, current, update)) update_one(set, pods, update);
    const auto wanted = base::get_int(set, "spec.replicas", 1);
    const bool complete =
        updated == wanted && ready == wanted && static_cast<std::int64_t>(pods.size()) == wanted;
    JsonObject status;
    status["replicas"] = static_cast<std::int64_t>(pods.size());
    if (ready > 0) status["readyReplicas"] = ready;
    status["availableReplicas"] = available;
    if (complete || older > 0) status["currentReplicas"] = complete ? updated : older;
    if (updated > 0) status["updatedReplicas"] = updated;
    status["currentRevision"] = complete ? update : current;
    status["updateRevision"] = update;
    status["collisionCount"] = 0;
    put_status(set, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
