// The life of a node: an instance with its interface, then a Node in Kubernetes.
#include "twin/aws/eks/node.h"

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kHealthLabel = "sagemaker.amazonaws.com/node-health-status";

const JsonObject& network_of(const Record& cluster, const Record& group) {
    const JsonObject& own = base::get_object(group.data, "OverrideVpcConfig");
    return own.empty() ? base::get_object(cluster.data, "VpcConfig") : own;
}

// Addresses that a node takes: one for itself and one a pod on the first card, one on each further card but
// in EFA-only mode.
std::size_t addresses_of(const Record& group, const domain::InstanceType& type) {
    const bool only = base::get_string(group.data, "NetworkInterface.InterfaceType") == "efa-only";
    const std::int64_t further = type.efa_interfaces > 0 && !only ? type.network_cards - 1 : 0;
    return static_cast<std::size_t>(type.max_pods + 1 + std::max<std::int64_t>(0, further));
}

void set_timer(State& state, const Record& node, const char* kind, base::Duration typical) {
    state.world.after(state.world.about(typical), "sagemaker", kind,
                      {{"node", node.id}, {"instance", base::get_string(node.data, "InstanceId")}});
}

void place_node(State& state, Record& node, const Record& subnet, const std::string& interface) {
    const std::string address = state.ec2().interface_address(interface);
    node.hidden["waiting"] = false;
    node.hidden["interface"] = interface;
    node.hidden["subnet"] = subnet.id;
    node.data["InstanceId"] = state.world.hex_id("i-", 17);
    node.data["InstanceStatus"] = {{"Status", "Pending"}};
    node.data["LaunchTime"] = state.time();
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

JsonArray kube_taints(const Record& group) {
    JsonArray taints;
    for (const JsonValue& taint : base::get_array(group.data, "KubernetesConfig.DesiredTaints")) {
        JsonObject made{{"key", base::get_string(taint, "Key")},
                        {"effect", base::get_string(taint, "Effect")}};
        if (taint.get_object().contains("Value")) made["value"] = base::get_string(taint, "Value");
        taints.push_back(std::move(made));
    }
    return taints;
}

void join_kubernetes(State& state, const Record& cluster, const Record& group, const Record& node) {
    const std::string eks = eks_name(state, cluster);
    kube::Cluster* live = state.host.find(eks);
    const domain::InstanceType* type =
        domain::find_instance_type(base::get_string(node.data, "InstanceType"));
    if (live == nullptr || type == nullptr) return;
    eks::NodeSpec spec;
    eks::set_size(spec, *type);
    const bool both_threads =
        base::get_int(group.data, "ThreadsPerCore", 1) == 2 || spec.arch == "arm64" || type->vcpus < 4;
    if (!both_threads) spec.cpu_millis /= 2;
    spec.name = kube_name(node);
    spec.instance_type_label = type->name;
    spec.region = state.world.region();
    spec.zone = base::get_string(node.data, "Placement.AvailabilityZone");
    spec.zone_id = base::get_string(node.data, "Placement.AvailabilityZoneId");
    spec.address = base::get_string(node.data, "PrivatePrimaryIp");
    spec.kubernetes_version = live->config().version;
    spec.provider_id = "aws:///" + spec.zone_id + "/sagemaker/cluster/hyperpod-" + cluster_id(cluster) + "-" +
                       base::get_string(node.data, "InstanceId");
    for (const auto& [key, value] : base::get_object(group.data, "KubernetesConfig.DesiredLabels"))
        spec.labels[key] = value;
    spec.labels[kHealthLabel] = "Schedulable";
    spec.labels["sagemaker.amazonaws.com/instance-group-name"] =
        base::get_string(node.data, "InstanceGroupName");
    spec.labels["sagemaker.amazonaws.com/cluster-name"] = cluster.id;
    spec.labels["sagemaker.amazonaws.com/compute-type"] = "hyperpod";
    spec.taints = kube_taints(group);
    eks::register_node(*live, spec, base::format_time(state.world.now()));
}

void free_interface(State& state, Record& node) {
    state.ec2().delete_interface(base::get_string(node.hidden, "interface"));
    node.hidden["interface"] = "";
}

void run_node(State& state, Record& cluster, Record& node) {
    const Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    if (group == nullptr) return;
    node.data["InstanceStatus"] = {{"Status", "Running"}};
    node.hidden["was_running"] = false;
    node.hidden["seen"] = true;
    join_kubernetes(state, cluster, *group, node);
    EventSpec event;
    event.resource = "Instance";
    event.group = base::get_string(node.data, "InstanceGroupName");
    event.instance = base::get_string(node.data, "InstanceId");
    event.description = "Instance is running";
    event.metadata["Instance"] = {{"NodeLogicalId", node.id}, {"LcsExecutionState", "Succeeded"}};
    add_event(state, cluster, std::move(event));
    set_timer(state, node, "node_ready", seconds(20));
    settle(state, cluster);
}

}  // namespace

