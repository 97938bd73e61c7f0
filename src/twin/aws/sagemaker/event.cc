// Events of a cluster: what happened to it, its groups and its instances.
#include <algorithm>

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

constexpr std::size_t kEventsMax = 5000;

JsonObject summary(const Record& event) {
    JsonObject shown = event.data;
    shown.erase("EventDetails");
    return shown;
}

bool chosen(const Record& event, const Call& call) {
    auto differs = [&event, &call](const char* parameter, const char* member) {
        const std::string wanted = base::get_string(call.params, parameter);
        return !wanted.empty() && base::get_string(event.data, member) != wanted;
    };
    if (differs("InstanceGroupName", "InstanceGroupName") || differs("NodeId", "InstanceId") ||
        differs("ResourceType", "ResourceType"))
        return false;
    const auto after = base::parse_time(base::get_string(call.params, "EventTimeAfter"));
    const auto before = base::parse_time(base::get_string(call.params, "EventTimeBefore"));
    return (!after || event.created > *after) && (!before || event.created < *before);
}

Reply list_events(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    if (!is_continuous(*found.record)) return invalid("Cluster events need NodeProvisioningMode Continuous.");
    std::vector<const Record*> events;
    for (const auto& [id, event] : state.events) {
        if (base::get_string(event.hidden, "cluster") == cluster_id(*found.record) && chosen(event, call))
            events.push_back(&event);
    }
    const bool ascending = base::get_string(call.params, "SortOrder") == "Ascending";
    std::sort(events.begin(), events.end(), [ascending](const Record* a, const Record* b) {
        const auto left = std::pair(base::get_int(a->hidden, "serial"), a->id),
                   right = std::pair(base::get_int(b->hidden, "serial"), b->id);
        return ascending ? left < right : left > right;
    });
    JsonArray all;
    for (const Record* event : events) all.push_back(summary(*event));
    Page page = paginate(all, base::get_int(call.params, "MaxResults", 100),
                         base::get_string(call.params, "NextToken"));
    JsonObject answer;
    answer["Events"] = std::move(page.items);
    if (!page.next_token.empty()) answer["NextToken"] = page.next_token;
    return answer;
}

Reply describe_event(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const std::string id = base::get_string(call.params, "EventId");
    const Record* event = state.events.find(id);
    if (event == nullptr || base::get_string(event->hidden, "cluster") != cluster_id(*found.record)) {
        return failure("ResourceNotFound", "Event " + id + " not found in the cluster " + found.record->id);
    }
    JsonObject answer;
    answer["EventDetails"] = event->data;
    return answer;
}

}  // namespace

void add_event(State& state, const Record& cluster, EventSpec spec) {
    const std::string id = state.world.uuid();
    JsonObject data;
    data["EventId"] = id;
    data["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    data["ClusterName"] = cluster.id;
    if (!spec.group.empty()) data["InstanceGroupName"] = spec.group;
    if (!spec.instance.empty()) data["InstanceId"] = spec.instance;
    data["ResourceType"] = spec.resource;
    data["EventTime"] = state.time();
    data["Description"] = spec.description;
    data["EventLevel"] = spec.level;
    if (!spec.metadata.empty()) data["EventDetails"] = {{"EventMetadata", spec.metadata}};
    Record& event = state.events.add(id, std::move(data), state.world.now());
    event.hidden["cluster"] = cluster_id(cluster);
    event.hidden["serial"] = ++state.event_serial;
    if (state.events.size() <= kEventsMax) return;
    std::string first;
    std::int64_t oldest = state.event_serial;
    for (const auto& [key, other] : state.events) {
        const std::int64_t serial = base::get_int(other.hidden, "serial");
        if (serial > oldest) continue;
        oldest = serial;
        first = key;
    }
    state.events.erase(first);
}

void add_event_operations(Operations& operations) {
    operations["ListClusterEvents"] = list_events;
    operations["DescribeClusterEvent"] = describe_event;
}

}  // namespace instantstart::twin::sagemaker
