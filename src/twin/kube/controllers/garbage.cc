#include <algorithm>

#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";
}  // namespace

// Work is named by the uid of an owner: its dependents must be looked at.
void Garbage::changed(const Change& change) {
    const JsonObject& object = *change.object;
    const auto uid = base::get_string(object, "metadata.uid");
    if (change.type == Change::Type::deleted) {
        owners_.erase(uid);
        if (!env_.index.dependents_of(uid).empty()) env_.queue.add(this, Key("", uid));
    } else if (is_terminating(object) &&
               (has_finalizer(object, kForeground) || has_finalizer(object, kOrphan))) {
        owners_[uid] = ObjectName{change.kind, Key(namespace_of(object), name_of(object))};
        env_.queue.add(this, Key("", uid));
    }
    for (const auto& owner : base::get_array(object, "metadata.ownerReferences")) {
        const auto owner_uid = base::get_string(owner, "uid");
        const bool orphaned = change.type == Change::Type::added && !env_.index.exists(owner_uid);
        if (orphaned || owners_.contains(owner_uid)) env_.queue.add(this, Key("", owner_uid));
    }
}

void Garbage::sync(const Key& key) {
    const auto owner = owners_.find(key.name);
    if (owner != owners_.end()) return finish_owner(owner->second);
    if (!env_.index.exists(key.name)) collect(key.name);
}

// Removes the dependents whose owners are all gone; from the others only the reference to this one.
void Garbage::collect(const std::string& uid) {
    const auto dependents = env_.index.dependents_of(uid);
    for (const auto& name : dependents) {
        const auto object = env_.get(name.kind, name.key);
        if (!object) continue;
        const auto& owners = base::get_array(*object, "metadata.ownerReferences");
        const bool others = std::any_of(owners.begin(), owners.end(), [&](const JsonValue& owner) {
            return env_.index.exists(base::get_string(owner, "uid"));
        });
        if (!others) {
            if (!is_terminating(*object)) env_.remove(name.kind, name.key);
            continue;
        }
        JsonObject next = *object;
        auto& list = list_at(metadata_of(next), "ownerReferences");
        list.erase(
            std::remove_if(list.begin(), list.end(),
                           [&](const JsonValue& owner) { return base::get_string(owner, "uid") == uid; }),
            list.end());
        env_.write(name.kind, std::move(next));
    }
}

void Garbage::finish_owner(const ObjectName& name) {
    const auto owner = env_.get(name.kind, name.key);
    if (!owner) return;
    const auto uid = base::get_string(*owner, "metadata.uid");
    const bool orphan = has_finalizer(*owner, kOrphan);
    const auto dependents = env_.index.dependents_of(uid);
    for (const auto& dependent : dependents) {
        const auto object = env_.get(dependent.kind, dependent.key);
        if (!object) continue;
        if (orphan) {
            JsonObject next = *object;
            auto& list = list_at(metadata_of(next), "ownerReferences");
            list.erase(
                std::remove_if(list.begin(), list.end(),
                               [&](const JsonValue& value) { return base::get_string(value, "uid") == uid; }),
                list.end());
            if (list.empty()) metadata_of(next).erase("ownerReferences");
            env_.write(dependent.kind, std::move(next));
        } else if (!is_terminating(*object)) {
            env_.remove(dependent.kind, dependent.key);
        }
    }
    if (!env_.index.dependents_of(uid).empty()) return;  // their end names this again
    JsonObject next = *owner;
    remove_finalizer(next, orphan ? kOrphan : kForeground);
    metadata_of(next).erase("resourceVersion");
    env_.write(name.kind, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
