// UpdateCluster: whole specifications by name, groups to delete, and the cluster's own settings.
#include "twin/aws/sagemaker/karpenter.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr const char* kSettings[] = {"NodeRecovery", "NodeProvisioningMode", "ClusterRole",
                                     "TieredStorageConfig"};

ServiceError conflict(std::string message) {
    return failure("ConflictException", std::move(message));
}

// One mutation of a cluster at a time: a second one is told to come again.
std::optional<ServiceError> check_free(State& state, const Call& call, const Record& cluster) {
    const std::string status = status_of(cluster);
    if (status != "InService" && status != "Failed")
        return conflict("Cluster " + cluster.id + " cannot be updated while its status is " + status + ".");
    if (base::get_bool(cluster.hidden, "updating"))
        return conflict("Cluster " + cluster.id + " has an update in progress. Try again when it has ended.");
    std::vector<std::string> named = strings(call.params, "InstanceGroupsToDelete");
    for (const JsonValue& group : base::get_array(call.params, "InstanceGroups"))
        named.push_back(base::get_string(group, "InstanceGroupName"));
    for (const Record* node : nodes_of(state, cluster)) {
        const std::string group = base::get_string(node->data, "InstanceGroupName");
        if (node_status(*node) != "DeepHealthCheckInProgress") continue;
        if (is_continuous(cluster) && !contains(named, group)) continue;
        return conflict("Cluster " + cluster.id +
                        " cannot be updated while deep health checks are running in the " +
                        "instance group " + group + ".");
    }
    for (const std::string& name : named) {
        const Record* group = find_group(state, cluster, name);
        if (group != nullptr && (status_of(*group) == "Deleting" || status_of(*group) == "SystemUpdating"))
            return conflict("Instance group " + name + " cannot be updated while its status is " +
                            status_of(*group) + ".");
    }
    return std::nullopt;
}

std::optional<ServiceError> check_settings(State& state, const Call& call, const Record& cluster,
                                           bool continuous) {
    const std::string arn = base::get_string(call.params, "Orchestrator.Eks.ClusterArn");
    if (!arn.empty() && arn != base::get_string(cluster.data, "Orchestrator.Eks.ClusterArn"))
        return invalid("The orchestrator of a cluster cannot be changed.");
    JsonObject wanted;
    for (const char* member : {"NodeRecovery", "ClusterRole", "AutoScaling"}) {
        const JsonValue* value = call.params.if_contains(member);
        if (value == nullptr) value = cluster.data.if_contains(member);
        if (value != nullptr) wanted[member] = *value;
    }
    const bool scaling = base::get_string(cluster.data, "AutoScaling.Mode") == "Enable";
    if (scaling && base::get_string(wanted, "AutoScaling.Mode") == "Enable" &&
        base::get_string(wanted, "ClusterRole") != base::get_string(cluster.data, "ClusterRole"))
        return invalid("ClusterRole cannot be changed while AutoScaling is enabled.");
    const std::string changing = base::get_string(cluster.data, "AutoScaling.Status");
    if (call.params.contains("AutoScaling") && (changing == "Creating" || changing == "Deleting"))
        return conflict("AutoScaling of cluster " + cluster.id + " is " + changing + ".");
    const bool with_role =
        call.params.contains("ClusterRole") || base::get_string(call.params, "AutoScaling.Mode") == "Enable";
    return check_scaling(state, wanted, continuous, with_role);
}

std::optional<ServiceError> check_update(State& state, const Call& call, const Record& cluster) {
    std::vector<std::string> named;
    for (const JsonValue& group : base::get_array(call.params, "InstanceGroups"))
        named.push_back(base::get_string(group, "InstanceGroupName"));
    for (const std::string& name : strings(call.params, "InstanceGroupsToDelete")) {
        if (find_group(state, cluster, name) == nullptr)
            return invalid("Instance group " + name + " does not exist in the cluster " + cluster.id + ".");
        if (contains(named, name))
            return invalid("Instance group " + name +
                           " is both in InstanceGroups and InstanceGroupsToDelete.");
    }
    const bool continuous =
        is_continuous(cluster) || base::get_string(call.params, "NodeProvisioningMode") == "Continuous";
    if (auto bad = check_settings(state, call, cluster, continuous)) return bad;
    return check_groups(state, call, base::get_array(call.params, "InstanceGroups"),
                        base::get_object(cluster.data, "VpcConfig"), &cluster, continuous);
}

