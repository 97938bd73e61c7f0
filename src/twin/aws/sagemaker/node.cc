// The life of a node: an instance with its interface, then a Node in Kubernetes.
#include "twin/aws/eks/node.h"
#include "domain/instance_type.h"
#include "twin/aws/sagemaker/deep_check.h"
#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/plan.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Addresses that a node takes: one for itself and one a pod on the first card, one on each further card but
// in EFA-only mode.
std::size_t addresses_of(const Record& group, const domain::InstanceType& type) {
    const bool only = base::get_string(group.data, "NetworkInterface.InterfaceType") == "efa-only";
    const std::int64_t further = type.efa_interfaces > 0 && !only ? type.network_cards - 1 : 0;
    return static_cast<std::size_t>(type.max_pods + 1 + std::max<std::int64_t>(0, further));
}

void place_node(State& state, const Record& group, Record& node, const Record& subnet,
                const std::string& interface) {
    const std::string address = state.ec2().interface_address(interface);
    node.hidden["waiting"] = false;
    node.hidden["interface"] = interface;
    node.hidden["subnet"] = subnet.id;
    node.data["InstanceId"] = state.world.hex_id("i-", 17);
    node.data["InstanceStatus"] = {{"Status", "Pending"}};
    node.data["LaunchTime"] = state.time();
    node.hidden["image"] = desired_image(group);
    node.hidden.erase("fault");
    node.hidden.erase("checked");
    node.hidden.erase("reclaimed");
    node.data["PrivatePrimaryIp"] = address;
    std::string host = "ip-" + address;
    for (char& letter : host) letter = letter == '.' ? '-' : letter;
    node.data["PrivateDnsHostname"] = host + "." + state.world.region() + ".compute.internal";
    node.data["Placement"] = {{"AvailabilityZone", base::get_string(subnet.data, "AvailabilityZone")},
                              {"AvailabilityZoneId", base::get_string(subnet.data, "AvailabilityZoneId")}};
}

void tell_started(State& state, const Record& cluster, const Record& node) {
    EventSpec event;
    event.resource = "Instance";
    event.group = base::get_string(node.data, "InstanceGroupName");
    event.instance = base::get_string(node.data, "InstanceId");
    event.description = "Instance launch has started";
    event.metadata["Instance"] = {{"CustomerEni", base::get_string(node.hidden, "interface")},
                                  {"NodeLogicalId", node.id}};
    add_event(state, cluster, std::move(event));
}

void free_interface(State& state, Record& node) {
    state.ec2().delete_interface(base::get_string(node.hidden, "interface"));
    node.hidden["interface"] = "";
}

void tell_running(State& state, const Record& cluster, const Record& node) {
    EventSpec event;
    event.resource = "Instance";
    event.group = base::get_string(node.data, "InstanceGroupName");
    event.instance = base::get_string(node.data, "InstanceId");
    event.description = "Instance is running";
    event.metadata["Instance"] = {{"NodeLogicalId", node.id}, {"LcsExecutionState", "Succeeded"}};
    add_event(state, cluster, std::move(event));
}

// An instance is up: a new one joins after its deep checks have begun, where its group wants them.
void run_node(State& state, Record& cluster, Record& node) {
    const Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    if (group == nullptr) return;
    node.data["InstanceStatus"] = {{"Status", "Running"}};
    const bool rebooted = base::get_bool(node.hidden, "rebooting");
    node.hidden["was_running"] = false;
    node.hidden["rebooting"] = false;
    node.hidden["seen"] = true;
    if (rebooted) {
        after_reboot(state, cluster, node);
    } else {
        join_kubernetes(state, cluster, *group, node);
    }
    tell_running(state, cluster, node);
    const JsonArray& checks = base::get_array(group->data, "OnStartDeepHealthChecks");
    if (!rebooted && !checks.empty()) start_deep_checks(state, cluster, node, checks);
    set_timer(state, node, "node_ready", seconds(20));
    look_soon(state, cluster);
}

// The zones of its own restriction, or all that the group's subnets give.
bool zone_allowed(const Record& node, const std::string& zone) {
    const std::vector<std::string> only = strings(node.hidden, "zones");
    return only.empty() || contains(only, zone);
}

// Where the instance may be had in this subnet, or why not.
Place try_subnet(State& state, Record& cluster, Record& group, Record& node, const domain::InstanceType& type,
                 const std::string& subnet_id) {
    const Record* subnet = state.ec2().subnet(subnet_id);
    if (subnet == nullptr) return Place::no_capacity;
    const std::string zone = base::get_string(subnet->data, "AvailabilityZone"),
                      plan = base::get_string(group.data, "TrainingPlanArn");
    if (!zone_allowed(node, zone)) return Place::no_capacity;
    if (plan.empty()) {
        const std::optional<std::int64_t> left = state.world.capacity(type.name, zone);
        if ((left && *left < 1) || !ec2::Ec2::offered(type.ec2_name(), zone)) return Place::no_capacity;
    } else {
        const std::optional<OpenBlock> block = open_block(state, plan);
        if (!block || block->zone != zone || block->left < 1) return Place::no_plan;
    }
    const JsonObject& network = network_of(cluster, group);
    ec2::InterfaceSpec spec;
    spec.subnet_id = subnet_id;
    spec.group_ids = strings(network, "SecurityGroupIds");
    spec.description =
        "SageMaker HyperPod " + cluster.id + " " + base::get_string(group.data, "InstanceGroupName");
    spec.requester = "amazon-sagemaker";
    spec.instance_owner = "amazon-sagemaker";
    spec.addresses = addresses_of(group, type);
    const std::optional<std::string> interface = state.ec2().create_interface(spec);
    if (!interface) return Place::no_addresses;
    if (plan.empty()) state.world.take_capacity(type.name, zone, 1);
    node.hidden["plan"] = plan;
    node.data["InstanceType"] = type.name;
    place_node(state, group, node, *subnet, *interface);
    return Place::started;
}

}  // namespace

