#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";

bool makes_disks(const std::string& provisioner) {
    return provisioner == "kubernetes.io/aws-ebs" || provisioner == "ebs.csi.aws.com" ||
           provisioner == "ebs.csi.eks.amazonaws.com";
}

std::string annotation(const JsonObject& object, std::string_view name) {
    const auto* value = base::get_object(object, "metadata.annotations").if_contains(name);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool claimed_by(const JsonObject& volume, const JsonObject& claim) {
    if (base::get_string(volume, "spec.claimRef.name") != name_of(claim)) return false;
    if (base::get_string(volume, "spec.claimRef.namespace") != namespace_of(claim)) return false;
    const auto uid = base::get_string(volume, "spec.claimRef.uid");
    return uid.empty() || uid == base::get_string(claim, "metadata.uid");
}

bool serves(const JsonObject& volume, const JsonObject& claim) {
    if (base::get_string(volume, "spec.storageClassName") != base::get_string(claim, "spec.storageClassName"))
        return false;
    if (!selector_matches(base::get_object(claim, "spec.selector"),
                          base::get_object(volume, "metadata.labels")))
        return false;
    const auto& modes = base::get_array(volume, "spec.accessModes");
    for (const auto& mode : base::get_array(claim, "spec.accessModes")) {
        if (std::find(modes.begin(), modes.end(), mode) == modes.end()) return false;
    }
    return parse_milli(base::get_string(volume, "spec.capacity.storage")) >=
           parse_milli(base::get_string(claim, "spec.resources.requests.storage"));
}

}  // namespace

void Claims::changed(const Change& change) {
    const JsonObject& object = *change.object;
    if (change.kind == kClaims) {
        env_.queue.add(this, Key(namespace_of(object), name_of(object)));
        const auto volume = base::get_string(object, "spec.volumeName");
        if (!volume.empty()) env_.queue.add(this, Key("", volume));
        if (change.type == Change::Type::deleted)
            provided_at_.erase(base::get_string(object, "metadata.uid"));
    } else if (change.kind == kVolumes) {
        env_.queue.add(this, Key("", name_of(object)));
        for (const auto& claim : env_.objects.list(kClaims)) {
            if (base::get_string(*claim, "status.phase") != "Bound")
                env_.queue.add(this, Key(namespace_of(*claim), name_of(*claim)));
        }
    } else if (change.kind == kPods && (change.type == Change::Type::deleted || is_finished(object))) {
        for (const auto& volume : base::get_array(object, "spec.volumes")) {
            const auto name = base::get_string(volume, "persistentVolumeClaim.claimName");
            if (!name.empty()) env_.queue.add(this, Key(namespace_of(object), name));
        }
    }
}

void Claims::sync(const Key& key) {
    if (key.ns.empty()) {
        if (const auto volume = env_.objects.get(kVolumes, "", key.name)) sync_volume(*volume);
    } else if (const auto claim = env_.get(kClaims, key)) {
        sync_claim(*claim);
    }
}

bool Claims::in_use(const JsonObject& claim) const {
    for (const auto& pod : env_.objects.list(kPods, namespace_of(claim))) {
        if (is_finished(*pod)) continue;
        for (const auto& volume : base::get_array(*pod, "spec.volumes")) {
            if (base::get_string(volume, "persistentVolumeClaim.claimName") == name_of(claim)) return true;
        }
    }
    return false;
}

void Claims::sync_claim(const JsonObject& claim) {
    JsonObject next = claim;
    if (is_terminating(claim)) {
        if (has_finalizer(claim, kClaimProtection) && !in_use(claim)) {
            remove_finalizer(next, kClaimProtection);
            env_.write(kClaims, std::move(next));
        }
        return;
    }
    bool changes = false;
    if (!has_finalizer(claim, kClaimProtection)) {
        list_at(metadata_of(next), "finalizers").push_back(JsonValue(kClaimProtection));
        changes = true;
    }
    if (base::get_string(claim, "status.phase").empty()) {
        object_at(next, "status")["phase"] = "Pending";
        changes = true;
    }
    if (base::find_path(claim, "spec.storageClassName") == nullptr &&
        base::get_string(claim, "spec.volumeName").empty()) {
        for (const auto& storage : env_.objects.list(Kind("storage.k8s.io", "storageclasses"))) {
            if (annotation(*storage, kDefaultClass) != "true") continue;
            object_at(next, "spec")["storageClassName"] = name_of(*storage);
            changes = true;
        }
    }
    if (changes) return env_.write(kClaims, std::move(next));
    if (base::get_string(claim, "status.phase") == "Bound") return;
    if (const auto volume = find_volume(claim)) return bind(claim, *volume);
    if (base::get_string(claim, "spec.volumeName").empty()) provide(claim);
}

ObjectPtr Claims::find_volume(const JsonObject& claim) const {
    const auto wanted = base::get_string(claim, "spec.volumeName");
    if (!wanted.empty()) {
        const auto volume = env_.objects.get(kVolumes, "", wanted);
        const bool taken =
            volume && base::find_path(*volume, "spec.claimRef") != nullptr && !claimed_by(*volume, claim);
        return taken ? nullptr : volume;
    }
    ObjectPtr found;
    for (const auto& volume : env_.objects.list(kVolumes)) {
        if (is_terminating(*volume)) continue;
        if (base::find_path(*volume, "spec.claimRef") != nullptr) {
            if (claimed_by(*volume, claim)) return volume;
        } else if (!found && serves(*volume, claim)) {
            found = volume;
        }
    }
    return found;
}

