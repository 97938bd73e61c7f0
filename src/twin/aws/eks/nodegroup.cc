// Managed node groups: plain EC2 nodes for what needs no accelerator.
#include "domain/instance_type.h"
#include "twin/aws/eks/node.h"
#include "twin/aws/eks/state.h"

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

Reply create_nodegroup(State& state, const Call& call) {
    const Found cluster = require_cluster(state, base::get_string(call.params, "clusterName"));
    if (cluster.record == nullptr) return cluster.error;
    const std::string name = base::get_string(call.params, "nodegroupName"),
                      key = key_of(cluster.record->id, name);
    if (base::get_string(cluster.record->data, "status") != "ACTIVE")
        return failure("InvalidRequestException",
                       "Cluster '" + cluster.record->id + "' is not in ACTIVE status");
    if (state.nodegroups.find(key) != nullptr)
        return failure(
            "ResourceInUseException",
            "NodeGroup already exists with name " + name + " and cluster name " + cluster.record->id, 409);
    const std::string role = base::get_string(call.params, "nodeRole");
    if (auto bad = check_role(state, role, "ec2.amazonaws.com")) return *bad;
    for (const std::string& id : strings(call.params, "subnets")) {
        if (state.ec2().subnet(id) == nullptr) return invalid("The subnet ID '" + id + "' does not exist");
    }
    if (strings(call.params, "subnets").empty()) return invalid("Subnets are required");
    JsonObject data;
    data["nodegroupName"] = name;
    data["nodegroupArn"] =
        state.arn("nodegroup/" + cluster.record->id + "/" + name + "/" + state.world.uuid());
    data["clusterName"] = cluster.record->id;
    data["version"] = base::get_string(cluster.record->data, "version");
    data["releaseVersion"] = base::get_string(cluster.record->data, "version") + ".5-20251120";
    data["createdAt"] = state.time();
    data["modifiedAt"] = state.time();
    data["status"] = "CREATING";
    data["capacityType"] = base::get_string(call.params, "capacityType", "ON_DEMAND");
    JsonObject scaling = base::get_object(call.params, "scalingConfig");
    for (const auto& [member, fallback] :
         {std::pair("minSize", 1), std::pair("maxSize", 2), std::pair("desiredSize", 2)}) {
        if (!scaling.contains(member)) scaling[member] = fallback;
    }
    data["scalingConfig"] = std::move(scaling);
    data["instanceTypes"] = base::get_array(call.params, "instanceTypes").empty()
                                ? JsonArray{"t3.medium"}
                                : base::get_array(call.params, "instanceTypes");
    data["subnets"] = base::get_array(call.params, "subnets");
    data["amiType"] = base::get_string(call.params, "amiType", "AL2023_x86_64_STANDARD");
    data["nodeRole"] = role;
    data["labels"] = base::get_object(call.params, "labels");
    data["taints"] = base::get_array(call.params, "taints");
    data["diskSize"] = base::get_int(call.params, "diskSize", 20);
    data["health"] = {{"issues", JsonArray()}};
    data["tags"] = base::get_object(call.params, "tags");
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

Reply update_nodegroup(State& state, const Call& call) {
    const GroupFound found = require_nodegroup(state, call);
    if (found.group == nullptr) return found.error;
    if (base::get_string(found.group->data, "status") != "ACTIVE")
        return failure("ResourceInUseException", "Nodegroup is not in ACTIVE status", 409);
    for (const auto& [member, value] : base::get_object(call.params, "scalingConfig"))
        found.group->data["scalingConfig"].as_object()[member] = value;
    found.group->data["status"] = "UPDATING";
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

void add_node(State& state, Record& group, std::size_t index) {
    const Record* cluster = state.clusters.find(base::get_string(group.data, "clusterName"));
    kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName"));
    const std::vector<std::string> subnets = strings(group.data, "subnets");
    if (cluster == nullptr || live == nullptr || subnets.empty()) return;
    const Record* subnet = state.ec2().subnet(subnets[index % subnets.size()]);
    const std::string instance = state.world.hex_id("i-", 17),
                      type = base::get_string(group.data, "instanceTypes.0", "t3.medium");
    ec2::InterfaceSpec interface;
    interface.subnet_id = subnets[index % subnets.size()];
    interface.group_ids = {base::get_string(cluster->data, "resourcesVpcConfig.clusterSecurityGroupId")};
    interface.instance_owner = state.world.account();
    const std::optional<std::string> interface_id = state.ec2().create_interface(interface);
    if (subnet == nullptr || !interface_id) return;
    NodeSpec spec;
    if (const domain::InstanceType* known = domain::find_instance_type("ml." + type)) set_size(spec, *known);
    spec.address = state.ec2().interface_address(*interface_id);
    spec.name = "ip-" + spec.address + "." + state.world.region() + ".compute.internal";
    for (std::size_t i = 3; i < 3 + spec.address.size(); ++i) {
        if (spec.name[i] == '.') spec.name[i] = '-';
    }
    spec.region = state.world.region();
    spec.zone = base::get_string(subnet->data, "AvailabilityZone");
    spec.zone_id = base::get_string(subnet->data, "AvailabilityZoneId");
    spec.provider_id = "aws:///" + spec.zone + "/" + instance;
    spec.instance_type_label = type;
    spec.kubernetes_version = base::get_string(cluster->data, "version");
    spec.labels = base::get_object(group.data, "labels");
    spec.labels["eks.amazonaws.com/nodegroup"] = base::get_string(group.data, "nodegroupName");
    spec.labels["eks.amazonaws.com/capacityType"] = base::get_string(group.data, "capacityType");
    register_node(*live, spec, base::format_time(state.world.now()));
    ec2::array_of(group.hidden, "nodes").push_back({{"name", spec.name}, {"interface", *interface_id}});
}

void drop_node(State& state, Record& group) {
    JsonArray& nodes = ec2::array_of(group.hidden, "nodes");
    const JsonValue last = nodes.back();
    nodes.pop_back();
    state.ec2().delete_interface(base::get_string(last, "interface"));
    if (kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName"))) {
        static_cast<void>(
            live->objects().remove(kube::Kind("", "nodes"), "", base::get_string(last, "name")));
    }
}

}  // namespace

void nodegroup_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* group = state.nodegroups.find(base::get_string(payload, "key"));
    if (group == nullptr || base::get_string(group->data, "nodegroupArn") != base::get_string(payload, "arn"))
        return;
    JsonArray& nodes = ec2::array_of(group->hidden, "nodes");
    if (kind == "nodegroup_gone") {
        while (!nodes.empty()) drop_node(state, *group);
        state.nodegroups.erase(std::string(group->id));
        return;
    }
    if (base::get_string(group->data, "status") == "DELETING") return;
    const auto wanted = static_cast<std::size_t>(base::get_int(group->data, "scalingConfig.desiredSize"));
    for (std::size_t i = nodes.size(); i < wanted; ++i) add_node(state, *group, i);
    while (nodes.size() > wanted) drop_node(state, *group);
    group->data["status"] = "ACTIVE";
    if (Record* update = state.updates.find(base::get_string(payload, "update")))
        update->data["status"] = "Successful";
    if (kube::Cluster* live = state.host.find(base::get_string(group->data, "clusterName")))
        mark_ready_nodes(*live, base::format_time(state.world.now()));
}

void add_nodegroup_operations(Operations& operations) {
    operations["CreateNodegroup"] = create_nodegroup;
    operations["DescribeNodegroup"] = describe_nodegroup;
    operations["ListNodegroups"] = list_nodegroups;
    operations["UpdateNodegroupConfig"] = update_nodegroup;
    operations["DeleteNodegroup"] = delete_nodegroup;
}

}  // namespace instantstart::twin::eks
