// The batch calls on nodes: they succeed in part, with HTTP 200.
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

Record* find_node(State& state, const Record& cluster, std::string_view instance, std::string_view logical) {
    for (Record* node : nodes_of(state, cluster)) {
        if (!logical.empty() && node->id == logical) return node;
        if (!instance.empty() && base::get_string(node->data, "InstanceId") == instance) return node;
    }
    return nullptr;
}

JsonObject refused(const char* code_member, const char* id_member, const std::string& id,
                   std::string_view code, std::string_view message) {
    JsonObject item;
    item[id_member] = id;
    item[code_member] = code;
    item["Message"] = message;
    return item;
}

void add_to_group(State& state, Record& cluster, const JsonValue& wanted, JsonObject& answer) {
    const std::string name = base::get_string(wanted, "InstanceGroupName");
    const std::int64_t count = base::get_int(wanted, "IncrementTargetCountBy");
    Record* group = find_group(state, cluster, name);
    if (group == nullptr || status_of(*group) != "InService") {
        JsonObject item;
        item["InstanceGroupName"] = name;
        item["ErrorCode"] = group == nullptr ? "InstanceGroupNotFound" : "InvalidInstanceGroupStatus";
        item["FailedCount"] = count;
        item["Message"] = group == nullptr ? "Instance group " + name + " does not exist."
                                           : "Instance group " + name + " is " + status_of(*group) + ".";
        ec2::array_of(answer, "Failed").push_back(std::move(item));
        return;
    }
    std::vector<std::string> before;
    for (const Record* node : nodes_of(state, cluster, name)) before.push_back(node->id);
    group->data["TargetCount"] = base::get_int(group->data, "TargetCount") + count;
    reconcile(state, cluster);
    for (const Record* node : nodes_of(state, cluster, name)) {
        if (contains(before, node->id)) continue;
        ec2::array_of(answer, "Successful")
            .push_back(
                {{"NodeLogicalId", node->id}, {"InstanceGroupName", name}, {"Status", node_status(*node)}});
    }
}

Reply batch_add(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    if (!is_continuous(cluster))
        return invalid("BatchAddClusterNodes needs NodeProvisioningMode Continuous.");
    if (status_of(cluster) != "InService") return invalid("Cluster " + cluster.id + " is not in service.");
    const std::string token = cluster_id(cluster) + "/" + base::get_string(call.params, "ClientToken");
    const auto earlier = state.tokens.find(token);
    if (call.params.contains("ClientToken") && earlier != state.tokens.end())
        return earlier->second.as_object();
    JsonArray groups;
    for (const JsonValue& wanted : base::get_array(call.params, "NodesToAdd")) {
        const Record* group = find_group(state, cluster, base::get_string(wanted, "InstanceGroupName"));
        if (group == nullptr) continue;
        JsonObject grown = group->data;
        grown["InstanceCount"] =
            base::get_int(grown, "TargetCount") + base::get_int(wanted, "IncrementTargetCountBy");
        groups.push_back(std::move(grown));
    }
    if (auto bad =
            check_groups(state, call, groups, base::get_object(cluster.data, "VpcConfig"), &cluster, true))
        return *bad;
    JsonObject answer;
    ec2::array_of(answer, "Successful");
    ec2::array_of(answer, "Failed");
    for (const JsonValue& wanted : base::get_array(call.params, "NodesToAdd"))
        add_to_group(state, cluster, wanted, answer);
    if (call.params.contains("ClientToken")) state.tokens[token] = answer;
    settle(state, cluster);
    return answer;
}

void delete_one(State& state, Record& cluster, Record& node) {
    Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    if (group != nullptr)
        group->data["TargetCount"] = std::max<std::int64_t>(0, base::get_int(group->data, "TargetCount") - 1);
    stop_node(state, node);
}

Reply batch_delete(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    JsonObject answer;
    const std::tuple<const char*, const char*, const char*, const char*> kinds[] = {
        {"NodeIds", "Successful", "Failed", "NodeId"},
        {"NodeLogicalIds", "SuccessfulNodeLogicalIds", "FailedNodeLogicalIds", "NodeLogicalId"}};
    for (const auto& [parameter, done, failed, member] : kinds) {
        const bool logical = std::string_view(member) == "NodeLogicalId";
        for (const std::string& id : strings(call.params, parameter)) {
            Record* node = find_node(state, cluster, logical ? "" : id, logical ? id : "");
            if (node == nullptr) {
                ec2::array_of(answer, failed)
                    .push_back(refused("Code", member, id, "NodeIdNotFound", "The node does not exist."));
            } else if (node_status(*node) == "ShuttingDown") {
                ec2::array_of(answer, failed)
                    .push_back(
                        refused("Code", member, id, "InvalidNodeStatus", "The node is shutting down."));
            } else {
                delete_one(state, cluster, *node);
                ec2::array_of(answer, done).emplace_back(id);
            }
        }
    }
    settle(state, cluster);
    return answer;
}

Reply batch_repair(State& state, const Call& call, void (*repair)(State&, Record&)) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    const std::size_t given =
        strings(call.params, "NodeIds").size() + strings(call.params, "NodeLogicalIds").size();
    if (given == 0 || given > 25) return invalid("Between 1 and 25 nodes must be given.");
    if (status_of(cluster) != "InService") return invalid("Cluster " + cluster.id + " is not in service.");
    JsonObject answer;
    for (const bool logical : {false, true}) {
        const char* member = logical ? "NodeLogicalId" : "NodeId";
        for (const std::string& id : strings(call.params, logical ? "NodeLogicalIds" : "NodeIds")) {
            Record* node = find_node(state, cluster, logical ? "" : id, logical ? id : "");
            const char* failed = logical ? "FailedNodeLogicalIds" : "Failed";
            if (node == nullptr) {
                ec2::array_of(answer, failed)
                    .push_back(refused("ErrorCode", member, id, "InstanceIdNotFound",
                                       "The instance does not exist."));
            } else if (node_status(*node) != "Running") {
                ec2::array_of(answer, failed)
                    .push_back(refused("ErrorCode", member, id, "InvalidInstanceStatus",
                                       "The instance is " + node_status(*node) + "."));
            } else {
                repair(state, *node);
                ec2::array_of(answer, logical ? "SuccessfulNodeLogicalIds" : "Successful").emplace_back(id);
            }
        }
    }
    return answer;
}

Reply batch_reboot(State& state, const Call& call) {
    return batch_repair(state, call, reboot_node);
}
Reply batch_replace(State& state, const Call& call) {
    return batch_repair(state, call, replace_node);
}

}  // namespace

void add_batch_operations(Operations& operations) {
    operations["BatchAddClusterNodes"] = batch_add;
    operations["BatchDeleteClusterNodes"] = batch_delete;
    operations["BatchRebootClusterNodes"] = batch_reboot;
    operations["BatchReplaceClusterNodes"] = batch_replace;
}

}  // namespace instantstart::twin::sagemaker