void set_timer(State& state, const Record& node, const char* kind, base::Duration typical) {
    state.world.after(state.world.about(typical), "sagemaker", kind,
                      {{"node", node.id}, {"instance", base::get_string(node.data, "InstanceId")}});
}

Place start_node(State& state, Record& cluster, Record& group, Record& node) {
    Place place = Place::no_capacity;
    const std::vector<std::string> types = types_of(group), only = strings(node.hidden, "types");
    for (const std::string& name : types) {
        const domain::InstanceType* type = domain::find_instance_type(name);
        if (type == nullptr || (!only.empty() && !contains(only, name))) continue;
        if (types.size() > 1 && !has_quota(state, name)) continue;
        for (const std::string& subnet : strings(network_of(cluster, group), "Subnets")) {
            const Place here = try_subnet(state, cluster, group, node, *type, subnet);
            if (here == Place::started) {
                tell_started(state, cluster, node);
                set_timer(state, node, "node_up", minutes(6));
                return Place::started;
            }
            if (here != Place::no_capacity) place = here;
        }
    }
    return place;
}

void give_back(State& state, Record& node) {
    const std::string zone = base::get_string(node.data, "Placement.AvailabilityZone");
    if (zone.empty() || !node.data.contains("InstanceId")) return;
    // What was reclaimed runs for somebody else now, and a plan counts its instances itself.
    if (base::get_bool(node.hidden, "reclaimed") || !base::get_string(node.hidden, "plan").empty()) return;
    state.world.take_capacity(base::get_string(node.data, "InstanceType"), zone, -1);
}

void stop_node(State& state, Record& node) {
    const Record* cluster = find_cluster_by_id(state, base::get_string(node.hidden, "cluster"));
    const bool never_started = base::get_bool(node.hidden, "waiting");
    node.data["InstanceStatus"] = {{"Status", "ShuttingDown"}};
    node.hidden["was_running"] = false;
    if (cluster != nullptr) leave_kubernetes(state, *cluster, node);
    if (never_started) {
        state.nodes.erase(std::string(node.id));
        return;
    }
    set_timer(state, node, "node_gone", minutes(2));
}

void replace_node(State& state, Record& node) {
    Record* cluster = find_cluster_by_id(state, base::get_string(node.hidden, "cluster"));
    if (cluster == nullptr) return;
    node.data["InstanceStatus"] = {{"Status", "ShuttingDown"}};
    node.hidden["was_running"] = true;  // the group's count does not fall while its node is exchanged
    leave_kubernetes(state, *cluster, node);
    set_timer(state, node, "node_replaced", minutes(2));
}

void reboot_node(State& state, Record& node) {
    const Record* cluster = find_cluster_by_id(state, base::get_string(node.hidden, "cluster"));
    node.data["InstanceStatus"] = {{"Status", "Pending"}};
    node.hidden["was_running"] = true;
    node.hidden["rebooting"] = true;
    kube::Cluster* live = cluster == nullptr ? nullptr : kube_of(state, *cluster);
    if (live != nullptr)
        eks::set_ready(*live, kube_name(node), "Unknown", "NodeStatusUnknown",
                       base::format_time(state.world.now()));
    set_timer(state, node, "node_up", minutes(3));
}

void node_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* node = state.nodes.find(base::get_string(payload, "node"));
    if (node == nullptr ||
        base::get_string(node->data, "InstanceId") != base::get_string(payload, "instance"))
        return;
    Record* cluster = find_cluster_by_id(state, base::get_string(node->hidden, "cluster"));
    if (cluster == nullptr || status_of(*cluster) == "Deleting") return;
    const std::string status = node_status(*node);
    if (kind == "node_up" && status == "Pending") run_node(state, *cluster, *node);
    if (kind == "node_ready" && (status == "Running" || status == "DeepHealthCheckInProgress")) {
        if (kube::Cluster* live = kube_of(state, *cluster))
            eks::mark_ready_node(*live, kube_name(*node), base::format_time(state.world.now()));
    }
    if (kind == "node_gone" && status == "ShuttingDown") {
        free_interface(state, *node);
        give_back(state, *node);
        state.nodes.erase(std::string(node->id));
        look_soon(state, *cluster);
    }
    if (kind == "node_replaced" && status == "ShuttingDown") {
        free_interface(state, *node);
        give_back(state, *node);
        node->data["InstanceStatus"] = {{"Status", "Pending"}};
        node->data.erase("InstanceId");
        node->data.erase("Placement");
        node->hidden["waiting"] = true;
        look_soon(state, *cluster);
    }
}

}  // namespace instantstart::twin::sagemaker