Place start_node(State& state, Record& cluster, Record& group, Record& node) {
    const std::string type_name = base::get_string(group.data, "InstanceType");
    const domain::InstanceType* type = domain::find_instance_type(type_name);
    if (type == nullptr) return Place::no_capacity;
    Place place = Place::no_capacity;
    const JsonObject& network = network_of(cluster, group);
    for (const std::string& subnet_id : strings(network, "Subnets")) {
        const Record* subnet = state.ec2().subnet(subnet_id);
        if (subnet == nullptr) continue;
        const std::string zone = base::get_string(subnet->data, "AvailabilityZone");
        const std::optional<std::int64_t> left = state.world.capacity(type_name, zone);
        if ((left && *left < 1) || !ec2::Ec2::offered(type->ec2_name(), zone)) continue;
        ec2::InterfaceSpec spec;
        spec.subnet_id = subnet_id;
        spec.group_ids = strings(network, "SecurityGroupIds");
        spec.description =
            "SageMaker HyperPod " + cluster.id + " " + base::get_string(group.data, "InstanceGroupName");
        spec.requester = "amazon-sagemaker";
        spec.instance_owner = "amazon-sagemaker";
        spec.addresses = addresses_of(group, *type);
        const std::optional<std::string> interface = state.ec2().create_interface(spec);
        if (!interface) {
            place = Place::no_addresses;
            continue;
        }
        state.world.take_capacity(type_name, zone, 1);
        place_node(state, node, *subnet, *interface);
        tell_started(state, cluster, node);
        set_timer(state, node, "node_up", minutes(6));
        return Place::started;
    }
    return place;
}

void leave_kubernetes(State& state, const Record& cluster, const Record& node) {
    kube::Cluster* live = state.host.find(eks_name(state, cluster));
    if (live == nullptr || !node.data.contains("InstanceId")) return;
    static_cast<void>(live->objects().remove(kube::Kind("", "nodes"), "", kube_name(node)));
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
    kube::Cluster* live = cluster == nullptr ? nullptr : state.host.find(eks_name(state, *cluster));
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
    if (kind == "node_ready" && status == "Running") {
        if (kube::Cluster* live = state.host.find(eks_name(state, *cluster)))
            eks::mark_ready_nodes(*live, base::format_time(state.world.now()));
    }
    if (kind == "node_gone" && status == "ShuttingDown") {
        free_interface(state, *node);
        state.nodes.erase(std::string(node->id));
        reconcile(state, *cluster);
        settle(state, *cluster);
    }
    if (kind == "node_replaced" && status == "ShuttingDown") {
        free_interface(state, *node);
        node->data["InstanceStatus"] = {{"Status", "Pending"}};
        node->data.erase("InstanceId");
        node->hidden["waiting"] = true;
        reconcile(state, *cluster);
    }
}

}  // namespace instantstart::twin::sagemaker
