#include "twin/kube/controllers/claims.h"

#include <algorithm>

#include "twin/kube/controllers/scheduling/node_match.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
constexpr std::string_view kDefaultClass = "storageclass.kubernetes.io/is-default-class";
constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
constexpr const char* kZone = "topology.kubernetes.io/zone";

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

Key key_of(const JsonObject& object) {
    return {namespace_of(object), name_of(object)};
}

bool waits_for_consumer(const JsonObject& storage) {
    return base::get_string(storage, "volumeBindingMode") == "WaitForFirstConsumer";
}

}  // namespace

void Claims::clear() {
    provided_at_.clear();
    told_.clear();
    open_.clear();
}

void Claims::changed(const Change& change) {
    const JsonObject& object = *change.object;
    const bool gone = change.type == Change::Type::deleted;
    if (change.kind == kClaims) {
        const Key key = key_of(object);
        if (gone || base::get_string(object, "status.phase") == "Bound") {
            open_.erase(key);
        } else {
            open_.insert(key);
        }
        env_.queue.add(this, key);
        const auto volume = base::get_string(object, "spec.volumeName");
        if (!volume.empty()) env_.queue.add(this, Key("", volume));
        if (!gone) return;
        provided_at_.erase(base::get_string(object, "metadata.uid"));
        told_.erase(base::get_string(object, "metadata.uid"));
    } else if (change.kind == kVolumes) {
        env_.queue.add(this, Key("", name_of(object)));
        const auto claim = base::get_string(object, "spec.claimRef.name");
        if (!claim.empty())
            env_.queue.add(this, Key(base::get_string(object, "spec.claimRef.namespace"), claim));
        if (!gone) {
            for (const auto& key : open_) env_.queue.add(this, key);
        }
    } else if (change.kind == kStorageClasses) {
        for (const auto& key : open_) env_.queue.add(this, key);
    } else if (change.kind == kPods) {
        if (change.type == Change::Type::added) make_ephemeral_claims(object);
        if (!gone && !is_finished(object)) return;
        for (const auto& volume : base::get_array(object, "spec.volumes")) {
            const auto name = claim_name_of(volume, object);
            if (!name.empty()) env_.queue.add(this, Key(namespace_of(object), name));
        }
    }
}

// A volume that lives with its pod has a claim that the pod owns.
void Claims::make_ephemeral_claims(const JsonObject& pod) {
    for (const auto& volume : base::get_array(pod, "spec.volumes")) {
        const auto* made = base::find_path(volume, "ephemeral.volumeClaimTemplate");
        if (made == nullptr || !made->is_object()) continue;
        JsonObject claim = made->get_object();
        claim["apiVersion"] = "v1";
        claim["kind"] = "PersistentVolumeClaim";
        auto& metadata = metadata_of(claim);
        metadata["name"] = claim_name_of(volume, pod);
        metadata["namespace"] = namespace_of(pod);
        metadata["ownerReferences"] = JsonArray{owner_reference("v1", "Pod", pod)};
        env_.create(kClaims, std::move(claim));
    }
}

void Claims::tell(const JsonObject& claim, std::string_view type, std::string_view reason,
                  const std::string& message, std::string_view component) {
    auto& last = told_[base::get_string(claim, "metadata.uid")];
    if (last == message) return;
    last = message;
    env_.events.write(claim, type, reason, message, component);
}

void Claims::sync(const Key& key) {
    if (key.ns.empty()) {
        if (const auto volume = env_.objects.get(kVolumes, "", key.name)) sync_volume(*volume);
    } else if (const auto claim = env_.get(kClaims, key)) {
        sync_claim(*claim);
    }
}

bool Claims::in_use(const JsonObject& claim) const {
    const auto& users = env_.index.users_of(key_of(claim));
    return std::any_of(users.begin(), users.end(), [this](const Key& user) {
        const auto pod = env_.get(kPods, user);
        return pod && !is_finished(*pod);
    });
}

// What every claim gets first. True when it was written, and will come back.
bool Claims::prepare(const JsonObject& claim) {
    JsonObject next = claim;
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
        for (const auto& storage : env_.objects.list(kStorageClasses)) {
            if (annotation(*storage, kDefaultClass) != "true") continue;
            object_at(next, "spec")["storageClassName"] = name_of(*storage);
            changes = true;
        }
    }
    if (changes) env_.write(kClaims, std::move(next));
    return changes;
}

void Claims::sync_claim(const JsonObject& claim) {
    if (is_terminating(claim)) {
        if (!has_finalizer(claim, kClaimProtection) || in_use(claim)) return;
        JsonObject next = claim;
        remove_finalizer(next, kClaimProtection);
        return env_.write(kClaims, std::move(next));
    }
    if (prepare(claim)) return;
    const auto volume = base::get_string(claim, "spec.volumeName");
    const auto phase = base::get_string(claim, "status.phase");
    if (phase == "Bound") {
        if (!env_.objects.get(kVolumes, "", volume)) lose(claim);
        return;
    }
    if (phase == "Lost") return;
    if (const auto found = named_volume(claim)) return bind(claim, *found);
    if (volume.empty()) find_or_provide(claim);
}

// The volume that names the claim or that the claim names.
ObjectPtr Claims::named_volume(const JsonObject& claim) const {
    const auto named = base::get_string(claim, "spec.volumeName");
    if (!named.empty()) {
        const auto volume = env_.objects.get(kVolumes, "", named);
        const bool taken =
            volume && base::find_path(*volume, "spec.claimRef") != nullptr && !claimed_by(*volume, claim);
        return taken ? nullptr : volume;
    }
    for (const auto& volume : env_.objects.list(kVolumes)) {
        if (!is_terminating(*volume) && claimed_by(*volume, claim)) return volume;
    }
    return nullptr;
}

