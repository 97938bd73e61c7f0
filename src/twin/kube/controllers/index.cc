#include "twin/kube/controllers/index.h"

#include "twin/kube/controllers/object.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

template <class Map, class Value>
void drop(Map& map, const std::string& key, const Value& value) {
    const auto found = map.find(key);
    if (found == map.end()) return;
    found->second.erase(value);
    if (found->second.empty()) map.erase(found);
}

template <class Map>
const typename Map::mapped_type& look_up(const Map& map, const std::string& key) {
    static const typename Map::mapped_type none;
    const auto found = map.find(key);
    return found == map.end() ? none : found->second;
}

}  // namespace

void Index::apply(const Change& change) {
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
}

void Index::remove(const Kind& kind, const JsonObject& object) {
    const Key key(namespace_of(object), name_of(object));
    uids_.erase(base::get_string(object, "metadata.uid"));
    for (const auto& owner : base::get_array(object, "metadata.ownerReferences")) {
        drop(dependents_, base::get_string(owner, "uid"), ObjectName{kind, key});
    }
    if (kind == kPods) remove_pod(key);
}

void Index::add_pod(const Key& key, const JsonObject& object) {
    Pod pod;
    pod.node = base::get_string(object, "spec.nodeName");
    pod.owner = controller_uid(object);
    pod.counts = !pod.node.empty() && !is_finished(object);
    if (!pod.node.empty()) by_node_[pod.node].insert(key);
    if (!pod.owner.empty()) by_owner_[pod.owner].insert(key);
    if (pod.counts) {
        pod.requests = pod_requests(object);
        auto& used = used_[pod.node];
        for (const auto& [name, amount] : pod.requests) used[name] += amount;
    }
    pods_[key] = std::move(pod);
}

void Index::remove_pod(const Key& key) {
    const auto found = pods_.find(key);
    if (found == pods_.end()) return;
    const Pod& pod = found->second;
    drop(by_node_, pod.node, key);
    drop(by_owner_, pod.owner, key);
    if (pod.counts) {
        auto& used = used_[pod.node];
        for (const auto& [name, amount] : pod.requests) used[name] -= amount;
        if (!by_node_.contains(pod.node)) used_.erase(pod.node);
    }
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
const Amounts& Index::used_on(const std::string& node) const {
    return look_up(used_, node);
}
const std::set<ObjectName>& Index::dependents_of(const std::string& owner_uid) const {
    return look_up(dependents_, owner_uid);
}

}  // namespace instantstart::twin::kube::controllers
