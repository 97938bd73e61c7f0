#include "twin/kube/controllers/index.h"

#include "twin/kube/controllers/object.h"
#include "twin/kube/controllers/volumes.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

template <class Map, class Name, class Value>
void drop(Map& map, const Name& key, const Value& value) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    found->second.erase(value);
    if (found->second.empty()) map.erase(found);
}

template <class Map, class Name>
const typename Map::mapped_type& look_up(const Map& map, const Name& key) {
    static const typename Map::mapped_type none;
    const auto found = map.find(key);
    return found == map.end() ? none : found->second;
}

}  // namespace

// Most changes are of the status of pods and touch nothing that stands here.
bool Index::stays_the_same(const Change& change) const {
    if (change.kind != kPods || !change.previous || change.type != Change::Type::modified) return false;
    const auto& before = *change.previous;
    const auto& after = *change.object;
    return base::get_string(before, "metadata.uid") == base::get_string(after, "metadata.uid") &&
           base::get_string(before, "spec.nodeName") == base::get_string(after, "spec.nodeName") &&
           is_finished(before) == is_finished(after) && is_ready(before) == is_ready(after) &&
           is_terminating(before) == is_terminating(after) &&
           base::get_array(before, "metadata.ownerReferences") ==
               base::get_array(after, "metadata.ownerReferences");
}

void Index::apply(const Change& change) {
    if (stays_the_same(change)) return;
    if (change.previous) remove(change.kind, *change.previous);
    if (change.type != Change::Type::deleted) add(change.kind, *change.object);
}

void Index::add(const Kind& kind, const JsonObject& object) {
    const Key key(namespace_of(object), name_of(object));
    kinds_.insert(kind);
    uids_.insert(base::get_string(object, "metadata.uid"));
    for (const auto& owner : base::get_array(object, "metadata.ownerReferences")) {
        dependents_[base::get_string(owner, "uid")].insert(ObjectName{kind, key});
    }
    if (kind == kPods) add_pod(key, object);
    if (kind == kNodes) nodes_.put(object);
}

void Index::remove(const Kind& kind, const JsonObject& object) {
    const Key key(namespace_of(object), name_of(object));
    uids_.erase(base::get_string(object, "metadata.uid"));
    for (const auto& owner : base::get_array(object, "metadata.ownerReferences")) {
        drop(dependents_, base::get_string(owner, "uid"), ObjectName{kind, key});
    }
    if (kind == kPods) remove_pod(key);
    if (kind == kNodes) nodes_.remove(key.name);
}

void Index::add_pod(const Key& key, const JsonObject& object) {
    Pod pod;
    pod.node = base::get_string(object, "spec.nodeName");
    pod.owner = controller_uid(object);
    pod.counts = !pod.node.empty() && !is_finished(object);
    if (!pod.node.empty()) by_node_[pod.node].insert(key);
    pod.active = !is_finished(object) && !is_terminating(object);
    pod.ready = pod.active && is_ready(object);
    if (!pod.owner.empty()) {
        by_owner_[pod.owner].insert(key);
        auto& counts = counts_[pod.owner];
        counts.active += pod.active ? 1 : 0;
        counts.ready += pod.ready ? 1 : 0;
    }
    for (const auto& volume : base::get_array(object, "spec.volumes")) {
        const auto claim = claim_name_of(volume, object);
        if (!claim.empty()) pod.claims.emplace_back(key.ns, claim);
    }
    for (const auto& claim : pod.claims) by_claim_[claim].insert(key);
    if (pod.counts) {
        pod.requests = pod_requests(object);
        pod.ports = host_ports_of(object);
        nodes_.use(pod.node, pod.requests, pod.ports, 1);
        const auto& anti = base::get_object(object, "spec.affinity.podAntiAffinity");
        if (!base::get_array(anti, "requiredDuringSchedulingIgnoredDuringExecution").empty())
            anti_affine_.insert(key);
    }
    pods_[key] = std::move(pod);
}

void Index::remove_pod(const Key& key) {
    const auto found = pods_.find(key);
    if (found == pods_.end()) return;
    const Pod& pod = found->second;
    drop(by_node_, pod.node, key);
    drop(by_owner_, pod.owner, key);
    if (const auto counts = counts_.find(pod.owner); counts != counts_.end()) {
        counts->second.active -= pod.active ? 1 : 0;
        counts->second.ready -= pod.ready ? 1 : 0;
        if (!by_owner_.contains(pod.owner)) counts_.erase(counts);
    }
    for (const auto& claim : pod.claims) drop(by_claim_, claim, key);
    if (pod.counts) nodes_.use(pod.node, pod.requests, pod.ports, -1);
    anti_affine_.erase(key);
    pods_.erase(found);
}

void Index::clear() {
    *this = Index();
}

const std::set<Key>& Index::pods_on(const std::string& node) const {
    return look_up(by_node_, node);
}
const std::set<Key>& Index::pods_of(const std::string& owner_uid) const {
    return look_up(by_owner_, owner_uid);
}
const OwnerCounts& Index::counts_of(const std::string& owner_uid) const {
    return look_up(counts_, owner_uid);
}
const std::set<Key>& Index::users_of(const Key& claim) const {
    return look_up(by_claim_, claim);
}
const std::set<ObjectName>& Index::dependents_of(const std::string& owner_uid) const {
    return look_up(dependents_, owner_uid);
}

}  // namespace instantstart::twin::kube::controllers