void Claims::bind(const JsonObject& claim, const JsonObject& volume) {
    JsonObject bound_volume = volume;
    object_at(bound_volume, "spec")["claimRef"] =
        JsonObject{{"apiVersion", "v1"},
                   {"kind", "PersistentVolumeClaim"},
                   {"name", name_of(claim)},
                   {"namespace", namespace_of(claim)},
                   {"uid", base::get_string(claim, "metadata.uid")}};
    object_at(bound_volume, "status")["phase"] = "Bound";
    env_.write(kVolumes, std::move(bound_volume));
    JsonObject bound = claim;
    auto& annotations = object_at(metadata_of(bound), "annotations");
    annotations["pv.kubernetes.io/bind-completed"] = "yes";
    if (base::get_string(claim, "spec.volumeName").empty())
        annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
    object_at(bound, "spec")["volumeName"] = name_of(volume);
    auto& status = object_at(bound, "status");
    status["phase"] = "Bound";
    status["accessModes"] = base::get_array(volume, "spec.accessModes");
    status["capacity"] = base::get_object(volume, "spec.capacity");
    env_.write(kClaims, std::move(bound));
}

// Makes the disk of a claim whose class makes disks, some seconds after a pod that wants it has its node.
void Claims::provide(const JsonObject& claim) {
    const auto storage = env_.objects.get(Kind("storage.k8s.io", "storageclasses"), "",
                                          base::get_string(claim, "spec.storageClassName"));
    if (!storage || !makes_disks(base::get_string(*storage, "provisioner"))) return;
    const bool waits = base::get_string(*storage, "volumeBindingMode") == "WaitForFirstConsumer";
    if (waits && annotation(claim, "volume.kubernetes.io/selected-node").empty()) return;
    const auto uid = base::get_string(claim, "metadata.uid");
    const auto now = env_.clock.monotonic();
    const auto [due, first] = provided_at_.emplace(uid, now + env_.scaled(3));
    if (first || due->second > now)
        return env_.queue.add_after(this, Key(namespace_of(claim), name_of(claim)), due->second - now);
    provided_at_.erase(due);
    const auto name = "pvc-" + uid;
    JsonObject volume;
    volume["apiVersion"] = "v1";
    volume["kind"] = "PersistentVolume";
    volume["metadata"] = JsonObject{{"name", name},
                                    {"annotations", JsonObject{{"pv.kubernetes.io/provisioned-by",
                                                                base::get_string(*storage, "provisioner")}}}};
    volume["spec"] = JsonObject{
        {"accessModes", base::get_array(claim, "spec.accessModes")},
        {"capacity", JsonObject{{"storage", base::get_string(claim, "spec.resources.requests.storage")}}},
        {"persistentVolumeReclaimPolicy", base::get_string(*storage, "reclaimPolicy", "Delete")},
        {"storageClassName", name_of(*storage)},
        {"volumeMode", "Filesystem"},
        {"claimRef", JsonObject{{"name", name_of(claim)}, {"namespace", namespace_of(claim)}, {"uid", uid}}},
        {"csi", JsonObject{{"driver", "ebs.csi.aws.com"},
                           {"fsType", "ext4"},
                           {"volumeHandle", "vol-0" + uid.substr(0, 8) + uid.substr(24, 8)}}}};
    env_.create(kVolumes, std::move(volume));
}

void Claims::sync_volume(const JsonObject& volume) {
    JsonObject next = volume;
    const auto phase = base::get_string(volume, "status.phase");
    const Key claim_key(base::get_string(volume, "spec.claimRef.namespace"),
                        base::get_string(volume, "spec.claimRef.name"));
    const auto claim = claim_key.name.empty() ? nullptr : env_.get(kClaims, claim_key);
    const bool held = claim && claimed_by(volume, *claim) && phase == "Bound";
    if (is_terminating(volume)) {
        if (held || !has_finalizer(volume, kVolumeProtection)) return;
        remove_finalizer(next, kVolumeProtection);
        return env_.write(kVolumes, std::move(next));
    }
    if (!has_finalizer(volume, kVolumeProtection)) {
        list_at(metadata_of(next), "finalizers").push_back(JsonValue(kVolumeProtection));
        return env_.write(kVolumes, std::move(next));
    }
    const bool was_bound = phase == "Bound" || phase == "Released";
    if (was_bound && !held && !claim) {
        if (base::get_string(volume, "spec.persistentVolumeReclaimPolicy", "Retain") == "Delete")
            return env_.remove(kVolumes, Key("", name_of(volume)));
        object_at(next, "status")["phase"] = "Released";
    } else if (phase.empty() || phase == "Pending") {
        object_at(next, "status")["phase"] = "Available";
    }
    env_.write(kVolumes, std::move(next));
}

void Claims::rescale(double factor) {
    const base::Duration now = env_.clock.monotonic();
    for (auto& [uid, due] : provided_at_) due = now + scale_left(due - now, factor);
}

}  // namespace instantstart::twin::kube::controllers
