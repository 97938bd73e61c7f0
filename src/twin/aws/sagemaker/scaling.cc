// From targets to nodes: what is missing is started, what is too much is stopped, what cannot be had is tried
// again.
#include <algorithm>

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

bool leaving(const Record& node) {
    return node_status(node) == "ShuttingDown";
}
bool waiting(const Record& node) {
    return base::get_bool(node.hidden, "waiting");
}

Record& new_node(State& state, const Record& cluster, const Record& group) {
    const std::string logical = state.world.uuid();
    JsonObject data;
    data["InstanceGroupName"] = base::get_string(group.data, "InstanceGroupName");
    data["NodeLogicalId"] = logical;
    data["InstanceType"] = types_of(group).front();
    data["InstanceStatus"] = {{"Status", "Pending"}};
    data["LaunchTime"] = state.time();
    Record& node = state.nodes.add(logical, std::move(data), state.world.now());
    node.hidden["cluster"] = cluster_id(cluster);
    node.hidden["waiting"] = true;
    node.hidden["serial"] = static_cast<std::int64_t>(state.world.now().time_since_epoch().count());
    return node;
}

std::string shortage_of(const Record& group, const Record& node, Place place) {
    if (place == Place::no_addresses)
        return "InsufficientFreeAddresses: the subnets of the instance group have not enough free IP "
               "addresses";
    if (place == Place::no_plan)
        return "Waiting for the training plan " + base::get_string(group.data, "TrainingPlanArn") +
               " to have instances";
    std::string types;
    for (const std::string& type : types_of(group)) types += (types.empty() ? "" : ", ") + type;
    const std::vector<std::string> only = strings(node.hidden, "types");
    if (!only.empty()) types = only.front();
    return "InsufficientCapacity: we currently do not have sufficient " + types +
           " capacity in the Availability Zones of the instance group";
}

void report_shortage(State& state, const Record& cluster, const Record& group, Record& node, Place place) {
    const std::string reason = shortage_of(group, node, place);
    if (base::get_string(node.data, "InstanceStatus.Message") == reason) return;  // told before
    node.data["InstanceStatus"] = {{"Status", "Pending"}, {"Message", reason}};
    EventSpec event;
    event.resource = "InstanceGroup";
    event.level = place == Place::no_plan ? "Info" : "Warn";
    event.group = base::get_string(group.data, "InstanceGroupName");
    event.description = reason;
    event.metadata["InstanceGroupScaling"] = {{"InstanceCount", running_count(state, cluster, event.group)},
                                              {"TargetCount", base::get_int(group.data, "TargetCount")},
                                              {"FailureMessage", reason}};
    add_event(state, cluster, std::move(event));
}

std::size_t rank_of(const std::vector<std::string>& types, const Record& node) {
    const auto found = std::find(types.begin(), types.end(), base::get_string(node.data, "InstanceType"));
    return static_cast<std::size_t>(found - types.begin());
}

// True where something could not be had.
bool scale_group(State& state, Record& cluster, Record& group) {
    const std::string name = base::get_string(group.data, "InstanceGroupName");
    const auto target =
        static_cast<std::size_t>(std::max<std::int64_t>(0, base::get_int(group.data, "TargetCount")));
    std::vector<Record*> present;
    for (Record* node : nodes_of(state, cluster, name)) {
        if (!leaving(*node)) present.push_back(node);
    }
    if (present.size() > target) stop_nodes(state, present, present.size() - target);
    for (std::size_t i = present.size(); i < target; ++i) new_node(state, cluster, group);
    bool short_of = false;
    for (Record* node : nodes_of(state, cluster, name)) {
        if (!waiting(*node) || leaving(*node)) continue;
        const Place place = start_node(state, cluster, group, *node);
        if (place == Place::started) continue;
        report_shortage(state, cluster, group, *node, place);
        // A plan's window opens by itself; capacity and addresses are tried for again.
        short_of = short_of || place != Place::no_plan;
    }
    return short_of;
}

// Classic mode takes all or nothing.
void roll_back(State& state, Record& cluster) {
    cluster.data["ClusterStatus"] = "RollingBack";
    cluster.data["FailureMessage"] = "Insufficient capacity: not all requested instances could be launched.";
    for (Record* group : groups_of(state, cluster)) {
        const std::int64_t keep =
            running_count(state, cluster, base::get_string(group->data, "InstanceGroupName"));
        group->data["TargetCount"] = keep;
        scale_group(state, cluster, *group);
    }
    state.world.after(state.world.about(minutes(2)), "sagemaker", "cluster_rollback_done",
                      {{"cluster", cluster_id(cluster)}});
}

}  // namespace

