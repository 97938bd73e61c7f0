// Managed node groups: plain EC2 nodes for what needs no accelerator.
#include "twin/aws/eks/nodegroup.h"

#include <algorithm>

namespace instantstart::twin::eks {

namespace {

using std::chrono::minutes;

std::string key_of(std::string_view cluster, std::string_view group) {
    return std::string(cluster) + "/" + std::string(group);
}

struct GroupFound {
    Record* cluster = nullptr;
    Record* group = nullptr;
    ServiceError error;
};

GroupFound require_nodegroup(State& state, const Call& call) {
    GroupFound found;
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    found.cluster = cluster.record;
    found.error = cluster.error;
    if (cluster.record == nullptr) return found;
    const std::string name = base::get_string(call.params, "nodegroupName");
    found.group = state.nodegroups.find(key_of(cluster.record->id, name));
    if (found.group == nullptr) found.error = missing("No node group found for name: " + name + ".");
    return found;
}

JsonObject answer_of(const Record& group) {
    JsonObject answer;
    answer["nodegroup"] = group.data;
    return answer;
}

void set_timer(State& state, const Record& group, const char* kind, std::chrono::nanoseconds typical) {
    state.world.after(state.world.about(typical), "eks", kind,
                      {{"key", group.id}, {"arn", base::get_string(group.data, "nodegroupArn")}});
}

// minSize, maxSize and desiredSize with EKS's defaults, or what is wrong with them.
std::optional<ServiceError> check_scaling(const JsonObject& scaling) {
    const std::int64_t least = base::get_int(scaling, "minSize"), most = base::get_int(scaling, "maxSize"),
                       wanted = base::get_int(scaling, "desiredSize");
    const auto says = [](const char* name, std::int64_t value, const char* rule, const char* other,
                         std::int64_t bound) {
        return invalid(std::string(name) + " capacity " + std::to_string(value) + " can't be " + rule + " " +
                       other + " size " + std::to_string(bound));
    };
    if (most < 1) return invalid("maxSize must be at least 1");
    if (least > wanted) return says("Minimum", least, "greater than", "desired", wanted);
    if (wanted > most) return says("desired", wanted, "greater than", "max", most);
    return std::nullopt;
}

// What a launch template decides cannot be given beside it.
std::optional<ServiceError> read_template(State& state, const Call& call, JsonObject& data) {
    if (!call.params.contains("launchTemplate")) return std::nullopt;
    const JsonObject& given = base::get_object(call.params, "launchTemplate");
    const std::string id = base::get_string(given, "id"), name = base::get_string(given, "name");
    if (id.empty() == name.empty())
        return invalid(
            "You must specify either the launch template ID or the launch template name, not both");
    const Record* record = state.ec2().launch_template(id.empty() ? name : id);
    if (record == nullptr)
        return failure("InvalidRequestException", "Launch template " + id + name + " could not be found");
    const std::string version = base::get_string(
        given, "version", std::to_string(base::get_int(record->data, "DefaultVersionNumber", 1)));
    JsonObject content;
    bool known = false;
    for (const JsonValue& each : base::get_array(record->hidden, "versions")) {
        if (std::to_string(base::get_int(each, "VersionNumber")) != version) continue;
        content = base::get_object(each, "LaunchTemplateData");
        known = true;
    }
    if (!known) {
        return failure("InvalidRequestException", "Version " + version + " of the launch template " +
                                                      record->id + " could not be found");
    }
    if (call.params.contains("diskSize"))
        return invalid("Disk size must be specified within the launch template.");
    if (call.params.contains("remoteAccess"))
        return invalid("Remote access configuration cannot be specified with a launch template.");
    const std::string type = base::get_string(content, "InstanceType");
    if (!type.empty() && !base::get_array(call.params, "instanceTypes").empty())
        return invalid("You can specify instance types in either the launch template or the API, not both.");
    if (!type.empty()) data["instanceTypes"] = JsonArray{JsonValue(type)};
    data["launchTemplate"] = {{"id", record->id},
                              {"name", base::get_string(record->data, "LaunchTemplateName")},
                              {"version", version}};
    return std::nullopt;
}

std::optional<ServiceError> check_place(State& state, const Call& call, const Record& cluster) {
    const std::string name = base::get_string(call.params, "nodegroupName");
    if (base::get_string(cluster.data, "status") != "ACTIVE")
        return failure("InvalidRequestException", "Cluster '" + cluster.id + "' is not in ACTIVE status");
    if (state.nodegroups.find(key_of(cluster.id, name)) != nullptr) {
        return failure("ResourceInUseException",
                       "NodeGroup already exists with name " + name + " and cluster name " + cluster.id, 409);
    }
    if (auto bad = check_role(state, base::get_string(call.params, "nodeRole"), "ec2.amazonaws.com"))
        return bad;
    if (strings(call.params, "subnets").empty()) return invalid("Subnets are required");
    for (const std::string& id : strings(call.params, "subnets")) {
        if (state.ec2().subnet(id) == nullptr) return invalid("The subnet ID '" + id + "' does not exist");
    }
    return std::nullopt;
}

JsonObject group_data(State& state, const Call& call, const Record& cluster) {
    const std::string name = base::get_string(call.params, "nodegroupName"), unique = state.world.uuid();
    JsonObject data;
    data["nodegroupName"] = name;
    data["nodegroupArn"] = state.arn("nodegroup/" + cluster.id + "/" + name + "/" + unique);
    data["clusterName"] = cluster.id;
    data["version"] = base::get_string(cluster.data, "version");
    data["releaseVersion"] = base::get_string(cluster.data, "version") + ".5-20251120";
    data["createdAt"] = state.time();
    data["modifiedAt"] = state.time();
    data["status"] = "CREATING";
    data["capacityType"] = base::get_string(call.params, "capacityType", "ON_DEMAND");
    data["instanceTypes"] = base::get_array(call.params, "instanceTypes").empty()
                                ? JsonArray{"t3.medium"}
                                : base::get_array(call.params, "instanceTypes");
    data["subnets"] = base::get_array(call.params, "subnets");
    data["amiType"] = base::get_string(call.params, "amiType", "AL2023_x86_64_STANDARD");
    data["nodeRole"] = base::get_string(call.params, "nodeRole");
    data["labels"] = base::get_object(call.params, "labels");
    data["taints"] = base::get_array(call.params, "taints");
    data["resources"] = {
        {"autoScalingGroups", JsonArray{JsonObject{{"name", "eks-" + name + "-" + unique}}}}};
    data["health"] = {{"issues", JsonArray()}};
    data["updateConfig"] = call.params.contains("updateConfig")
                               ? base::get_object(call.params, "updateConfig")
                               : JsonObject{{"maxUnavailable", 1}};
    data["tags"] = base::get_object(call.params, "tags");
    return data;
}

Reply create_nodegroup(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string token = base::get_string(call.params, "clientRequestToken"),
                      key = key_of(cluster.record->id, base::get_string(call.params, "nodegroupName"));
    const auto earlier = state.tokens.find("nodegroup/" + token);
    if (!token.empty() && earlier != state.tokens.end() && earlier->second == key) {
        if (const Record* made = state.nodegroups.find(key)) return answer_of(*made);
    }
    if (auto bad = check_place(state, call, *cluster.record)) return *bad;
    JsonObject data = group_data(state, call, *cluster.record);
    JsonObject scaling = base::get_object(call.params, "scalingConfig");
    for (const auto& [member, fallback] :
         {std::pair("minSize", 1), std::pair("maxSize", 2), std::pair("desiredSize", 2)}) {
        if (!scaling.contains(member)) scaling[member] = fallback;
    }
    if (auto bad = check_scaling(scaling)) return *bad;
    data["scalingConfig"] = std::move(scaling);
    if (auto bad = read_template(state, call, data)) return *bad;
    if (!data.contains("launchTemplate")) data["diskSize"] = base::get_int(call.params, "diskSize", 20);
    if (!token.empty()) state.tokens["nodegroup/" + token] = key;
    const std::string role = base::get_string(call.params, "nodeRole");
    Record& group = state.nodegroups.add(key, std::move(data), state.world.now());
    state.world.iam().ensure_service_linked_role("eks-nodegroup.amazonaws.com",
                                                 "AWSServiceRoleForAmazonEKSNodegroup");
    if (state.entries.find(entry_key(cluster.record->id, role)) == nullptr)
        make_entry(state, cluster.record->id, role, "EC2_LINUX", JsonArray{"system:nodes"});
    set_timer(state, group, "nodegroup_ready", minutes(2));
    return answer_of(group);
}

Reply describe_nodegroup(State& state, const Call& call) {
    const GroupFound found = require_nodegroup(state, call);
    if (found.group == nullptr) return found.error;
    return answer_of(*found.group);
}

Reply list_nodegroups(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    JsonArray names;
    for (const auto& [key, group] : state.nodegroups) {
        if (base::get_string(group.data, "clusterName") == cluster.record->id)
            names.emplace_back(base::get_string(group.data, "nodegroupName"));
    }
    return listed(call, "nodegroups", names);
}

void change_labels(Record& group, const JsonObject& changes) {
    JsonObject labels = base::get_object(group.data, "labels");
    for (const std::string& key : strings(changes, "removeLabels")) labels.erase(key);
    for (const auto& [key, value] : base::get_object(changes, "addOrUpdateLabels")) labels[key] = value;
    group.data["labels"] = std::move(labels);
}

bool same_taint(const JsonValue& a, const JsonValue& b) {
    return base::get_string(a, "key") == base::get_string(b, "key") &&
           base::get_string(a, "effect") == base::get_string(b, "effect");
}

void change_taints(Record& group, const JsonObject& changes) {
    JsonArray taints;
    const JsonArray &added = base::get_array(changes, "addOrUpdateTaints"),
                    &removed = base::get_array(changes, "removeTaints");
    for (const JsonValue& taint : base::get_array(group.data, "taints")) {
        const auto is_it = [&taint](const JsonValue& other) { return same_taint(taint, other); };
        if (std::none_of(added.begin(), added.end(), is_it) &&
            std::none_of(removed.begin(), removed.end(), is_it))
            taints.push_back(taint);
    }
    for (const JsonValue& taint : added) taints.push_back(taint);
    group.data["taints"] = std::move(taints);
}

Reply update_nodegroup(State& state, const Call& call) {
    const GroupFound found = require_nodegroup(state, call);
    if (found.group == nullptr) return found.error;
    const std::string status = base::get_string(found.group->data, "status");
    if (status != "ACTIVE" && status != "DEGRADED")
        return failure("ResourceInUseException",
                       "Nodegroup cannot be updated as it is currently not in Active State", 409);
    JsonObject scaling = base::get_object(found.group->data, "scalingConfig");
    for (const auto& [member, value] : base::get_object(call.params, "scalingConfig"))
        scaling[member] = value;
    if (auto bad = check_scaling(scaling)) return *bad;
    const JsonObject before = found.group->data;
    found.group->data["scalingConfig"] = std::move(scaling);
    if (call.params.contains("labels")) change_labels(*found.group, base::get_object(call.params, "labels"));
    if (call.params.contains("taints")) change_taints(*found.group, base::get_object(call.params, "taints"));
    if (call.params.contains("updateConfig"))
        found.group->data["updateConfig"] = base::get_object(call.params, "updateConfig");
    relabel_nodes(state, *found.group, before);
    found.group->data["status"] = "UPDATING";
    found.group->data["modifiedAt"] = state.time();
    Record& update = start_update(
        state, found.cluster->id, "ConfigUpdate",
        JsonArray{param("DesiredSize",
                        std::to_string(base::get_int(found.group->data, "scalingConfig.desiredSize")))},
        "");
    state.world.after(state.world.about(minutes(1)), "eks", "nodegroup_ready",
                      {{"key", found.group->id},
                       {"arn", base::get_string(found.group->data, "nodegroupArn")},
                       {"update", update.id}});
    JsonObject answer;
    answer["update"] = update.data;
    return answer;
}

Reply delete_nodegroup(State& state, const Call& call) {
    const GroupFound found = require_nodegroup(state, call);
    if (found.group == nullptr) return found.error;
    if (base::get_string(found.group->data, "status") != "DELETING") {
        found.group->data["status"] = "DELETING";
        set_timer(state, *found.group, "nodegroup_gone", minutes(3));
    }
    return answer_of(*found.group);
}

// AWS tries for about a quarter of an hour before it calls a new group failed; an older one is degraded and
// filled when capacity comes back.
constexpr std::int64_t kTries = 15;

void fill(State& state, Record& group, const JsonObject& payload) {
    const bool complete = reach_size(state, group);
    const std::string status = base::get_string(group.data, "status");
    const std::int64_t tries = base::get_int(payload, "tries");
    if (complete) {
        group.data["status"] = "ACTIVE";
    } else if (status != "CREATING") {
        group.data["status"] = "DEGRADED";
    } else if (tries >= kTries) {
        group.data["status"] = "CREATE_FAILED";
        return;
    }
    if (Record* update = state.updates.find(base::get_string(payload, "update"));
        update != nullptr && base::get_string(update->data, "status") == "InProgress")
        update->data["status"] = "Successful";
    if (complete) return;
    JsonObject again = payload;
    again["tries"] = tries + 1;
    again["waits"] = true;
    state.world.after(minutes(1), "eks", "nodegroup_ready", std::move(again));
}

}  // namespace

void nodegroup_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* group = state.nodegroups.find(base::get_string(payload, "key"));
    if (group == nullptr || base::get_string(group->data, "nodegroupArn") != base::get_string(payload, "arn"))
        return;
    if (kind == "nodegroup_gone") {
        drop_nodes(state, *group, 0);
        state.nodegroups.erase(std::string(group->id));
        return;
    }
    const std::string status = base::get_string(group->data, "status");
    if (status == "DELETING" || status == "CREATE_FAILED") return;
    // A try that an update or a complete group has overtaken.
    if (base::get_bool(payload, "waits") && status != "CREATING" && status != "DEGRADED") return;
    fill(state, *group, payload);
}

void add_nodegroup_operations(Operations& operations) {
    operations["CreateNodegroup"] = create_nodegroup;
    operations["DescribeNodegroup"] = describe_nodegroup;
    operations["ListNodegroups"] = list_nodegroups;
    operations["UpdateNodegroupConfig"] = update_nodegroup;
    operations["DeleteNodegroup"] = delete_nodegroup;
}

}  // namespace instantstart::twin::eks
