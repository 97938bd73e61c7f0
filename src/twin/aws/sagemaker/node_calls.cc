// ListClusterNodes and DescribeClusterNode.
#include <algorithm>

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

bool provisioning(const Record& node) {
    return !base::get_bool(node.hidden, "seen");
}

JsonObject summary(const Record& node, bool with_logical_id) {
    JsonObject shown;
    for (const char* member : {"InstanceGroupName", "InstanceId", "InstanceType", "LaunchTime",
                               "LastSoftwareUpdateTime", "InstanceStatus", "PrivateDnsHostname"}) {
        if (const JsonValue* value = node.data.if_contains(member)) shown[member] = *value;
    }
    if (with_logical_id) shown["NodeLogicalId"] = node.id;
    return shown;
}

bool chosen(const Record& node, const Call& call) {
    const std::string group = base::get_string(call.params, "InstanceGroupNameContains");
    if (!group.empty() && base::get_string(node.data, "InstanceGroupName").find(group) == std::string::npos)
        return false;
    const auto after = base::parse_time(base::get_string(call.params, "CreationTimeAfter"));
    const auto before = base::parse_time(base::get_string(call.params, "CreationTimeBefore"));
    return (!after || node.created > *after) && (!before || node.created < *before) &&
           call.shows(node.created);
}

Reply list_nodes(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const bool logical = base::get_bool(call.params, "IncludeNodeLogicalIds");
    std::vector<Record*> nodes = nodes_of(state, *found.record);
    std::sort(nodes.begin(), nodes.end(), [](const Record* a, const Record* b) {
        return std::pair(a->created, a->id) < std::pair(b->created, b->id);
    });
    if (base::get_string(call.params, "SortOrder") == "Descending") std::reverse(nodes.begin(), nodes.end());
    JsonArray all;
    for (const Record* node : nodes) {
        // In continuous mode a node that is still being provisioned shows only where its logical id is asked
        // for.
        if (is_continuous(*found.record) && provisioning(*node) && !logical) continue;
        if (!node->data.contains("InstanceId") && !logical) continue;
        if (chosen(*node, call)) all.push_back(summary(*node, logical));
    }
    Page page = paginate(all, base::get_int(call.params, "MaxResults", 100),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer["ClusterNodeSummaries"] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

Reply describe_node(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const std::string instance = base::get_string(call.params, "NodeId"),
                      logical = base::get_string(call.params, "NodeLogicalId");
    if (instance.empty() == logical.empty())
        return invalid("Exactly one of NodeId and NodeLogicalId must be given.");
    for (const Record* node : nodes_of(state, *found.record)) {
        if ((instance.empty() || base::get_string(node->data, "InstanceId") != instance) &&
            (logical.empty() || node->id != logical))
            continue;
        JsonObject details = node->data;
        if (const Record* group =
                find_group(state, *found.record, base::get_string(node->data, "InstanceGroupName"))) {
            for (const char* member : {"LifeCycleConfig", "OverrideVpcConfig", "ThreadsPerCore",
                                       "InstanceStorageConfigs", "CurrentImageId", "DesiredImageId",
                                       "ImageVersionStatus", "KubernetesConfig", "NetworkInterface"}) {
                if (const JsonValue* value = group->data.if_contains(member)) details[member] = *value;
            }
            const bool spot = base::find_path(group->data, "CapacityRequirements.Spot") != nullptr;
            details["CapacityType"] = spot ? "Spot" : "OnDemand";
        }
        JsonObject answer;
        answer["NodeDetails"] = std::move(details);
        return answer;
    }
    return failure("ResourceNotFound", "Instance with id " + instance + logical +
                                           " not found in the cluster " + found.record->id);
}

}  // namespace

void add_node_operations(Operations& operations) {
    operations["ListClusterNodes"] = list_nodes;
    operations["DescribeClusterNode"] = describe_node;
}

}  // namespace instantstart::twin::sagemaker
