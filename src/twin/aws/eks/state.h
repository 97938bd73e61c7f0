// State of the twin's EKS: clusters and what belongs to them. Handlers are free functions over it, one file
// per noun.
#pragma once

#include <map>
#include <set>

#include "twin/aws/ec2/ec2.h"
#include "twin/aws/resources/record.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin::eks {

inline constexpr const char* kAdminPolicy =
    "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

struct State {
    State(World& owner, kube::ClusterHost& clusters_host) : world(owner), host(clusters_host) {}
    World& world;
    kube::ClusterHost& host;
    std::string kube_url = "https://127.0.0.1:3098", ca_pem;
    // Keys: name; cluster/add-on; id; cluster/id; cluster/group; cluster|principal ARN.
    Table clusters, addons, updates, associations, nodegroups, entries;
    std::map<std::string, std::string, std::less<>> tokens;
    // By cluster: what tells of changes in its objects (operators.cc), and which of them have a look planned.
    std::map<std::string, kube::ObjectStore::Subscription, std::less<>> watches;
    std::set<std::string, std::less<>> operator_looks;

    ec2::Ec2& ec2() const { return world.get<ec2::Ec2>("ec2"); }
    std::string arn(std::string_view resource) const;
    std::string time() const;
};

using Handler = Reply (*)(State&, const Call&);
using Operations = std::map<std::string, Handler, std::less<>>;

void add_cluster_operations(Operations& operations);
void add_update_operations(Operations& operations);
void add_addon_operations(Operations& operations);
void add_entry_operations(Operations& operations);
void add_association_operations(Operations& operations);
void add_nodegroup_operations(Operations& operations);
void add_tag_operations(Operations& operations);
void add_version_operations(Operations& operations);

void cluster_timer(State& state, const std::string& kind, const JsonObject& payload);
void update_timer(State& state, const std::string& kind, const JsonObject& payload);
void addon_timer(State& state, const std::string& kind, const JsonObject& payload);
void nodegroup_timer(State& state, const std::string& kind, const JsonObject& payload);

// The cluster, or EKS's ResourceNotFoundException.
struct Found {
    Record* record = nullptr;
    ServiceError error;
};
Found require_cluster(State& state, std::string_view name);
ServiceError missing(std::string message);
ServiceError invalid(std::string message);

// Why the role cannot be used by the service, as EKS says it; nullopt where it can.
std::optional<ServiceError> check_role(const State& state, std::string_view role_arn,
                                       std::string_view service);

// Makes the cluster in the Kubernetes host, with its authenticator; without objects of its own.
void make_kube_cluster(State& state, const Record& cluster);
// Who the bearer of a token is in this cluster; nullopt is 401.
std::optional<kube::User> authenticate(const State& state, const std::string& cluster,
                                       std::string_view token);

// Makes an access entry (replaces none).
Record& make_entry(State& state, const std::string& cluster, const std::string& principal,
                   const std::string& type, JsonArray groups);
void add_policy(State& state, Record& entry, const std::string& policy, JsonObject scope);
std::string entry_key(std::string_view cluster, std::string_view principal);

// A list call's answer: `items` paged by maxResults and nextToken.
JsonObject listed(const Call& call, const char* member, const JsonArray& items);
// Starts an update of a cluster or add-on; its record.
Record& start_update(State& state, const std::string& cluster, std::string_view type, JsonArray params,
                     const std::string& addon);
JsonObject param(std::string_view type, std::string_view value);

const std::vector<std::string>& kubernetes_versions();  // oldest first
std::string default_kubernetes_version();

}  // namespace instantstart::twin::eks
