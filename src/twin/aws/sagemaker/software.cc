// UpdateClusterSoftware: a group's instances get the new image batch by batch; where one breaks on the way
// all go back.
#include "twin/aws/eks/node.h"
#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

void next_step(State& state, const Record& cluster, const Record& group, base::Duration delay) {
    state.world.after(delay, "sagemaker", "software_step",
                      {{"cluster", cluster_id(cluster)},
                       {"group", base::get_string(group.data, "InstanceGroupName")},
                       {"run", base::get_string(group.hidden, "software.run")}});
}

void tell(State& state, const Record& cluster, const Record& group, const char* level, std::string text) {
    EventSpec event;
    event.resource = "InstanceGroup";
    event.level = level;
    event.group = base::get_string(group.data, "InstanceGroupName");
    event.description = std::move(text);
    add_event(state, cluster, std::move(event));
}

std::optional<ServiceError> check_group(State& state, const Record& cluster, const std::string& name,
                                        bool with_image) {
    const Record* group = find_group(state, cluster, name);
    if (group == nullptr)
        return invalid("Instance group " + name + " does not exist in the cluster " + cluster.id + ".");
    if (status_of(*group) != "InService") {
        return failure("ConflictException", "The software of the instance group " + name +
                                                " cannot be updated while its status is " +
                                                status_of(*group) + ".");
    }
    const std::string image = base::get_string(group->data, "CurrentImageId");
    if (image != "default" && !with_image) {
        return invalid("The instance group " + name + " uses the custom AMI " + image +
                       ": ImageId is required to update its software.");
    }
    return std::nullopt;
}

