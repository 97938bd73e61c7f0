// UpdateCluster and UpdateClusterSoftware.
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;

JsonObject answer_of(const Record& cluster) {
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    return answer;
}

ServiceError busy(const Record& cluster) {
    return failure("ConflictException", "Cluster " + cluster.id + " cannot be updated while its status is " +
                                            status_of(cluster) + ".");
}

std::optional<ServiceError> check_update(State& state, const Call& call, const Record& cluster) {
    for (const std::string& name : strings(call.params, "InstanceGroupsToDelete")) {
        if (find_group(state, cluster, name) == nullptr)
            return invalid("Instance group " + name + " does not exist in the cluster " + cluster.id + ".");
    }
    const std::string arn = base::get_string(call.params, "Orchestrator.Eks.ClusterArn");
    if (!arn.empty() && arn != base::get_string(cluster.data, "Orchestrator.Eks.ClusterArn"))
        return invalid("The orchestrator of a cluster cannot be changed.");
    const bool scaling = base::get_string(cluster.data, "AutoScaling.Mode") == "Enable";
    const std::string role = base::get_string(call.params, "ClusterRole");
    if (scaling && !role.empty() && role != base::get_string(cluster.data, "ClusterRole"))
        return invalid("ClusterRole cannot be changed while AutoScaling is enabled.");
    const bool continuous =
        is_continuous(cluster) || base::get_string(call.params, "NodeProvisioningMode") == "Continuous";
    if (base::get_string(call.params, "AutoScaling.Mode") == "Enable" &&
        (!continuous || (role.empty() && !cluster.data.contains("ClusterRole")))) {
        return invalid("AutoScaling needs NodeProvisioningMode Continuous and ClusterRole.");
    }
    return check_groups(state, call, base::get_array(call.params, "InstanceGroups"),
                        base::get_object(cluster.data, "VpcConfig"), &cluster, continuous);
}

void start_min_clock(State& state, const Record& cluster, Record& group) {
    if (base::get_int(group.data, "MinCount") == 0) return;
    const std::string clock = state.world.uuid();
    group.hidden["min_clock"] = clock;
    state.world.after(std::chrono::hours(3), "sagemaker", "cluster_min_rollback",
                      {{"cluster", cluster_id(cluster)},
                       {"group", base::get_string(group.data, "InstanceGroupName")},
                       {"clock", clock}});
}

Reply update_cluster(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    const std::string status = status_of(cluster);
    if (status != "InService" && status != "Failed") return busy(cluster);
    if (auto bad = check_update(state, call, cluster)) return *bad;
    for (const char* member :
         {"NodeRecovery", "NodeProvisioningMode", "ClusterRole", "TieredStorageConfig"}) {
        if (const JsonValue* value = call.params.if_contains(member)) cluster.data[member] = *value;
    }
    if (call.params.contains("AutoScaling")) {
        JsonObject scaling = base::get_object(call.params, "AutoScaling");
        scaling["Status"] = "InService";
        if (base::get_string(scaling, "Mode") == "Disable") {
            cluster.data.erase("AutoScaling");
        } else {
            cluster.data["AutoScaling"] = std::move(scaling);
        }
    }
    for (const JsonValue& specification : base::get_array(call.params, "InstanceGroups")) {
        put_group(state, cluster, specification.get_object());
        state.eks().ensure_entry(eks_name(state, cluster), base::get_string(specification, "ExecutionRole"),
                                 "HYPERPOD_LINUX");
        start_min_clock(state, cluster,
                        *find_group(state, cluster, base::get_string(specification, "InstanceGroupName")));
    }
    for (const std::string& name : strings(call.params, "InstanceGroupsToDelete")) {
        Record* group = find_group(state, cluster, name);
        group->data["Status"] = "Deleting";
        group->data["TargetCount"] = 0;
    }
    if (!is_continuous(cluster)) cluster.data["ClusterStatus"] = "Updating";
    cluster.hidden["created"] = true;
    reconcile(state, cluster);
    settle(state, cluster);
    return answer_of(cluster);
}

Reply update_software(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    if (status_of(cluster) != "InService") return busy(cluster);
    std::vector<std::string> wanted;
    for (const JsonValue& group : base::get_array(call.params, "InstanceGroups"))
        wanted.push_back(base::get_string(group, "InstanceGroupName"));
    for (const std::string& name : wanted) {
        if (find_group(state, cluster, name) == nullptr)
            return invalid("Instance group " + name + " does not exist in the cluster " + cluster.id + ".");
    }
    for (Record* group : groups_of(state, cluster)) {
        const std::string name = base::get_string(group->data, "InstanceGroupName");
        if (!wanted.empty() && !contains(wanted, name)) continue;
        group->data["Status"] = "SystemUpdating";
        group->data["SoftwareUpdateStatus"] = "InProgress";
        for (Record* node : nodes_of(state, cluster, name)) {
            if (node_status(*node) != "Running") continue;
            node->data["InstanceStatus"] = {{"Status", "SystemUpdating"}};
            node->data["LastSoftwareUpdateTime"] = state.time();
        }
    }
    cluster.data["ClusterStatus"] = "SystemUpdating";
    state.world.after(state.world.about(minutes(8)), "sagemaker", "cluster_software_done",
                      {{"cluster", cluster_id(cluster)}});
    return answer_of(cluster);
}

}  // namespace

void add_update_operations(Operations& operations) {
    operations["UpdateCluster"] = update_cluster;
    operations["UpdateClusterSoftware"] = update_software;
}

}  // namespace instantstart::twin::sagemaker
