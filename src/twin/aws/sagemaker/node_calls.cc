// ListClusterNodes and DescribeClusterNode.
#include <algorithm>
#include <optional>
#include <tuple>

#include "twin/aws/resources/page_token.h"
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

// What a request lets through.
struct Choice {
    explicit Choice(const Call& call)
        : group(base::get_string(call.params, "InstanceGroupNameContains")),
          after(base::parse_time(base::get_string(call.params, "CreationTimeAfter"))),
          before(base::parse_time(base::get_string(call.params, "CreationTimeBefore"))),
          logical(base::get_bool(call.params, "IncludeNodeLogicalIds")) {}
    std::string group;
    std::optional<base::TimePoint> after, before;
    bool logical;  // also what has no instance yet

    bool takes(const Record& node, const Call& call, bool continuous) const {
        // In continuous mode a node that is still being provisioned shows only where its logical id is asked
        // for.
        if (!logical && ((continuous && provisioning(node)) || !node.data.contains("InstanceId")))
            return false;
        if (!group.empty() &&
            base::get_string(node.data, "InstanceGroupName").find(group) == std::string::npos)
            return false;
        return (!after || node.created > *after) && (!before || node.created < *before) &&
               call.shows(node.created);
    }
};

// The order of the answer.
struct Order {
    explicit Order(const Call& call)
        : by_name(base::get_string(call.params, "SortBy") == "NAME"),
          descending(base::get_string(call.params, "SortOrder") == "Descending") {}
    bool by_name, descending;

    bool operator()(const Record* left, const Record* right) const {
        return descending ? before(*right, *left) : before(*left, *right);
    }
    bool before(const Record& a, const Record& b) const {
        if (by_name) {
            const int order = base::get_string(a.data, "InstanceGroupName")
                                  .compare(base::get_string(b.data, "InstanceGroupName"));
            if (order != 0) return order < 0;
        }
        return std::tie(a.created, a.id) < std::tie(b.created, b.id);
    }
};

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
    const Choice choice(call);
    const bool continuous = is_continuous(*found.record);
    std::vector<Record*> nodes = nodes_of(state, *found.record);
    std::erase_if(nodes, [&](const Record* node) { return !choice.takes(*node, call, continuous); });
    // Only what the page shows is put in order and written out: a fleet has many pages.
    const auto at = [&nodes](std::size_t index) {
        return nodes.begin() + static_cast<std::ptrdiff_t>(std::min(index, nodes.size()));
    };
    const std::size_t from = page_position(base::get_string(call.params, "NextToken")).value_or(0),
                      to = from + static_cast<std::size_t>(base::get_int(call.params, "MaxResults", 100));
    const Order order(call);
    std::nth_element(nodes.begin(), at(from), nodes.end(), order);
    std::partial_sort(at(from), at(to), nodes.end(), order);
    JsonArray summaries;
    for (auto node = at(from); node != at(to); ++node) {
        JsonObject entry = summary(**node, choice.logical);
        entry["ImageVersionStatus"] = image_status(state, *found.record, **node);
        summaries.push_back(std::move(entry));
    }
    JsonObject answer;
    answer["ClusterNodeSummaries"] = std::move(summaries);
    if (to < nodes.size()) answer["NextToken"] = page_token(to);
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
