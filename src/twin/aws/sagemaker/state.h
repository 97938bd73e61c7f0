// State of the twin's HyperPod: clusters, instance groups, nodes, events. Handlers are free functions over
// it.
#pragma once

#include <map>
#include <set>

#include "twin/aws/eks/eks.h"
#include "twin/aws/resources/record.h"

namespace instantstart::twin::sagemaker {

struct State {
    State(World& owner, kube::ClusterHost& clusters_host) : world(owner), host(clusters_host) {}
    World& world;
    kube::ClusterHost& host;
    // Keys: name; cluster id/group; logical id; event id.
    Table clusters, groups, nodes, events, plans, offerings;
    std::map<std::string, JsonValue, std::less<>>
        tokens;                                 // of BatchAddClusterNodes: what was asked and given
    std::int64_t event_serial = 0;              // of the newest event
    std::int64_t image_release = 1;             // of HyperPod's own images; a new one by the control
    std::set<std::string, std::less<>> passes;  // ids of clusters that autoscaling is to look at
    // By cluster id: what tells of changes in its Kubernetes objects (watch.cc). Made anew after loading.
    std::map<std::string, kube::ObjectStore::Subscription, std::less<>> watches;

    ec2::Ec2& ec2() const { return world.get<ec2::Ec2>("ec2"); }
    eks::Eks& eks() const { return world.get<eks::Eks>("eks"); }
    std::string time() const { return base::format_time_millis(world.now()); }
};

using Handler = Reply (*)(State&, const Call&);
using Operations = std::map<std::string, Handler, std::less<>>;

void add_cluster_operations(Operations& operations);
void add_update_operations(Operations& operations);
void add_software_operations(Operations& operations);
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
bool has_instance(const Record& node);  // it has an instance that is not being shut down
std::int64_t running_count(State& state, const Record& cluster, std::string_view group);

// A group's answer from its specification in the request, and the answer of DescribeCluster. What the
// specification leaves out is as in a new group.
void put_group(State& state, const Record& cluster, const JsonObject& specification);
JsonObject group_answer(State& state, const Record& cluster, const Record& group);
// The types that the group may start, the preferred one first.
std::vector<std::string> types_of(const Record& group);
bool is_spot(const Record& group);
std::string desired_image(const Record& group);  // what tells one image from another
const JsonObject& network_of(const Record& cluster, const Record& group);
// What cannot be changed in a group's life and would be by the specification, as AWS says it.
std::optional<ServiceError> check_fixed(const Record& group, const JsonObject& specification);
// The desired labels and taints come to the nodes; they are the current ones then.
void apply_kubernetes_config(State& state, const Record& cluster, Record& group);
// As the Kubernetes API writes them.
JsonArray kube_taints(const JsonArray& taints);

// Everything that AWS refuses at once, before anything is made.
std::optional<ServiceError> check_create(State& state, const Call& call);
std::optional<ServiceError> check_groups(State& state, const Call& call, const JsonArray& groups,
                                         const JsonObject& vpc_config, const Record* cluster,
                                         bool continuous);
std::optional<ServiceError> check_group_rules(const JsonObject& group, bool continuous);
std::optional<ServiceError> check_role(const State& state, const std::string& role, std::string_view service);
// ClusterRole and AutoScaling as they would be; the role is tried where the request is about it.
std::optional<ServiceError> check_scaling(State& state, const JsonObject& wanted, bool continuous,
                                          bool with_role);
// Instances of the type that have started, over all clusters, against its quota.
bool has_quota(State& state, const std::string& type);

// Brings the nodes of all groups to their targets, as far as capacity and addresses allow.
void reconcile(State& state, Record& cluster);
// Both in two seconds, once however many nodes come and go until then.
void look_soon(State& state, Record& cluster);
// Statuses of cluster and groups after nodes changed.
void settle(State& state, Record& cluster);
enum class Place : std::uint8_t { started, no_capacity, no_addresses, no_plan };
Place start_node(State& state, Record& cluster, Record& group, Record& node);
// So many more nodes, with the request's restriction of zones and types; their logical ids.
std::vector<std::string> add_nodes(State& state, Record& cluster, Record& group, std::int64_t count,
                                   const JsonObject& steered);
void stop_node(State& state, Record& node);  // ShuttingDown, then gone
void stop_nodes(State& state, const std::vector<Record*>& nodes, std::size_t count);  // those that go first
void replace_node(State& state, Record& node);  // another instance under the logical id
void reboot_node(State& state, Record& node);
void node_timer(State& state, const std::string& kind, const JsonObject& payload);
void cluster_timer(State& state, const std::string& kind, const JsonObject& payload);
void fault_timer(State& state, const std::string& kind, const JsonObject& payload);
std::string kube_name(const Record& node);
void set_timer(State& state, const Record& node, const char* kind, base::Duration typical);
void after_reboot(State& state, Record& cluster, Record& node);  // the instance is up again
void give_back(State& state, Record& node);                      // what the node took of a zone's capacity

struct EventSpec {
    EventSpec() = default;
    std::string resource = "Cluster";  // Cluster, InstanceGroup, Instance
    std::string level = "Info";
    std::string group, instance, description;
    JsonObject metadata;
};
void add_event(State& state, const Record& cluster, EventSpec spec);

// The access entries of the groups' execution roles; those that were made.
void ensure_role_entries(State& state, const Record& cluster, const JsonArray& groups);
// Three hours in which the group must reach its minimum, where `min_before` is another.
void start_min_clock(State& state, const Record& cluster, Record& group, std::int64_t min_before);
void software_timer(State& state, const JsonObject& payload);

base::Result<void> break_node(State& state, const std::string& instance_id, const std::string& fault,
                              std::optional<std::int64_t> code);

}  // namespace instantstart::twin::sagemaker
