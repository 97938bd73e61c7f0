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

constexpr std::int64_t kAddMax = 50;
constexpr std::chrono::hours kTokenLife{8};

// Whether the group's subnets reach one of the zones that the request names.
bool zones_fit(State& state, const Record& cluster, const Record& group,
               const std::vector<std::string>& zones) {
    if (zones.empty()) return true;
    for (const std::string& id : strings(network_of(cluster, group), "Subnets")) {
        const Record* subnet = state.ec2().subnet(id);
        if (subnet != nullptr && contains(zones, base::get_string(subnet->data, "AvailabilityZone")))
            return true;
    }
    return false;
}

bool types_fit(const Record& group, const std::vector<std::string>& types) {
    const std::vector<std::string> own = types_of(group);
    for (const std::string& type : types) {
        if (!contains(own, type)) return false;
    }
    return true;
}

// Code and message of why nothing can be added there; an empty code where it can.
std::pair<std::string, std::string> why_not(State& state, const Record& cluster, const JsonObject& wanted) {
    const std::string name = base::get_string(wanted, "InstanceGroupName");
    const Record* group = find_group(state, cluster, name);
    if (group == nullptr) return {"InstanceGroupNotFound", "Instance group " + name + " does not exist."};
    if (status_of(*group) != "InService")
        return {"InvalidInstanceGroupStatus", "Instance group " + name + " is " + status_of(*group) + "."};
    if (!zones_fit(state, cluster, *group, strings(wanted, "AvailabilityZones"))) {
        return {"IncompatibleAvailabilityZones", "The subnets of the instance group " + name +
                                                     " are in none of the Availability Zones given."};
    }
    if (!types_fit(*group, strings(wanted, "InstanceTypes")))
        return {"IncompatibleInstanceTypes", "The instance group " + name + " has not all the types given."};
    return {};
}

void add_to_group(State& state, Record& cluster, const JsonObject& wanted, JsonObject& answer) {
    const std::string name = base::get_string(wanted, "InstanceGroupName");
    const std::int64_t count = base::get_int(wanted, "IncrementTargetCountBy");
    const auto [code, message] = why_not(state, cluster, wanted);
    JsonObject steered;
    for (const char* member : {"AvailabilityZones", "InstanceTypes"}) {
        if (const JsonValue* value = wanted.if_contains(member)) steered[member] = *value;
    }
    if (!code.empty()) {
        JsonObject item = steered;
        item["InstanceGroupName"] = name;
        item["ErrorCode"] = code;
        item["FailedCount"] = count;
        item["Message"] = message;
        ec2::array_of(answer, "Failed").push_back(std::move(item));
        return;
    }
    for (const std::string& id :
         add_nodes(state, cluster, *find_group(state, cluster, name), count, steered)) {
        JsonObject item = steered;
        item["NodeLogicalId"] = id;
        item["InstanceGroupName"] = name;
        item["Status"] = "Pending";
        ec2::array_of(answer, "Successful").push_back(std::move(item));
    }
}

// The answer given before, with what has become of its nodes.
JsonObject replayed(State& state, const JsonObject& earlier) {
    JsonObject answer;
    ec2::array_of(answer, "Failed") = base::get_array(earlier, "Failed");
    ec2::array_of(answer, "Successful");
    for (const JsonValue& item : base::get_array(earlier, "Successful")) {
        JsonObject shown = item.get_object();
        const Record* node = state.nodes.find(base::get_string(item, "NodeLogicalId"));
        shown["Status"] = node == nullptr ? "NotFound" : node_status(*node);
        ec2::array_of(answer, "Successful").push_back(std::move(shown));
    }
    return answer;
}

// As UpdateCluster would see the groups with the nodes added.
JsonArray grown_groups(State& state, const Record& cluster, const JsonArray& wanted) {
    JsonArray groups;
    for (const JsonValue& item : wanted) {
        const Record* group = find_group(state, cluster, base::get_string(item, "InstanceGroupName"));
        if (group == nullptr) continue;
        JsonObject grown = group->data;
        grown["InstanceCount"] =
            base::get_int(grown, "TargetCount") + base::get_int(item, "IncrementTargetCountBy");
        groups.push_back(std::move(grown));
    }
    return groups;
}

