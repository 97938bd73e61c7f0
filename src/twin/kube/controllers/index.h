// Index: pods by node, by owner and by claim, what they use of their nodes, and dependents of every owner.
// Fed by the store's changes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "twin/kube/controllers/quantity.h"
#include "twin/kube/controllers/queue.h"
#include "twin/kube/controllers/scheduling/node_table.h"

namespace instantstart::twin::kube::controllers {

inline const Kind kPods("", "pods");
inline const Kind kNodes("", "nodes");
inline const Kind kNamespaces("", "namespaces");
inline const Kind kServices("", "services");
inline const Kind kConfigMaps("", "configmaps");
inline const Kind kSecrets("", "secrets");
inline const Kind kServiceAccounts("", "serviceaccounts");
inline const Kind kClaims("", "persistentvolumeclaims");
inline const Kind kVolumes("", "persistentvolumes");
inline const Kind kDaemonSets("apps", "daemonsets");
inline const Kind kReplicaSets("apps", "replicasets");
inline const Kind kDeployments("apps", "deployments");
inline const Kind kStatefulSets("apps", "statefulsets");
inline const Kind kJobs("batch", "jobs");
inline const Kind kCronJobs("batch", "cronjobs");

struct ObjectName {
    Kind kind;
    Key key;
    auto operator<=>(const ObjectName&) const = default;
};

// Of the pods that an owner controls.
struct OwnerCounts {
    std::int64_t active = 0, ready = 0;  // active: neither ended nor ending
};

class Index {
public:
    void apply(const Change& change);
    void add(const Kind& kind, const JsonObject& object);
    void clear();

    const std::set<Key>& pods_on(const std::string& node) const;
    // Pods whose controller has this uid.
    const std::set<Key>& pods_of(const std::string& owner_uid) const;
    const OwnerCounts& counts_of(const std::string& owner_uid) const;
    const NodeTable& nodes() const { return nodes_; }
    const Amounts& used_on(const std::string& node) const { return nodes_.used_on(node); }
    // Pods that have their place and want others away from it (required anti-affinity).
    const std::set<Key>& anti_affine() const { return anti_affine_; }
    // Pods that name the claim.
    const std::set<Key>& users_of(const Key& claim) const;
    const std::set<ObjectName>& dependents_of(const std::string& owner_uid) const;
    bool exists(const std::string& uid) const { return uids_.contains(uid); }
    const std::set<Kind>& kinds() const { return kinds_; }

private:
    struct Pod {
        std::string node, owner;
        Amounts requests;
        HostPorts ports;
        std::vector<Key> claims;
        bool counts = false;  // not ended: uses its node
        bool active = false, ready = false;
    };
    void remove(const Kind& kind, const JsonObject& object);
    void add_pod(const Key& key, const JsonObject& object);
    void remove_pod(const Key& key);
    bool stays_the_same(const Change& change) const;

    std::map<Key, Pod> pods_;
    std::map<std::string, std::set<Key>, std::less<>> by_node_, by_owner_;
    std::map<Key, std::set<Key>> by_claim_;
    std::map<std::string, OwnerCounts, std::less<>> counts_;
    std::set<Key> anti_affine_;
    NodeTable nodes_;
    std::map<std::string, std::set<ObjectName>, std::less<>> dependents_;
    std::set<std::string, std::less<>> uids_;
    std::set<Kind> kinds_;
};

}  // namespace instantstart::twin::kube::controllers
