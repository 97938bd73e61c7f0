// Where pods that wait would find a place: on a node that is on its way, or on a new one.
#include <algorithm>

#include "twin/aws/eks/node.h"
#include "twin/aws/sagemaker/karpenter.h"
#include "twin/aws/sagemaker/node_fit.h"

namespace instantstart::twin::sagemaker {

namespace {

using kube::controllers::Amounts;

const kube::Kind kPods("", "pods");
const kube::Kind kDaemonSets("apps", "daemonsets");
constexpr std::size_t kNodesAPass = 50;

// A node as it would be, or will be.
struct Prospect {
    JsonObject labels;
    JsonArray taints;
    Amounts room, capacity;
};

// One way to get a node.
struct Offer {
    const NodePool* pool = nullptr;
    Record* group = nullptr;
    const domain::InstanceType* type = nullptr;
    std::string zone;
    bool spot = false;
    Prospect node;
};

bool waits(const JsonObject& pod) {
    if (!base::get_string(pod, "spec.nodeName").empty() || base::get_string(pod, "status.phase") != "Pending")
        return false;
    if (base::find_path(pod, "metadata.deletionTimestamp") != nullptr ||
        base::get_string(pod, "metadata.ownerReferences.0.kind") == "DaemonSet")
        return false;
    for (const JsonValue& condition : base::get_array(pod, "status.conditions")) {
        if (base::get_string(condition, "type") == "PodScheduled")
            return base::get_string(condition, "reason") == "Unschedulable";
    }
    return false;
}

void add_devices(Amounts& amounts, const domain::InstanceType& type) {
    const auto put = [&amounts](const char* name, std::int64_t count) { amounts[name] = count * 1000; };
    if (type.is_gpu()) put("nvidia.com/gpu", type.accelerators);
    if (type.efa_interfaces > 0) put("vpc.amazonaws.com/efa", type.efa_interfaces);
    if (!type.is_neuron()) return;
    const std::int64_t cores = type.name.find("trn2") != std::string::npos ? 4 : 2;
    put("aws.amazon.com/neuron", type.accelerators);
    put("aws.amazon.com/neurondevice", type.accelerators);
    put("aws.amazon.com/neuroncore", type.accelerators * cores);
}

bool fits(const Amounts& wanted, const Amounts& room) {
    return std::all_of(wanted.begin(), wanted.end(), [&room](const auto& each) {
        const auto found = room.find(each.first);
        return each.second == 0 || (found != room.end() && each.second <= found->second);
    });
}

void take(const Amounts& wanted, Amounts& room) {
    for (const auto& [name, amount] : wanted) room[name] -= amount;
}

// What the DaemonSets of the cluster will take of the node.
void take_daemons(kube::ObjectStore& objects, Prospect& node) {
    for (const kube::ObjectPtr& set : objects.list(kDaemonSets)) {
        const JsonObject& spec = base::get_object(*set, "spec.template.spec");
        if (!selects(spec, node.labels) || !tolerates(spec, node.taints)) continue;
        take(kube::controllers::pod_requests(JsonObject{{"spec", spec}}), node.room);
    }
}

Prospect prospect_of(State& state, const Record& cluster, const Record& group,
                     const domain::InstanceType& type, const JsonObject& subnet, const JsonObject& labels,
                     const JsonArray& taints) {
    eks::NodeSpec spec;
    eks::set_size(spec, type);
    if (base::get_int(group.data, "ThreadsPerCore", 1) != 2 && spec.arch != "arm64" && type.vcpus >= 4)
        spec.cpu_millis /= 2;
    spec.kept_percent = checkpoint_percent(cluster);
    spec.name = "prospect";
    spec.instance_type_label = type.name;
    spec.region = state.world.region();
    spec.zone = base::get_string(subnet, "AvailabilityZone");
    spec.zone_id = base::get_string(subnet, "AvailabilityZoneId");
    spec.labels = labels;
    for (const auto& [key, value] : base::get_object(group.data, "KubernetesConfig.DesiredLabels"))
        spec.labels[key] = value;
    spec.labels[kHealthLabel] = "Schedulable";
    spec.labels["sagemaker.amazonaws.com/instance-group-name"] =
        base::get_string(group.data, "InstanceGroupName");
    spec.labels["sagemaker.amazonaws.com/cluster-name"] = cluster.id;
    spec.labels["sagemaker.amazonaws.com/compute-type"] = "hyperpod";
    const JsonObject object = eks::node_object(spec, base::format_time(state.world.now()));
    Prospect made;
    made.labels = base::get_object(object, "metadata.labels");
    made.labels.erase("kubernetes.io/hostname");
    made.taints = kube_taints(base::get_array(group.data, "KubernetesConfig.DesiredTaints"));
    for (const JsonValue& taint : taints) made.taints.push_back(taint);
    made.room = kube::controllers::amounts_of(base::get_object(object, "status.allocatable"));
    made.capacity = kube::controllers::amounts_of(base::get_object(object, "status.capacity"));
    add_devices(made.room, type);
    add_devices(made.capacity, type);
    return made;
}

JsonObject pool_labels(const NodePool& pool, const Record& group) {
    JsonObject labels = base::get_object(pool.spec, "template.metadata.labels");
    labels["karpenter.sh/nodepool"] = pool.name;
    labels["karpenter.sh/capacity-type"] = is_spot(group) ? "spot" : "on-demand";
    return labels;
}

bool can_be_had(State& state, const domain::InstanceType& type, const Record& subnet) {
    const std::string zone = base::get_string(subnet.data, "AvailabilityZone");
    const auto left = state.world.capacity(type.name, zone);
    return (!left || *left > 0) && ec2::Ec2::offered(type.ec2_name(), zone) && has_quota(state, type.name) &&
           state.ec2().free_addresses(subnet.id) > type.max_pods;
}

// Without startup taints and DaemonSets the offers of a pool; the cheapest first, Spot before all.
std::vector<Offer> offers_of(State& state, const Record& cluster, kube::ObjectStore& objects,
                             const std::vector<NodePool>& pools) {
    std::vector<Offer> offers;
    for (const NodePool& pool : pools) {
        if (pool.node_class == nullptr) continue;
        const std::size_t begin = offers.size();
        for (Record* group : pool.node_class->groups) {
            const std::vector<std::string> subnets = strings(network_of(cluster, *group), "Subnets");
            for (const std::string& name : types_of(*group)) {
                const domain::InstanceType* type = domain::find_instance_type(name);
                const Record* subnet = subnets.empty() ? nullptr : state.ec2().subnet(subnets.front());
                if (type == nullptr || subnet == nullptr) continue;
                Offer offer;
                offer.pool = &pool;
                offer.group = group;
                offer.type = type;
                offer.zone = base::get_string(subnet->data, "AvailabilityZone");
                offer.spot = is_spot(*group);
                offer.node =
                    prospect_of(state, cluster, *group, *type, subnet->data, pool_labels(pool, *group),
                                base::get_array(pool.spec, "template.spec.taints"));
                if (!meets(base::get_array(pool.spec, "template.spec.requirements"), offer.node.labels))
                    continue;
                take_daemons(objects, offer.node);
                offers.push_back(std::move(offer));
            }
        }
        std::sort(offers.begin() + static_cast<std::ptrdiff_t>(begin), offers.end(),
                  [](const Offer& a, const Offer& b) {
                      return std::tuple(!a.spot, a.type->accelerators, a.type->vcpus, a.type->memory_gib,
                                        a.type->name) < std::tuple(!b.spot, b.type->accelerators,
                                                                   b.type->vcpus, b.type->memory_gib,
                                                                   b.type->name);
                  });
    }
    return offers;
}

bool is_joined(kube::ObjectStore& objects, const Record& node) {
    const kube::ObjectPtr object = objects.get(kube::Kind("", "nodes"), "", kube_name(node));
    if (object == nullptr) return false;
    for (const JsonValue& condition : base::get_array(*object, "status.conditions")) {
        if (base::get_string(condition, "type") != "Ready") continue;
        return base::get_string(condition, "status") == "True";
    }
    return false;
}

// Devices come some seconds after the node is Ready: until then it is still on its way.
bool has_devices(kube::ObjectStore& objects, const Record& node, const domain::InstanceType& type) {
    if (type.accelerators == 0) return true;
    const kube::ObjectPtr object = objects.get(kube::Kind("", "nodes"), "", kube_name(node));
    const JsonObject& allocatable = base::get_object(*object, "status.allocatable");
    const JsonValue* count =
        allocatable.if_contains(type.is_gpu() ? "nvidia.com/gpu" : "aws.amazon.com/neurondevice");
    return count != nullptr && *count != JsonValue("0");
}

// The nodes that Karpenter has asked for and that take no pods yet.
std::vector<Prospect> on_their_way(State& state, const Record& cluster, kube::ObjectStore& objects) {
    std::vector<Prospect> found;
    for (const Record* node : nodes_of(state, cluster)) {
        const std::string name = base::get_string(node->data, "InstanceGroupName");
        const Record* group = find_group(state, cluster, name);
        const domain::InstanceType* type =
            domain::find_instance_type(base::get_string(node->data, "InstanceType"));
        if (base::get_string(node->hidden, "pool").empty() || node_status(*node) == "ShuttingDown" ||
            group == nullptr || type == nullptr)
            continue;
        if (is_joined(objects, *node) && has_devices(objects, *node, *type)) continue;
        const Record* subnet = state.ec2().subnet(base::get_string(node->hidden, "subnet"));
        const JsonObject none;
        Prospect prospect =
            prospect_of(state, cluster, *group, *type, subnet == nullptr ? none : subnet->data,
                        base::get_object(node->hidden, "labels"), base::get_array(node->hidden, "taints"));
        take_daemons(objects, prospect);
        found.push_back(std::move(prospect));
    }
    return found;
}

// What could not be had after all is given up; another place is looked for.
void give_up(State& state, const Record& cluster) {
    for (Record* node : nodes_of(state, cluster)) {
        if (!base::get_string(node->hidden, "pool").empty() && base::get_bool(node->hidden, "waiting"))
            release_node(state, cluster, *node);
    }
}

bool within_limits(State& state, const Record& cluster, const Offer& offer) {
    const JsonObject& limits = base::get_object(offer.pool->spec, "limits");
    if (limits.empty()) return true;
    Amounts used = offer.node.capacity;
    used["nodes"] = 1000;
    for (const Record* node : nodes_of(state, cluster)) {
        if (base::get_string(node->hidden, "pool") != offer.pool->name ||
            node_status(*node) == "ShuttingDown")
            continue;
        for (const auto& [name, value] : base::get_object(node->hidden, "capacity"))
            used[std::string(name)] += value.to_number<std::int64_t>();
        used["nodes"] += 1000;
    }
    const Amounts most = kube::controllers::amounts_of(limits);
    return std::all_of(most.begin(), most.end(), [&used](const auto& each) {
        const auto found = used.find(each.first);
        return found == used.end() || found->second <= each.second;
    });
}

void launch(State& state, Record& cluster, const Offer& offer) {
    JsonObject steered{{"InstanceTypes", JsonArray{JsonValue(offer.type->name)}},
                       {"AvailabilityZones", JsonArray{JsonValue(offer.zone)}}};
    JsonObject capacity;
    for (const auto& [name, amount] : offer.node.capacity) capacity[name] = amount;
    for (const std::string& id : add_nodes(state, cluster, *offer.group, 1, steered)) {
        Record* node = state.nodes.find(id);
        node->hidden["pool"] = offer.pool->name;
        node->hidden["class"] = offer.pool->node_class->name;
        node->hidden["labels"] = pool_labels(*offer.pool, *offer.group);
        node->hidden["taints"] = base::get_array(offer.pool->spec, "template.spec.taints");
        node->hidden["capacity"] = capacity;
    }
}

bool place_on(const JsonObject& pod, const Amounts& wanted, Prospect& node) {
    const JsonObject& spec = base::get_object(pod, "spec");
    if (!fits(wanted, node.room) || !selects(spec, node.labels) || !tolerates(spec, node.taints))
        return false;
    take(wanted, node.room);
    return true;
}

}  // namespace

bool place_pods(State& state, Record& cluster, kube::ObjectStore& objects,
                const std::vector<NodePool>& pools) {
    give_up(state, cluster);
    std::vector<Prospect> coming = on_their_way(state, cluster, objects);
    bool unsettled = !coming.empty();
    std::vector<kube::ObjectPtr> pods;
    for (const kube::ObjectPtr& pod : objects.list(kPods)) {
        if (waits(*pod)) pods.push_back(pod);
    }
    if (pods.empty()) return unsettled;
    const std::vector<Offer> offers = offers_of(state, cluster, objects, pools);
    std::size_t launched = 0;
    for (const kube::ObjectPtr& pod : pods) {
        const Amounts wanted = kube::controllers::pod_requests(*pod);
        if (std::any_of(coming.begin(), coming.end(),
                        [&](Prospect& node) { return place_on(*pod, wanted, node); }))
            continue;
        for (const Offer& offer : offers) {
            Prospect node = offer.node;
            const Record* subnet =
                state.ec2().subnet(strings(network_of(cluster, *offer.group), "Subnets").front());
            if (launched >= kNodesAPass || subnet == nullptr || !can_be_had(state, *offer.type, *subnet) ||
                !place_on(*pod, wanted, node) || !within_limits(state, cluster, offer))
                continue;
            launch(state, cluster, offer);
            coming.push_back(std::move(node));
            ++launched;
            unsettled = true;
            break;
        }
    }
    return unsettled;
}

}  // namespace instantstart::twin::sagemaker
