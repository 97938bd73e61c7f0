// HyperPod clusters: created, described, listed, deleted.
#include "twin/aws/sagemaker/state.h"

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
    if (call.params.contains("AutoScaling")) {
        JsonObject scaling = base::get_object(call.params, "AutoScaling");
        scaling["Status"] = "Creating";
        data["AutoScaling"] = std::move(scaling);
    }
    return data;
}

// HyperPod makes the access entries of its own role and of the execution roles.
void make_entries(State& state, const Record& cluster, const JsonArray& groups) {
    const std::string eks = eks_name(state, cluster);
    const std::string own = state.world.iam().ensure_service_linked_role(kServicePrincipal, kServiceRole);
    state.eks().ensure_entry(eks, own, "STANDARD");
    JsonArray roles;
    for (const JsonValue& group : groups) {
        const std::string role = base::get_string(group, "ExecutionRole");
        state.eks().ensure_entry(eks, role, "HYPERPOD_LINUX");
        roles.emplace_back(role);
    }
    EventSpec event;
    event.description = "EKS access entries are in place";
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
    for (const JsonValue& group : groups) put_group(state, cluster, group.get_object());
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
    for (const Record* group : groups_of(state, cluster))
        state.eks().delete_entry(eks, base::get_string(group->data, "ExecutionRole"));
    state.eks().delete_entry(eks,
                             state.world.iam().ensure_service_linked_role(kServicePrincipal, kServiceRole));
    std::vector<std::string> keys;
    for (const Record* node : nodes_of(state, cluster)) keys.push_back(node->id);
    for (const std::string& key : keys) state.nodes.erase(key);
    keys.clear();
    for (const Record* group : groups_of(state, cluster)) keys.push_back(group->id);
    for (const std::string& key : keys) state.groups.erase(key);
    keys.clear();
    for (const auto& [key, event] : state.events) {
        if (base::get_string(event.hidden, "cluster") == id) keys.push_back(key);
    }
    for (const std::string& key : keys) state.events.erase(key);
    state.clusters.erase(std::string(cluster.id));
}

}  // namespace

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
        if (cluster->data.contains("AutoScaling"))
            cluster->data["AutoScaling"].as_object()["Status"] = "InService";
        reconcile(state, *cluster);
    }
    if (kind == "cluster_retry") {
        cluster->hidden["retry"] = false;
        reconcile(state, *cluster);
    }
    if (kind == "cluster_rollback_done") {
        const bool created = base::get_bool(cluster->hidden, "created");
        cluster->data["ClusterStatus"] = created ? "InService" : "Failed";
        for (Record* group : groups_of(state, *cluster))
            group->data["Status"] = created ? "InService" : "Failed";
        return;
    }
    if (kind == "cluster_min_rollback") {
        Record* group = find_group(state, *cluster, base::get_string(payload, "group"));
        if (group == nullptr || status_of(*group) != "Creating" ||
            base::get_string(group->hidden, "min_clock") != base::get_string(payload, "clock"))
            return;
        group->data["MinCount"] = 0;
        group->data["TargetCount"] = 0;
        group->data["Status"] = "InService";
        reconcile(state, *cluster);
    }
    if (kind == "cluster_software_done") {
        for (Record* node : nodes_of(state, *cluster)) {
            if (node_status(*node) == "SystemUpdating")
                node->data["InstanceStatus"] = {{"Status", "Running"}};
        }
        for (Record* group : groups_of(state, *cluster)) {
            if (status_of(*group) != "SystemUpdating") continue;
            group->data["Status"] = "InService";
            group->data["SoftwareUpdateStatus"] = "Succeeded";
        }
        cluster->data["ClusterStatus"] = "InService";
    }
    settle(state, *cluster);
}

void add_cluster_operations(Operations& operations) {
    operations["CreateCluster"] = create_cluster;
    operations["DescribeCluster"] = describe_cluster;
    operations["ListClusters"] = list_clusters;
    operations["DeleteCluster"] = delete_cluster;
}

}  // namespace instantstart::twin::sagemaker
