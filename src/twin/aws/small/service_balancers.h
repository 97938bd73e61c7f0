// ServiceBalancers: load balancers for the Services of clusters, as EKS's own controller (classic ones) and
// the AWS load balancer controller (network ones of ELBv2) make them, and take them away.
#pragma once

#include <map>
#include <set>
#include <string>

#include "twin/aws/world.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin {

// What EKS tells of its clusters. The ELBv2 service implements it.
class BalancerWatch {
public:
    virtual ~BalancerWatch() = default;
    // The cluster is in the host from now on; its Services are followed until it is removed there.
    virtual void watch(kube::ClusterHost& host, const std::string& cluster) = 0;
};

// Owned by the ELBv2 service, which hands it its timers of kind "service".
class ServiceBalancers {
public:
    ServiceBalancers(World& world, Service& elbv2) : world_(world), elbv2_(elbv2) {}
    void watch(kube::ClusterHost& host, const std::string& cluster);
    void due(const JsonObject& payload);

private:
    struct Place {
        Place() = default;
        std::string cluster, ns, name;
    };
    void changed(const std::string& cluster, const kube::Change& change);
    void look_later(const Place& place, base::Duration delay);
    void ensure(kube::Cluster& cluster, const Place& place, const JsonObject& service);
    void remove(kube::Cluster& cluster, const Place& place, const JsonObject& service);
    base::Result<std::string> network_balancer(const Place& place, const JsonObject& service);
    std::string classic_name(const JsonObject& service) const;
    base::Result<JsonArray> subnets_of(const Place& place, bool internal);
    base::Result<JsonObject> ask(Service& service, const char* operation, JsonObject params);
    void tell(kube::Cluster& cluster, const JsonObject& service, std::string_view type,
              std::string_view reason, const std::string& message, std::string_view component);

    World& world_;
    Service& elbv2_;
    kube::ClusterHost* host_ = nullptr;
    std::map<std::string, kube::ObjectStore::Subscription> subscriptions_;  // by cluster
    std::set<std::string> waiting_;                                         // cluster/namespace/name
};

}  // namespace instantstart::twin
