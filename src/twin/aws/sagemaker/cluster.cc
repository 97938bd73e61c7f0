// HyperPod clusters: created, described, listed, deleted.
#include "twin/aws/sagemaker/karpenter.h"
#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/state.h"
#include "twin/aws/sagemaker/watch.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kServicePrincipal = "hyperpod.sagemaker.amazonaws.com";
constexpr std::string_view kServiceRole = "AWSServiceRoleForSageMakerHyperPod";

// A cluster id is 12 lower-case letters and digits, the tail of the ARN.
std::string new_id(State& state) {
    return state.world.hex_id("", 12);
}

JsonObject cluster_data(State& state, const Call& call, const std::string& id) {
    JsonObject data;
    data["ClusterArn"] =
        "arn:aws:sagemaker:" + state.world.region() + ":" + state.world.account() + ":cluster/" + id;
    data["ClusterName"] = base::get_string(call.params, "ClusterName");
    data["ClusterStatus"] = "Creating";
    data["CreationTime"] = state.time();
    data["VpcConfig"] = base::get_object(call.params, "VpcConfig");
    data["Orchestrator"] = base::get_object(call.params, "Orchestrator");
    data["NodeRecovery"] = base::get_string(call.params, "NodeRecovery", "Automatic");
    for (const char* member : {"NodeProvisioningMode", "ClusterRole", "TieredStorageConfig"}) {
        if (const JsonValue* value = call.params.if_contains(member)) data[member] = *value;
    }
    return data;
}

// HyperPod makes the access entries of its own role and of the execution roles.
void make_entries(State& state, const Record& cluster, const JsonArray& groups) {
    const std::string eks = eks_name(state, cluster);
    const std::string own = state.world.iam().ensure_service_linked_role(kServicePrincipal, kServiceRole);
    state.eks().ensure_entry(eks, own, "STANDARD");
    ensure_role_entries(state, cluster, groups);
    EventSpec event;
    event.description = "EKS access entries are in place";
    JsonArray roles;
    for (const JsonValue& group : groups) roles.emplace_back(base::get_string(group, "ExecutionRole"));
    event.metadata["Cluster"] = {{"EksRoleAccessEntries", roles}, {"SlrAccessEntry", own}};
    add_event(state, cluster, std::move(event));
}

Reply create_cluster(State& state, const Call& call) {
    if (auto bad = check_create(state, call)) return *bad;
    const std::string id = new_id(state), name = base::get_string(call.params, "ClusterName");
    Record& cluster = state.clusters.add(name, cluster_data(state, call, id), state.world.now());
    cluster.hidden["id"] = id;
    cluster.hidden["tags"] = base::get_array(call.params, "Tags");
    const JsonArray& groups = base::get_array(call.params, "InstanceGroups");
    for (const JsonValue& group : groups) {
        put_group(state, cluster, group.get_object());
        if (is_continuous(cluster))
            start_min_clock(state, cluster,
                            *find_group(state, cluster, base::get_string(group, "InstanceGroupName")), -1);
    }
    if (base::get_string(call.params, "AutoScaling.Mode") == "Enable")
        set_scaling(state, cluster, base::get_object(call.params, "AutoScaling"));
    watch_cluster(state, cluster);
    make_entries(state, cluster, groups);
    EventSpec event;
    event.description = "Cluster creation has started";
    add_event(state, cluster, std::move(event));
    state.world.after(state.world.about(minutes(3)), "sagemaker", "cluster_ready", {{"cluster", id}});
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    return answer;
}

Reply describe_cluster(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    JsonObject answer = found.record->data;
    JsonArray groups;
    for (const Record* group : groups_of(state, *found.record))
        groups.push_back(group_answer(state, *found.record, *group));
    answer["InstanceGroups"] = std::move(groups);
    return answer;
}

bool chosen(const Record& cluster, const Call& call) {
    const std::string part = base::get_string(call.params, "NameContains");
    if (!part.empty() && cluster.id.find(part) == std::string::npos) return false;
    const auto after = base::parse_time(base::get_string(call.params, "CreationTimeAfter"));
    const auto before = base::parse_time(base::get_string(call.params, "CreationTimeBefore"));
    return (!after || cluster.created > *after) && (!before || cluster.created < *before) &&
           call.shows(cluster.created);
}

