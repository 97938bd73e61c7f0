// What a pod's claims ask of its node: bound volumes stand in a zone, others are made where the pod goes.
#include <algorithm>

#include "twin/kube/controllers/scheduling/wish.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

JsonArray node_terms_of(const JsonObject& volume) {
    return base::get_array(volume, "spec.nodeAffinity.required.nodeSelectorTerms");
}

void read_unbound(const Env& env, const JsonObject& claim, Wish& wish) {
    const auto storage =
        env.objects.get(kStorageClasses, "", base::get_string(claim, "spec.storageClassName"));
    const bool waits = storage && base::get_string(claim, "spec.volumeName").empty() &&
                       base::get_string(*storage, "volumeBindingMode") == "WaitForFirstConsumer";
    if (!waits) {
        wish.problem = "pod has unbound immediate PersistentVolumeClaims";
        return;
    }
    VolumeDemand demand;
    demand.allowed_topology = base::get_array(*storage, "allowedTopologies");
    demand.only_static = base::get_string(*storage, "provisioner") == "kubernetes.io/no-provisioner";
    if (demand.only_static) {
        for (const auto& volume : env.objects.list(kVolumes)) {
            if (!is_terminating(*volume) && base::find_path(*volume, "spec.claimRef") == nullptr &&
                volume_serves(*volume, claim))
                demand.free.push_back(node_terms_of(*volume));
        }
    }
    wish.volumes.push_back(std::move(demand));
}

// A volume of a single pod is in use already.
bool held_by_another(const Env& env, const JsonObject& claim, const Key& pod) {
    const auto& modes = base::get_array(claim, "spec.accessModes");
    if (std::find(modes.begin(), modes.end(), JsonValue("ReadWriteOncePod")) == modes.end()) return false;
    const auto users = env.index.users_of(Key(namespace_of(claim), name_of(claim)));
    return std::any_of(users.begin(), users.end(), [&](const Key& user) {
        const auto other = user == pod ? nullptr : env.get(kPods, user);
        return other && !is_finished(*other) && !base::get_string(*other, "spec.nodeName").empty();
    });
}

}  // namespace

void read_volumes(const Env& env, Wish& wish) {
    for (const auto& source : base::get_array(*wish.pod, "spec.volumes")) {
        const auto name = claim_name_of(source, *wish.pod);
        if (name.empty()) continue;
        const auto claim = env.get(kClaims, Key(wish.key.ns, name));
        if (!claim) {
            wish.problem = "persistentvolumeclaim \"" + name + "\" not found";
            return;
        }
        if (is_terminating(*claim)) {
            wish.problem = "persistentvolumeclaim \"" + name + "\" is being deleted";
            return;
        }
        if (base::get_string(*claim, "status.phase") == "Lost") {
            wish.problem = "persistentvolumeclaim \"" + name +
                           "\" bound to non-existent persistentvolume \"" +
                           base::get_string(*claim, "spec.volumeName") + "\"";
            return;
        }
        if (held_by_another(env, *claim, wish.key)) {
            wish.problem =
                "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
                "access mode";
            return;
        }
        if (base::get_string(*claim, "status.phase") != "Bound") {
            read_unbound(env, *claim, wish);
            if (!wish.problem.empty()) return;
            continue;
        }
        const auto volume = env.objects.get(kVolumes, "", base::get_string(*claim, "spec.volumeName"));
        if (!volume) continue;
        VolumeDemand demand;
        demand.node_terms = node_terms_of(*volume);
        if (!demand.node_terms.empty()) wish.volumes.push_back(std::move(demand));
    }
}

void choose_node_for_claims(Env& env, const JsonObject& pod, const std::string& node) {
    for (const auto& source : base::get_array(pod, "spec.volumes")) {
        const auto name = claim_name_of(source, pod);
        const auto claim = name.empty() ? nullptr : env.get(kClaims, Key(namespace_of(pod), name));
        if (!claim || base::get_string(*claim, "status.phase") == "Bound") continue;
        JsonObject next = *claim;
        object_at(metadata_of(next), "annotations")["volume.kubernetes.io/selected-node"] = node;
        env.write(kClaims, std::move(next));
    }
}

}  // namespace instantstart::twin::kube::controllers
