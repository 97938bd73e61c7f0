// State of the twin's HyperPod: clusters, instance groups, nodes, events. Handlers are free functions over
// it.
#pragma once

#include <map>

#include "twin/aws/eks/eks.h"
#include "twin/aws/resources/record.h"

namespace instantstart::twin::sagemaker {

struct State {
    State(World& owner, kube::ClusterHost& clusters_host) : world(owner), host(clusters_host) {}
    World& world;
    kube::ClusterHost& host;
    // Keys: name; cluster id/group; logical id; event id.
    Table clusters, groups, nodes, events;
    std::map<std::string, JsonValue, std::less<>> tokens;  // of BatchAddClusterNodes: the answer given

    ec2::Ec2& ec2() const { return world.get<ec2::Ec2>("ec2"); }
    eks::Eks& eks() const { return world.get<eks::Eks>("eks"); }
    std::string time() const { return base::format_time_millis(world.now()); }
};

using Handler = Reply (*)(State&, const Call&);
using Operations = std::map<std::string, Handler, std::less<>>;

void add_cluster_operations(Operations& operations);
void add_update_operations(Operations& operations);
void add_node_operations(Operations& operations);
void add_batch_operations(Operations& operations);
void add_event_operations(Operations& operations);
void add_tag_operations(Operations& operations);

ServiceError invalid(std::string message);  // ValidationException

// The cluster by name or ARN, or ResourceNotFound.
struct Found {
    Record* record = nullptr;
    ServiceError error;
};
Found require_cluster(State& state, const Call& call);
Record* find_cluster_by_id(State& state, std::string_view id);
std::string cluster_id(const Record& cluster);
std::string eks_name(const State& state, const Record& cluster);
bool is_continuous(const Record& cluster);
std::string status_of(const Record& record);  // ClusterStatus or a group's Status

// Groups of a cluster, by name; nodes of a group.
std::vector<Record*> groups_of(State& state, const Record& cluster);
Record* find_group(State& state, const Record& cluster, std::string_view name);
std::vector<Record*> nodes_of(State& state, const Record& cluster, std::string_view group = "");
std::string node_status(const Record& node);
std::int64_t running_count(State& state, const Record& cluster, std::string_view group);

// A group's answer from its specification in the request, and the answer of DescribeCluster.
void put_group(State& state, const Record& cluster, const JsonObject& specification);
JsonObject group_answer(State& state, const Record& cluster, const Record& group);

// Everything that AWS refuses at once, before anything is made.
std::optional<ServiceError> check_create(State& state, const Call& call);
std::optional<ServiceError> check_groups(State& state, const Call& call, const JsonArray& groups,
                                         const JsonObject& vpc_config, const Record* cluster,
                                         bool continuous);

// Brings the nodes of all groups to their targets, as far as capacity and addresses allow.
void reconcile(State& state, Record& cluster);
// Statuses of cluster and groups after nodes changed.
void settle(State& state, Record& cluster);
enum class Place : std::uint8_t { started, no_capacity, no_addresses };
Place start_node(State& state, Record& cluster, Record& group, Record& node);
void stop_node(State& state, Record& node);     // ShuttingDown, then gone
void replace_node(State& state, Record& node);  // another instance under the logical id
void reboot_node(State& state, Record& node);
void leave_kubernetes(State& state, const Record& cluster, const Record& node);
void node_timer(State& state, const std::string& kind, const JsonObject& payload);
void cluster_timer(State& state, const std::string& kind, const JsonObject& payload);
void fault_timer(State& state, const std::string& kind, const JsonObject& payload);
std::string kube_name(const Record& node);

struct EventSpec {
    EventSpec() = default;
    std::string resource = "Cluster";  // Cluster, InstanceGroup, Instance
    std::string level = "Info";
    std::string group, instance, description;
    JsonObject metadata;
};
void add_event(State& state, const Record& cluster, EventSpec spec);

base::Result<void> break_node(State& state, const std::string& instance_id, const std::string& fault,
                              std::optional<std::int64_t> code);

}  // namespace instantstart::twin::sagemaker