std::optional<ServiceError> check_add(State& state, const Call& call, const Record& cluster) {
    if (!is_continuous(cluster))
        return invalid("BatchAddClusterNodes needs NodeProvisioningMode Continuous.");
    if (status_of(cluster) != "InService") return invalid("Cluster " + cluster.id + " is not in service.");
    const JsonArray& wanted = base::get_array(call.params, "NodesToAdd");
    std::int64_t count = 0;
    std::vector<std::string> names;
    for (const JsonValue& item : wanted) {
        count += base::get_int(item, "IncrementTargetCountBy");
        const std::string name = base::get_string(item, "InstanceGroupName");
        if (contains(names, name)) return invalid("The instance group " + name + " is named more than once.");
        names.push_back(name);
    }
    if (count > kAddMax) return invalid("At most 50 nodes can be added in a request.");
    return check_groups(state, call, grown_groups(state, cluster, wanted),
                        base::get_object(cluster.data, "VpcConfig"), &cluster, true);
}

Reply batch_add(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    const bool with_token = call.params.contains("ClientToken");
    const std::string token = cluster_id(cluster) + "/" + base::get_string(call.params, "ClientToken");
    const JsonArray& wanted = base::get_array(call.params, "NodesToAdd");
    if (const auto earlier = state.tokens.find(token); with_token && earlier != state.tokens.end()) {
        const auto given = base::parse_time(base::get_string(earlier->second, "time"));
        if (given && state.world.now() - *given < kTokenLife) {
            if (base::get_array(earlier->second, "wanted") != wanted)
                return invalid("ClientToken was used for a request with other parameters.");
            return replayed(state, base::get_object(earlier->second, "answer"));
        }
    }
    if (auto bad = check_add(state, call, cluster)) return *bad;
    JsonObject answer;
    ec2::array_of(answer, "Successful");
    ec2::array_of(answer, "Failed");
    for (const JsonValue& item : wanted) add_to_group(state, cluster, item.get_object(), answer);
    if (with_token) state.tokens[token] = {{"time", state.time()}, {"wanted", wanted}, {"answer", answer}};
    settle(state, cluster);
    return answer;
}

void delete_one(State& state, Record& cluster, Record& node) {
    Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    if (group != nullptr)
        group->data["TargetCount"] = std::max<std::int64_t>(0, base::get_int(group->data, "TargetCount") - 1);
    stop_node(state, node);
}

// A group below its minimum, or whose software changes, keeps its nodes.
bool group_is_busy(State& state, const Record& cluster, const Record& node) {
    const Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    const std::string status = group == nullptr ? "" : status_of(*group);
    const bool gated = group != nullptr && base::get_int(group->data, "MinCount") > 0 &&
                       (status == "Creating" || status == "Updating");
    return gated || status == "SystemUpdating";
}

std::pair<std::string, std::string> why_kept(State& state, const Record& cluster, const Record* node) {
    if (node == nullptr) return {"NodeIdNotFound", "The node does not exist."};
    const std::string status = node_status(*node);
    if (status == "ShuttingDown") return {"InvalidNodeStatus", "The node is shutting down."};
    if (status == "SystemUpdating" || group_is_busy(state, cluster, *node))
        return {"NodeIdInUse", "The node is in use by another operation on its instance group."};
    return {};
}

Reply batch_delete(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    if (call.params.contains("NodeIds") == call.params.contains("NodeLogicalIds"))
        return invalid("Exactly one of NodeIds and NodeLogicalIds must be given.");
    JsonObject answer;
    const bool logical = call.params.contains("NodeLogicalIds");
    const char* member = logical ? "NodeLogicalId" : "NodeId";
    const char* done = logical ? "SuccessfulNodeLogicalIds" : "Successful";
    const char* failed = logical ? "FailedNodeLogicalIds" : "Failed";
    for (const std::string& id : strings(call.params, logical ? "NodeLogicalIds" : "NodeIds")) {
        Record* node = find_node(state, cluster, logical ? "" : id, logical ? id : "");
        if (const auto [code, message] = why_kept(state, cluster, node); !code.empty()) {
            ec2::array_of(answer, failed).push_back(refused("Code", member, id, code, message));
            continue;
        }
        delete_one(state, cluster, *node);
        ec2::array_of(answer, done).emplace_back(id);
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
            } else if (node_status(*node) == "SystemUpdating" || base::get_bool(node->hidden, "rebooting")) {
                ec2::array_of(answer, failed)
                    .push_back(refused("ErrorCode", member, id, "InstanceIdInUse",
                                       "The instance is in use by another operation."));
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
