#include <algorithm>

#include "domain/instance_type.h"
#include "twin/aws/eks/node.h"
#include "twin/aws/eks/nodegroup.h"

namespace instantstart::twin::eks {

namespace {

const kube::Kind kNodes("", "nodes");

JsonArray kube_taints(const JsonObject& group) {
    constexpr std::pair<const char*, const char*> kEffects[] = {{"NO_SCHEDULE", "NoSchedule"},
                                                                {"NO_EXECUTE", "NoExecute"},
                                                                {"PREFER_NO_SCHEDULE", "PreferNoSchedule"}};
    JsonArray made;
    for (const JsonValue& taint : base::get_array(group, "taints")) {
        JsonObject entry{{"key", base::get_string(taint, "key")}};
        if (const std::string value = base::get_string(taint, "value"); !value.empty())
            entry["value"] = value;
        for (const auto& [aws, kubernetes] : kEffects) {
            if (base::get_string(taint, "effect") == aws) entry["effect"] = kubernetes;
        }
        made.push_back(std::move(entry));
    }
    return made;
}

std::vector<std::string> security_groups(State& state, const Record& group) {
    const JsonObject data = template_data(state, group);
    std::vector<std::string> own = strings(data, "NetworkInterfaces.0.Groups");
    if (own.empty()) own = strings(data, "SecurityGroupIds");
    const Record* cluster = state.clusters.find(base::get_string(group.data, "clusterName"));
    if (own.empty() && cluster != nullptr)
        own = {base::get_string(cluster->data, "resourcesVpcConfig.clusterSecurityGroupId")};
    return own;
}

NodeSpec spec_of(State& state, const Record& group, const Record& subnet, const std::string& type,
                 const std::string& address) {
    NodeSpec spec;
    if (const domain::InstanceType* known = domain::find_instance_type("ml." + type)) set_size(spec, *known);
    spec.address = address;
    std::string host = address;
    std::replace(host.begin(), host.end(), '.', '-');
    spec.name = "ip-" + host + "." + state.world.region() + ".compute.internal";
    spec.region = state.world.region();
    spec.zone = base::get_string(subnet.data, "AvailabilityZone");
    spec.zone_id = base::get_string(subnet.data, "AvailabilityZoneId");
    spec.provider_id = "aws:///" + spec.zone + "/" + state.world.hex_id("i-", 17);
    spec.instance_type_label = type;
    spec.kubernetes_version = base::get_string(group.data, "version");
    spec.labels = base::get_object(group.data, "labels");
    spec.labels["eks.amazonaws.com/nodegroup"] = base::get_string(group.data, "nodegroupName");
    spec.labels["eks.amazonaws.com/capacityType"] = base::get_string(group.data, "capacityType");
    if (const std::string id = base::get_string(group.data, "launchTemplate.id"); !id.empty()) {
        spec.labels["eks.amazonaws.com/sourceLaunchTemplateId"] = id;
        spec.labels["eks.amazonaws.com/sourceLaunchTemplateVersion"] =
            base::get_string(group.data, "launchTemplate.version");
    }
    spec.taints = kube_taints(group.data);
    return spec;
}

enum class Place : std::uint8_t { started, no_capacity, no_addresses };

Place start_in(State& state, Record& group, const std::string& subnet_id, const std::string& type) {
    const Record* subnet = state.ec2().subnet(subnet_id);
    kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName"));
    if (subnet == nullptr || live == nullptr) return Place::no_capacity;
    const std::string zone = base::get_string(subnet->data, "AvailabilityZone");
    const std::optional<std::int64_t> left = state.world.capacity("ml." + type, zone);
    if (left && *left < 1) return Place::no_capacity;
    ec2::InterfaceSpec interface;
    interface.subnet_id = subnet_id;
    interface.group_ids = security_groups(state, group);
    interface.instance_owner = state.world.account();
    const std::optional<std::string> id = state.ec2().create_interface(interface);
    if (!id) return Place::no_addresses;
    state.world.take_capacity("ml." + type, zone, 1);
    const NodeSpec spec = spec_of(state, group, *subnet, type, state.ec2().interface_address(*id));
    register_node(*live, spec, base::format_time(state.world.now()));
    ec2::array_of(group.hidden, "nodes")
        .push_back({{"name", spec.name}, {"interface", *id}, {"type", type}, {"zone", zone}});
    return Place::started;
}

// Types in their order, in each the subnets in turn.
Place start_node(State& state, Record& group, std::size_t index) {
    const std::vector<std::string> subnets = strings(group.data, "subnets");
    Place place = Place::no_capacity;
    for (const std::string& type : strings(group.data, "instanceTypes")) {
        for (std::size_t i = 0; i < subnets.size(); ++i) {
            const Place here = start_in(state, group, subnets[(index + i) % subnets.size()], type);
            if (here == Place::started) return here;
            if (here == Place::no_addresses) place = here;
        }
    }
    return place;
}

JsonObject issue_of(const Record& group, Place place) {
    const std::string type = base::get_string(group.data, "instanceTypes.0");
    const bool spot = base::get_string(group.data, "capacityType") == "SPOT";
    JsonObject issue;
    issue["code"] = place == Place::no_addresses ? "InsufficientFreeAddresses" : "AsgInstanceLaunchFailures";
    issue["message"] = place == Place::no_addresses
                           ? "One or more of the subnets has not enough free IP addresses to launch nodes"
                           : std::string(spot ? "UnfulfillableCapacity - Could not launch Spot Instances. "
                                              : "Could not launch On-Demand Instances. ") +
                                 "InsufficientInstanceCapacity - We currently do not have sufficient " +
                                 type + " capacity in the Availability Zone you requested.";
    issue["resourceIds"] =
        JsonArray{JsonValue(base::get_string(group.data, "resources.autoScalingGroups.0.name"))};
    return issue;
}

}  // namespace

JsonObject template_data(State& state, const Record& group) {
    const std::string id = base::get_string(group.data, "launchTemplate.id");
    const Record* record = id.empty() ? nullptr : state.ec2().launch_template(id);
    if (record == nullptr) return {};
    for (const JsonValue& version : base::get_array(record->hidden, "versions")) {
        if (std::to_string(base::get_int(version, "VersionNumber")) ==
            base::get_string(group.data, "launchTemplate.version"))
            return base::get_object(version, "LaunchTemplateData");
    }
    return {};
}

void drop_nodes(State& state, Record& group, std::size_t left) {
    kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName"));
    while (base::get_array(group.hidden, "nodes").size() > left) {
        JsonArray& nodes = ec2::array_of(group.hidden, "nodes");
        const JsonValue last = nodes.back();
        nodes.pop_back();
        state.ec2().delete_interface(base::get_string(last, "interface"));
        if (const std::string type = base::get_string(last, "type"); !type.empty())
            state.world.take_capacity("ml." + type, base::get_string(last, "zone"), -1);
        if (live != nullptr)
            static_cast<void>(live->objects().remove(kNodes, "", base::get_string(last, "name")));
    }
}

bool reach_size(State& state, Record& group) {
    const auto wanted = static_cast<std::size_t>(base::get_int(group.data, "scalingConfig.desiredSize"));
    drop_nodes(state, group, wanted);
    JsonArray issues;
    for (std::size_t i = base::get_array(group.hidden, "nodes").size(); i < wanted; ++i) {
        const Place place = start_node(state, group, i);
        if (place == Place::started) continue;
        issues.push_back(issue_of(group, place));
        break;
    }
    const bool complete = issues.empty();
    group.data["health"] = {{"issues", std::move(issues)}};
    if (kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName")))
        mark_ready_nodes(*live, base::format_time(state.world.now()));
    return complete;
}

void relabel_nodes(State& state, const Record& group, const JsonObject& before) {
    kube::Cluster* live = state.host.find(base::get_string(group.data, "clusterName"));
    if (live == nullptr) return;
    for (const JsonValue& entry : base::get_array(group.hidden, "nodes")) {
        const kube::ObjectPtr present = live->objects().get(kNodes, "", base::get_string(entry, "name"));
        if (present == nullptr) continue;
        JsonObject changed = *present;
        JsonObject metadata = base::get_object(changed, "metadata"), spec = base::get_object(changed, "spec");
        JsonObject labels = base::get_object(metadata, "labels");
        for (const auto& [key, value] : base::get_object(before, "labels")) labels.erase(key);
        for (const auto& [key, value] : base::get_object(group.data, "labels")) labels[key] = value;
        const JsonArray gone = kube_taints(before);
        JsonArray taints;
        for (const JsonValue& taint : base::get_array(spec, "taints")) {
            if (std::find(gone.begin(), gone.end(), taint) == gone.end()) taints.push_back(taint);
        }
        for (const JsonValue& taint : kube_taints(group.data)) taints.push_back(taint);
        metadata["labels"] = std::move(labels);
        spec["taints"] = std::move(taints);
        changed["metadata"] = std::move(metadata);
        changed["spec"] = std::move(spec);
        static_cast<void>(live->objects().update(kNodes, std::move(changed)));
    }
}

}  // namespace instantstart::twin::eks