void tell_scaling(State& state, const Record& cluster, const Record& group) {
    EventSpec event;
    event.resource = "InstanceGroup";
    event.group = base::get_string(group.data, "InstanceGroupName");
    event.description = "Scaling of the instance group to " +
                        std::to_string(base::get_int(group.data, "TargetCount")) + " instances has started";
    event.metadata["InstanceGroupScaling"] = {{"InstanceCount", running_count(state, cluster, event.group)},
                                              {"TargetCount", base::get_int(group.data, "TargetCount")},
                                              {"MinCount", base::get_int(group.data, "MinCount")}};
    add_event(state, cluster, std::move(event));
}

void update_group(State& state, const Record& cluster, const JsonObject& specification) {
    const std::string name = base::get_string(specification, "InstanceGroupName");
    const Record* earlier = find_group(state, cluster, name);
    const std::int64_t target = earlier == nullptr ? -1 : base::get_int(earlier->data, "TargetCount"),
                       least = earlier == nullptr ? -1 : base::get_int(earlier->data, "MinCount");
    JsonObject service;
    if (earlier != nullptr && status_of(*earlier) == "InService")
        service = {{"MinCount", std::max<std::int64_t>(0, least)}, {"TargetCount", target}};
    put_group(state, cluster, specification);
    Record& group = *find_group(state, cluster, name);
    if (!service.empty()) group.hidden["last_service"] = std::move(service);
    if (base::get_int(group.data, "TargetCount") != target) tell_scaling(state, cluster, group);
    if (is_continuous(cluster)) start_min_clock(state, cluster, group, least);
}

void delete_group(State& state, const Record& cluster, const std::string& name) {
    Record* group = find_group(state, cluster, name);
    group->data["Status"] = "Deleting";
    group->data["TargetCount"] = 0;
    EventSpec event;
    event.resource = "InstanceGroup";
    event.group = name;
    event.description = "Deletion of the instance group has started";
    add_event(state, cluster, std::move(event));
}

Reply update_cluster(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    if (auto busy = check_free(state, call, cluster)) return *busy;
    if (auto bad = check_update(state, call, cluster)) return *bad;
    for (const char* member : kSettings) {
        if (const JsonValue* value = call.params.if_contains(member)) cluster.data[member] = *value;
    }
    if (call.params.contains("TieredStorageConfig")) apply_tiered_storage(state, cluster);
    if (call.params.contains("AutoScaling"))
        set_scaling(state, cluster, base::get_object(call.params, "AutoScaling"));
    const JsonArray& groups = base::get_array(call.params, "InstanceGroups");
    for (const JsonValue& group : groups) update_group(state, cluster, group.get_object());
    ensure_role_entries(state, cluster, groups);
    for (const std::string& name : strings(call.params, "InstanceGroupsToDelete"))
        delete_group(state, cluster, name);
    if (!is_continuous(cluster)) cluster.data["ClusterStatus"] = "Updating";
    cluster.hidden["created"] = true;
    cluster.hidden["updating"] = true;
    state.world.after(state.world.about(seconds(10)), "sagemaker", "cluster_update_done",
                      {{"cluster", cluster_id(cluster)}});
    reconcile(state, cluster);
    settle(state, cluster);
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    return answer;
}

}  // namespace

// Three hours for the minimum, from each change of it. What was in service before comes back after them.
void start_min_clock(State& state, const Record& cluster, Record& group, std::int64_t min_before) {
    const std::string name = base::get_string(group.data, "InstanceGroupName");
    const std::int64_t least = base::get_int(group.data, "MinCount");
    if (status_of(group) != "Creating" && running_count(state, cluster, name) < least)
        group.data["Status"] = "Updating";
    if (least == 0 || least == min_before) return;
    const std::string clock = state.world.uuid();
    group.hidden["min_clock"] = clock;
    state.world.after(hours(3), "sagemaker", "cluster_min_rollback",
                      {{"cluster", cluster_id(cluster)}, {"group", name}, {"clock", clock}});
}

void add_update_operations(Operations& operations) {
    operations["UpdateCluster"] = update_cluster;
}

}  // namespace instantstart::twin::sagemaker