std::vector<std::string> add_nodes(State& state, Record& cluster, Record& group, std::int64_t count,
                                   const JsonObject& steered) {
    std::vector<std::string> made;
    for (std::int64_t i = 0; i < count; ++i) {
        Record& node = new_node(state, cluster, group);
        for (const auto& [member, key] :
             {std::pair("AvailabilityZones", "zones"), std::pair("InstanceTypes", "types")}) {
            if (const JsonValue* value = steered.if_contains(member)) node.hidden[key] = *value;
        }
        made.push_back(node.id);
    }
    group.data["TargetCount"] = base::get_int(group.data, "TargetCount") + count;
    reconcile(state, cluster);
    return made;
}

// Those that go first: what does not run yet, what is unhealthy, the type wanted least, then the newest.
void stop_nodes(State& state, const std::vector<Record*>& nodes, std::size_t count) {
    if (nodes.empty()) return;
    const Record* cluster = find_cluster_by_id(state, base::get_string(nodes.front()->hidden, "cluster"));
    const Record* group =
        cluster == nullptr
            ? nullptr
            : find_group(state, *cluster, base::get_string(nodes.front()->data, "InstanceGroupName"));
    const std::vector<std::string> types = group == nullptr ? std::vector<std::string>() : types_of(*group);
    const auto order = [&types](const Record* node) {
        return std::tuple(node_status(*node) == "Running", !node->hidden.contains("fault"),
                          -static_cast<std::int64_t>(rank_of(types, *node)),
                          -base::get_int(node->hidden, "serial"), node->id);
    };
    std::vector<Record*> sorted = nodes;
    std::sort(sorted.begin(), sorted.end(),
              [&order](const Record* a, const Record* b) { return order(a) < order(b); });
    for (std::size_t i = 0; i < count && i < sorted.size(); ++i) stop_node(state, *sorted[i]);
}

void reconcile(State& state, Record& cluster) {
    const std::string status = status_of(cluster);
    if (!base::get_bool(cluster.hidden, "prepared") || status == "Deleting" || status == "RollingBack" ||
        status == "Failed")
        return;
    bool short_of = false;
    for (Record* group : groups_of(state, cluster))
        short_of = scale_group(state, cluster, *group) || short_of;
    if (short_of && !is_continuous(cluster)) return roll_back(state, cluster);
    if (short_of && !base::get_bool(cluster.hidden, "retry")) {
        cluster.hidden["retry"] = true;
        state.world.after(seconds(60), "sagemaker", "cluster_retry", {{"cluster", cluster_id(cluster)}});
    }
}

void look_soon(State& state, Record& cluster) {
    if (base::get_bool(cluster.hidden, "looking")) return;
    cluster.hidden["looking"] = true;
    state.world.after(seconds(2), "sagemaker", "cluster_look", {{"cluster", cluster_id(cluster)}});
}

void settle(State& state, Record& cluster) {
    const std::string status = status_of(cluster);
    if (status == "Deleting" || status == "RollingBack" || status == "Failed" || status == "SystemUpdating")
        return;
    if (!base::get_bool(cluster.hidden, "prepared")) return;
    const bool continuous = is_continuous(cluster);
    bool all = true;
    std::vector<std::string> gone;
    for (Record* group : groups_of(state, cluster)) {
        const std::string name = base::get_string(group->data, "InstanceGroupName");
        const std::size_t present = nodes_of(state, cluster, name).size();
        const std::int64_t have = running_count(state, cluster, name),
                           target = base::get_int(group->data, "TargetCount");
        if (status_of(*group) == "Deleting") {
            if (present == 0) gone.push_back(group->id);
            all = all && present == 0;
            continue;
        }
        const bool complete = have == target && present == static_cast<std::size_t>(target);
        all = all && (complete || !base::get_string(group->data, "TrainingPlanArn").empty());
        const bool waits_for_plan = !base::get_string(group->data, "TrainingPlanArn").empty();
        const bool enough =
            continuous || waits_for_plan ? have >= base::get_int(group->data, "MinCount") : complete;
        if (enough && status_of(*group) != "SystemUpdating") group->data["Status"] = "InService";
    }
    for (const std::string& key : gone) state.groups.erase(key);
    if (continuous || all) {
        if (status != "InService") {
            EventSpec event;
            event.description = "Cluster is in service";
            add_event(state, cluster, std::move(event));
        }
        cluster.data["ClusterStatus"] = "InService";
        cluster.hidden["created"] = true;
    }
}

}  // namespace instantstart::twin::sagemaker