// The smallest that would do, within reach of the node that was chosen.
ObjectPtr Claims::free_volume(const JsonObject& claim) const {
    const auto* node = env_.index.nodes().find(annotation(claim, kSelectedNode));
    ObjectPtr best;
    for (const auto& volume : env_.objects.list(kVolumes)) {
        const auto& terms = base::get_array(*volume, "spec.nodeAffinity.required.nodeSelectorTerms");
        if (is_terminating(*volume) || base::find_path(*volume, "spec.claimRef") != nullptr ||
            !volume_serves(*volume, claim))
            continue;
        if (node != nullptr && !terms.empty() && !matches_node_terms(terms, *node)) continue;
        const auto size = [](const JsonObject& one) {
            return parse_milli(base::get_string(one, "spec.capacity.storage"));
        };
        if (!best || size(*volume) < size(*best)) best = volume;
    }
    return best;
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

void Claims::lose(const JsonObject& claim) {
    JsonObject next = claim;
    object_at(next, "status")["phase"] = "Lost";
    env_.write(kClaims, std::move(next));
    tell(claim, "Warning", "ClaimLost",
         "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
}

void Claims::find_or_provide(const JsonObject& claim) {
    const auto name = base::get_string(claim, "spec.storageClassName");
    const auto storage = name.empty() ? nullptr : env_.objects.get(kStorageClasses, "", name);
    const bool waits = storage && waits_for_consumer(*storage);
    if (waits && annotation(claim, kSelectedNode).empty()) {
        return tell(claim, "Normal", "WaitForFirstConsumer",
                    "waiting for first consumer to be created before binding");
    }
    if (const auto volume = free_volume(claim)) return bind(claim, *volume);
    if (name.empty()) {
        return tell(claim, "Normal", "FailedBinding",
                    "no persistent volumes available for this claim and no storage class is set");
    }
    if (!storage) {
        return tell(claim, "Warning", "ProvisioningFailed",
                    "storageclass.storage.k8s.io \"" + name + "\" not found");
    }
    const auto provisioner = base::get_string(*storage, "provisioner");
    if (makes_disks(provisioner)) return provide(claim, *storage);
    if (provisioner == "kubernetes.io/no-provisioner") return;  // only volumes that a person makes
    tell(claim, "Normal", "ExternalProvisioning",
         "Waiting for a volume to be created either by the external provisioner '" + provisioner +
             "' or manually by the system administrator. If volume creation is delayed, please verify that "
             "the provisioner is running and correctly registered.");
}

// Makes the disk of a claim whose class makes disks, some seconds after a pod that wants it has its node.
void Claims::provide(const JsonObject& claim, const JsonObject& storage) {
    const auto uid = base::get_string(claim, "metadata.uid");
    const auto now = env_.clock.monotonic();
    const auto [due, first] = provided_at_.emplace(uid, now + env_.scaled(3));
    if (first) {
        tell(claim, "Normal", "Provisioning",
             "External provisioner is provisioning volume for claim \"" + namespace_of(claim) + "/" +
                 name_of(claim) + "\"",
             "ebs.csi.aws.com");
    }
    if (due->second > now) return env_.queue.add_after(this, key_of(claim), due->second - now);
    provided_at_.erase(due);
    make_volume(claim, storage);
    tell(claim, "Normal", "ProvisioningSucceeded", "Successfully provisioned volume pvc-" + uid,
         "ebs.csi.aws.com");
}

void Claims::make_volume(const JsonObject& claim, const JsonObject& storage) {
    const auto uid = base::get_string(claim, "metadata.uid");
    JsonObject volume;
    volume["apiVersion"] = "v1";
    volume["kind"] = "PersistentVolume";
    volume["metadata"] = JsonObject{{"name", "pvc-" + uid},
                                    {"annotations", JsonObject{{"pv.kubernetes.io/provisioned-by",
                                                                base::get_string(storage, "provisioner")}}}};
    JsonObject spec{
        {"accessModes", base::get_array(claim, "spec.accessModes")},
        {"capacity", JsonObject{{"storage", base::get_string(claim, "spec.resources.requests.storage")}}},
        {"persistentVolumeReclaimPolicy", base::get_string(storage, "reclaimPolicy", "Delete")},
        {"storageClassName", name_of(storage)},
        {"volumeMode", base::get_string(claim, "spec.volumeMode", "Filesystem")},
        {"claimRef", JsonObject{{"name", name_of(claim)}, {"namespace", namespace_of(claim)}, {"uid", uid}}},
        {"csi", JsonObject{{"driver", "ebs.csi.aws.com"},
                           {"fsType", "ext4"},
                           {"volumeHandle", "vol-0" + uid.substr(0, 8) + uid.substr(24, 8)}}}};
    // A disk can only be attached in the zone where it was made.
    const auto* node = env_.index.nodes().find(annotation(claim, kSelectedNode));
    if (const auto* zone = node == nullptr ? nullptr : node->label(kZone)) {
        const JsonArray zones{JsonValue(*zone)};
        const JsonObject in_zone{{"key", kZone}, {"operator", "In"}, {"values", zones}};
        spec["nodeAffinity"] = JsonObject{
            {"required", JsonObject{{"nodeSelectorTerms",
                                     JsonArray{JsonObject{{"matchExpressions", JsonArray{in_zone}}}}}}}};
    }
    volume["spec"] = std::move(spec);
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
    const bool left = !claim || !claimed_by(volume, *claim);
    if (was_bound && !held && left) {
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