std::int64_t batch_of(State& state, const Record& cluster, const Record& group, const char* policy) {
    const std::int64_t all = static_cast<std::int64_t>(
        nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName")).size());
    const JsonObject& rolling =
        base::get_object(group.data, "ActiveSoftwareUpdateConfig.RollingUpdatePolicy");
    const JsonObject& size = rolling.contains(policy) ? base::get_object(rolling, policy)
                                                      : base::get_object(rolling, "MaximumBatchSize");
    const std::int64_t value = base::get_int(size, "Value");
    if (value <= 0) return std::max<std::int64_t>(1, all);
    if (base::get_string(size, "Type") == "CAPACITY_PERCENTAGE")
        return std::max<std::int64_t>(1, all * value / 100);
    return value;
}

void begin(State& state, const Record& cluster, Record& group, const Call& call) {
    group.hidden["software"] = {{"run", state.world.uuid()},
                                {"release_before", base::get_int(group.hidden, "release")},
                                {"rolling_back", false}};
    group.hidden["release"] = state.image_release;
    group.data["DesiredImageId"] = base::get_string(call.params, "ImageId", "default");
    group.data["SoftwareUpdateStatus"] = "Pending";
    group.data["Status"] = "SystemUpdating";
    group.data.erase("ActiveSoftwareUpdateConfig");
    if (call.params.contains("DeploymentConfig"))
        group.data["ActiveSoftwareUpdateConfig"] = base::get_object(call.params, "DeploymentConfig");
    tell(state, cluster, group, "Info", "Software update of the instance group has started");
    next_step(state, cluster, group, state.world.about(seconds(30)));
}

Reply update_software(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    Record& cluster = *found.record;
    if (status_of(cluster) != "InService" || base::get_bool(cluster.hidden, "updating")) {
        return failure("ConflictException",
                       "The software of cluster " + cluster.id + " cannot be updated while " +
                           (status_of(cluster) == "InService" ? "another update is in progress."
                                                              : "its status is " + status_of(cluster) + "."));
    }
    std::vector<std::string> wanted;
    for (const JsonValue& group : base::get_array(call.params, "InstanceGroups"))
        wanted.push_back(base::get_string(group, "InstanceGroupName"));
    if (wanted.empty()) {
        for (const Record* group : groups_of(state, cluster))
            wanted.push_back(base::get_string(group->data, "InstanceGroupName"));
    }
    for (const std::string& name : wanted) {
        if (auto bad = check_group(state, cluster, name, call.params.contains("ImageId"))) return *bad;
    }
    for (const std::string& name : wanted) begin(state, cluster, *find_group(state, cluster, name), call);
    if (!is_continuous(cluster) && !wanted.empty()) cluster.data["ClusterStatus"] = "SystemUpdating";
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    return answer;
}

// Those of the last batch run again, on the new image. False where one broke.
bool end_batch(State& state, const Record& cluster, const Record& group) {
    bool well = true;
    for (Record* node : nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName"))) {
        if (node_status(*node) != "SystemUpdating") continue;
        if (node->hidden.contains("fault")) well = false;
        node->data["InstanceStatus"] = {{"Status", "Running"}};
        node->data["LastSoftwareUpdateTime"] = state.time();
        node->hidden["image"] = desired_image(group);
        if (kube::Cluster* live = kube_of(state, cluster)) {
            eks::set_ready(*live, kube_name(*node), "False", "KubeletNotReady",
                           base::format_time(state.world.now()));
        }
        set_timer(state, *node, "node_ready", seconds(20));
    }
    return well;
}

void roll_back(State& state, const Record& cluster, Record& group) {
    const std::string wanted = base::get_string(group.data, "DesiredImageId"),
                      before = base::get_string(group.data, "CurrentImageId");
    group.data["DesiredImageId"] = before;
    group.data["CurrentImageId"] = wanted;
    group.data["SoftwareUpdateStatus"] = "RollbackInProgress";
    group.hidden["release"] = base::get_int(group.hidden, "software.release_before");
    group.hidden["software"].as_object()["rolling_back"] = true;
    tell(state, cluster, group, "Error", "Software update has failed on an instance and is rolled back");
}

enum class Batch : std::uint8_t { started, waiting, none };
Batch begin_batch(State& state, const Record& cluster, const Record& group) {
    const bool back = base::get_bool(group.hidden, "software.rolling_back");
    std::int64_t room =
        batch_of(state, cluster, group, back ? "RollbackMaximumBatchSize" : "MaximumBatchSize");
    Batch result = Batch::none;
    for (Record* node : nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName"))) {
        if (!has_instance(*node) || base::get_string(node->hidden, "image") == desired_image(group)) continue;
        if (node_status(*node) != "Running") {
            if (result == Batch::none) result = Batch::waiting;
            continue;
        }
        if (room-- <= 0) break;
        node->data["InstanceStatus"] = {{"Status", "SystemUpdating"}};
        evict_pods(state, cluster, *node);
        if (kube::Cluster* live = kube_of(state, cluster)) {
            eks::set_ready(*live, kube_name(*node), "Unknown", "NodeStatusUnknown",
                           base::format_time(state.world.now()));
        }
        result = Batch::started;
    }
    return result;
}

void finish(State& state, Record& cluster, Record& group) {
    const bool back = base::get_bool(group.hidden, "software.rolling_back");
    group.data["SoftwareUpdateStatus"] = back ? "RollbackComplete" : "Succeeded";
    group.data["CurrentImageId"] = base::get_string(group.data, "DesiredImageId");
    group.data["Status"] = "InService";
    group.hidden.erase("software");
    tell(state, cluster, group, back ? "Warn" : "Info",
         back ? "Software update has been rolled back" : "Software update of the instance group has ended");
    bool busy = false;
    for (const Record* other : groups_of(state, cluster))
        busy = busy || status_of(*other) == "SystemUpdating";
    if (!busy && status_of(cluster) == "SystemUpdating") cluster.data["ClusterStatus"] = "InService";
    settle(state, cluster);
}

}  // namespace

void software_timer(State& state, const JsonObject& payload) {
    Record* cluster = find_cluster_by_id(state, base::get_string(payload, "cluster"));
    if (cluster == nullptr || status_of(*cluster) == "Deleting") return;
    Record* group = find_group(state, *cluster, base::get_string(payload, "group"));
    if (group == nullptr ||
        base::get_string(group->hidden, "software.run") != base::get_string(payload, "run"))
        return;
    bool back = base::get_bool(group->hidden, "software.rolling_back");
    if (!back) group->data["SoftwareUpdateStatus"] = "InProgress";
    if (!end_batch(state, *cluster, *group) && !back) {
        roll_back(state, *cluster, *group);
        back = true;
    }
    const Batch batch = begin_batch(state, *cluster, *group);
    if (batch == Batch::none) return finish(state, *cluster, *group);
    const seconds between(
        back ? 0 : base::get_int(group->data, "ActiveSoftwareUpdateConfig.WaitIntervalInSeconds"));
    next_step(state, *cluster, *group,
              batch == Batch::started ? state.world.about(minutes(8)) + between : base::Duration(minutes(1)));
}

void add_software_operations(Operations& operations) {
    operations["UpdateClusterSoftware"] = update_software;
}

}  // namespace instantstart::twin::sagemaker