Reply list_clusters(State& state, const Call& call) {
    JsonArray all;
    for (const auto& [name, cluster] : state.clusters) {
        if (!chosen(cluster, call)) continue;
        JsonObject summary;
        for (const char* member : {"ClusterArn", "ClusterName", "CreationTime", "ClusterStatus"})
            summary[member] = *cluster.data.if_contains(member);
        all.push_back(std::move(summary));
    }
    Page page = paginate(all, base::get_int(call.params, "MaxResults", 10),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer["ClusterSummaries"] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

Reply delete_cluster(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const std::string status = status_of(*found.record);
    if (status == "Creating" || status == "Updating" || status == "SystemUpdating" ||
        status == "RollingBack") {
        return failure("ConflictException", "Cluster " + found.record->id +
                                                " cannot be deleted while its status is " + status + ".");
    }
    if (status != "Deleting") {
        found.record->data["ClusterStatus"] = "Deleting";
        for (Record* node : nodes_of(state, *found.record)) {
            node->data["InstanceStatus"] = {{"Status", "ShuttingDown"}};
            leave_kubernetes(state, *found.record, *node);
        }
        state.world.after(state.world.about(minutes(3)), "sagemaker", "cluster_gone",
                          {{"cluster", cluster_id(*found.record)}});
    }
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(found.record->data, "ClusterArn");
    return answer;
}

// The interfaces of the nodes: most go a little later by themselves, one that the CNI made stays until
// somebody deletes it.
void release_interfaces(State& state, const Record& cluster, const std::string& eks) {
    JsonArray later;
    bool left = false;
    for (const Record* node : nodes_of(state, cluster)) {
        const std::string interface = base::get_string(node->hidden, "interface");
        if (interface.empty()) continue;
        if (!left) {
            ec2::InterfaceSpec spec;
            spec.subnet_id = base::get_string(node->hidden, "subnet");
            spec.group_ids = strings(cluster.data, "VpcConfig.SecurityGroupIds");
            spec.description = "aws-K8S-" + base::get_string(node->data, "InstanceId");
            put_tag(spec.tags, "cluster.k8s.amazonaws.com/name", eks);
            put_tag(spec.tags, "node.k8s.amazonaws.com/instance_id",
                    base::get_string(node->data, "InstanceId"));
            left = state.ec2().create_interface(spec).has_value();
        }
        later.emplace_back(interface);
    }
    if (!later.empty())
        state.world.after(seconds(60), "sagemaker", "cluster_released", {{"interfaces", later}});
}

void cluster_gone(State& state, const Record& cluster) {
    const std::string eks = eks_name(state, cluster), id = cluster_id(cluster);
    release_interfaces(state, cluster, eks);
    drop_tiered_storage(state, cluster);
    for (const Record* group : groups_of(state, cluster))
        state.eks().delete_entry(eks, base::get_string(group->data, "ExecutionRole"));
    state.eks().delete_entry(eks,
                             state.world.iam().ensure_service_linked_role(kServicePrincipal, kServiceRole));
    std::vector<std::string> keys;
    for (Record* node : nodes_of(state, cluster)) {
        give_back(state, *node);
        keys.push_back(node->id);
    }
    for (const std::string& key : keys) state.nodes.erase(key);
    keys.clear();
    for (const Record* group : groups_of(state, cluster)) keys.push_back(group->id);
    for (const std::string& key : keys) state.groups.erase(key);
    keys.clear();
    for (const auto& [key, event] : state.events) {
        if (base::get_string(event.hidden, "cluster") == id) keys.push_back(key);
    }
    for (const std::string& key : keys) state.events.erase(key);
    state.watches.erase(id);
    state.clusters.erase(std::string(cluster.id));
}

void rolled_back(State& state, Record& cluster) {
    const bool created = base::get_bool(cluster.hidden, "created");
    cluster.data["ClusterStatus"] = created ? "InService" : "Failed";
    for (Record* group : groups_of(state, cluster)) group->data["Status"] = created ? "InService" : "Failed";
}

// The minimum was not reached in time: a new group goes to zero, another to what it last had in service. Its
// status changes at once, while the instances still go.
void below_minimum(State& state, Record& cluster, const JsonObject& payload) {
    Record* group = find_group(state, cluster, base::get_string(payload, "group"));
    if (group == nullptr ||
        base::get_string(group->hidden, "min_clock") != base::get_string(payload, "clock"))
        return;
    const std::string status = status_of(*group);
    if (status != "Creating" && status != "Updating") return;
    group->data["MinCount"] = base::get_int(group->hidden, "last_service.MinCount");
    group->data["TargetCount"] = base::get_int(group->hidden, "last_service.TargetCount");
    group->data["Status"] = "InService";
    EventSpec event;
    event.resource = "InstanceGroup";
    event.level = "Warn";
    event.group = base::get_string(payload, "group");
    event.description =
        "MinInstanceCount was not reached within 3 hours: the instance group is rolled back to " +
        std::to_string(base::get_int(group->data, "TargetCount")) + " instances";
    add_event(state, cluster, std::move(event));
    reconcile(state, cluster);
}

}  // namespace

void ensure_role_entries(State& state, const Record& cluster, const JsonArray& groups) {
    for (const JsonValue& group : groups) {
        state.eks().ensure_entry(eks_name(state, cluster), base::get_string(group, "ExecutionRole"),
                                 "HYPERPOD_LINUX");
    }
}

void cluster_timer(State& state, const std::string& kind, const JsonObject& payload) {
    if (kind == "cluster_released") {
        for (const std::string& interface : strings(payload, "interfaces"))
            state.ec2().delete_interface(interface);
        return;
    }
    Record* cluster = find_cluster_by_id(state, base::get_string(payload, "cluster"));
    if (cluster == nullptr) return;
    const std::string status = status_of(*cluster);
    if (kind == "cluster_gone" && status == "Deleting") return cluster_gone(state, *cluster);
    if (status == "Deleting") return;
    if (kind == "cluster_ready") {
        cluster->hidden["prepared"] = true;
        if (checkpoint_percent(*cluster) > 0) apply_tiered_storage(state, *cluster);
        reconcile(state, *cluster);
    }
    if (kind == "cluster_look") {
        cluster->hidden["looking"] = false;
        reconcile(state, *cluster);
    }
    if (kind == "cluster_update_done") {
        cluster->hidden["updating"] = false;
        for (Record* group : groups_of(state, *cluster)) apply_kubernetes_config(state, *cluster, *group);
    }
    if (kind == "cluster_retry") {
        cluster->hidden["retry"] = false;
        reconcile(state, *cluster);
    }
    if (kind == "cluster_rollback_done") return rolled_back(state, *cluster);
    if (kind == "cluster_min_rollback") below_minimum(state, *cluster, payload);
    settle(state, *cluster);
}

void add_cluster_operations(Operations& operations) {
    operations["CreateCluster"] = create_cluster;
    operations["DescribeCluster"] = describe_cluster;
    operations["ListClusters"] = list_clusters;
    operations["DeleteCluster"] = delete_cluster;
}

}  // namespace instantstart::twin::sagemaker
