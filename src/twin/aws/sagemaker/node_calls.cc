// ListClusterNodes and DescribeClusterNode.
#include <algorithm>
#include <tuple>

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

bool provisioning(const Record& node) {
    return !base::get_bool(node.hidden, "seen");
}

JsonObject summary(const Record& node, bool with_logical_id) {
    JsonObject shown;
    shown["InstanceId"] = "";  // until it has an instance
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

const char* image_status(State& state, const Record& cluster, const Record& node) {
    const Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    const std::string own = base::get_string(node.hidden, "image"),
                      newest = "default@" + std::to_string(state.image_release);
    const bool custom = group != nullptr && !own.starts_with("default@") && own == desired_image(*group);
    return own.empty() || custom || own == newest ? "UpToDate" : "UpdateAvailable";
}

Reply list_nodes(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const bool logical = base::get_bool(call.params, "IncludeNodeLogicalIds");
    std::vector<Record*> nodes = nodes_of(state, *found.record);
    const bool by_name = base::get_string(call.params, "SortBy") == "NAME";
    std::sort(nodes.begin(), nodes.end(), [by_name](const Record* a, const Record* b) {
        if (by_name) {
            const std::string left = base::get_string(a->data, "InstanceGroupName"),
                              right = base::get_string(b->data, "InstanceGroupName");
            if (left != right) return left < right;
        }
        return std::tie(a->created, a->id) < std::tie(b->created, b->id);
    });
    if (base::get_string(call.params, "SortOrder") == "Descending") std::reverse(nodes.begin(), nodes.end());
    // Only what the page shows is written out: a fleet has many pages.
    const bool continuous = is_continuous(*found.record);
    JsonArray shown;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        // In continuous mode a node that is still being provisioned shows only where its logical id is asked
        // for.
        if (continuous && provisioning(*nodes[i]) && !logical) continue;
        if (!nodes[i]->data.contains("InstanceId") && !logical) continue;
        if (chosen(*nodes[i], call)) shown.emplace_back(i);
    }
    Page page = paginate(shown, base::get_int(call.params, "MaxResults", 100),
                         base::get_string(call.params, "NextToken"));
    JsonArray summaries;
    for (const JsonValue& index : page.items) {
        const Record& node = *nodes[index.to_number<std::size_t>()];
        JsonObject entry = summary(node, logical);
        entry["ImageVersionStatus"] = image_status(state, *found.record, node);
        summaries.push_back(std::move(entry));
    }
    JsonObject answer;
    answer["ClusterNodeSummaries"] = std::move(summaries);
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
                                       "InstanceStorageConfigs", "KubernetesConfig", "NetworkInterface"}) {
                if (const JsonValue* value = group->data.if_contains(member)) details[member] = *value;
            }
            details["CapacityType"] = is_spot(*group) ? "Spot" : "OnDemand";
            const std::string image = base::get_string(node->hidden, "image");
            details["CurrentImageId"] = image.empty() ? base::get_string(group->data, "CurrentImageId")
                                                      : image.substr(0, image.find('@'));
            details["DesiredImageId"] = base::get_string(group->data, "DesiredImageId");
            details["ImageVersionStatus"] = image_status(state, *found.record, *node);
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
