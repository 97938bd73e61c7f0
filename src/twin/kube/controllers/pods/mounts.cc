// What keeps the volumes of a pod from being mounted, in the kubelet's words.
#include <algorithm>

#include "twin/kube/controllers/pods/pod_life.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

MountProblem not_there(const std::string& volume, const std::string& kind, const std::string& name) {
    MountProblem out;
    out.reason = "FailedMount";
    out.message =
        "MountVolume.SetUp failed for volume \"" + volume + "\" : " + kind + " \"" + name + "\" not found";
    return out;
}

bool is_single_node(const JsonObject& volume) {
    const auto& modes = base::get_array(volume, "spec.accessModes");
    return !modes.empty() && std::all_of(modes.begin(), modes.end(), [](const JsonValue& mode) {
        return mode == JsonValue("ReadWriteOnce") || mode == JsonValue("ReadWriteOncePod");
    });
}

// A disk is attached to one node at a time: the pod that still runs elsewhere holds it.
MountProblem held_elsewhere(const Env& env, const JsonObject& pod, const JsonObject& claim) {
    const auto volume = env.objects.get(kVolumes, "", base::get_string(claim, "spec.volumeName"));
    MountProblem out;
    if (!volume || !is_single_node(*volume)) return out;
    const auto node = base::get_string(pod, "spec.nodeName");
    for (const auto& user : env.index.users_of(Key(namespace_of(claim), name_of(claim)))) {
        const auto other = env.get(kPods, user);
        const auto there = other ? base::get_string(*other, "spec.nodeName") : std::string();
        const bool holds = !there.empty() && there != node && !is_finished(*other) &&
                           base::get_string(*other, "status.phase") == "Running";
        if (!holds) continue;
        out.reason = "FailedAttachVolume";
        out.message = "Multi-Attach error for volume \"" + name_of(*volume) +
                      "\" Volume is already used by pod(s) " + user.name;
        return out;
    }
    return out;
}

}  // namespace

MountProblem mount_problem(const Env& env, const JsonObject& pod) {
    struct Source {
        const char* member;
        const char* name;
        const char* kind;
        const Kind& objects;
    };
    const Source sources[] = {{"configMap", "name", "configmap", kConfigMaps},
                              {"secret", "secretName", "secret", kSecrets}};
    for (const auto& volume : base::get_array(pod, "spec.volumes")) {
        for (const auto& source : sources) {
            const auto* ref = base::find_path(volume, source.member);
            if (ref == nullptr || base::get_bool(*ref, "optional")) continue;
            const auto name = base::get_string(*ref, source.name);
            if (!env.objects.get(source.objects, namespace_of(pod), name))
                return not_there(base::get_string(volume, "name"), source.kind, name);
        }
        const auto claim_name = claim_name_of(volume, pod);
        if (claim_name.empty()) continue;
        const auto claim = env.get(kClaims, Key(namespace_of(pod), claim_name));
        if (!claim) {
            MountProblem out;
            out.reason = "FailedMount";
            out.message =
                "Unable to attach or mount volumes: unmounted volumes=[" + base::get_string(volume, "name") +
                "], unattached volumes=[]: error processing PVC " + namespace_of(pod) + "/" + claim_name +
                ": failed to fetch PVC from API server: " + "persistentvolumeclaim \"" + claim_name +
                "\" not found";
            return out;
        }
        if (base::get_string(*claim, "status.phase") != "Bound") {
            MountProblem out;
            out.reason = "FailedMount";  // for a moment only: the volume is being made
            return out;
        }
        auto held = held_elsewhere(env, pod, *claim);
        if (!held.reason.empty()) return held;
    }
    return {};
}

}  // namespace instantstart::twin::kube::controllers
