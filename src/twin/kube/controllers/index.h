// Index: pods by node and by owner, what they use of their nodes, and dependents of every owner. Fed by the
// store's changes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "twin/kube/controllers/quantity.h"
#include "twin/kube/controllers/queue.h"

namespace instantstart::twin::kube::controllers {

inline const Kind kPods("", "pods");
inline const Kind kNodes("", "nodes");
inline const Kind kNamespaces("", "namespaces");
inline const Kind kServices("", "services");
inline const Kind kClaims("", "persistentvolumeclaims");
inline const Kind kVolumes("", "persistentvolumes");
inline const Kind kDaemonSets("apps", "daemonsets");
inline const Kind kReplicaSets("apps", "replicasets");
inline const Kind kDeployments("apps", "deployments");
inline const Kind kStatefulSets("apps", "statefulsets");
inline const Kind kJobs("batch", "jobs");

struct ObjectName {
    Kind kind;
    Key key;
    auto operator<=>(const ObjectName&) const = default;
};

class Index {
public:
    void apply(const Change& change);
    void add(const Kind& kind, const JsonObject& object);
    void clear();

    const std::set<Key>& pods_on(const std::string& node) const;
    // Pods whose controller has this uid.
    const std::set<Key>& pods_of(const std::string& owner_uid) const;
    const Amounts& used_on(const std::string& node) const;
    const std::set<ObjectName>& dependents_of(const std::string& owner_uid) const;
    bool exists(const std::string& uid) const { return uids_.contains(uid); }
    const std::set<Kind>& kinds() const { return kinds_; }

private:
    struct Pod {
        std::string node, owner;
        Amounts requests;
        bool counts = false;  // not ended: uses its node
    };
    void remove(const Kind& kind, const JsonObject& object);
    void add_pod(const Key& key, const JsonObject& object);
    void remove_pod(const Key& key);

    std::map<Key, Pod> pods_;
    std::map<std::string, std::set<Key>, std::less<>> by_node_, by_owner_;
    std::map<std::string, Amounts, std::less<>> used_;
    std::map<std::string, std::set<ObjectName>, std::less<>> dependents_;
    std::set<std::string, std::less<>> uids_;
    std::set<Kind> kinds_;
};

}  // namespace instantstart::twin::kube::controllers
