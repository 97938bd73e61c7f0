// node_group.add, .update, .delete: EKS managed node groups, for pods that need no accelerator.
#include <algorithm>
#include <set>

#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/node_group_preflight.h"
#include "app/node_group_rows.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"
#include "domain/instance_type.h"
#include "domain/names.h"
#include "flows/node_group_steps.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kVolumeGib = 80;

// --- add

struct NodeGroupAdd {
    NodeGroupAdd() = default;
    std::string cluster;
    std::string name;
    std::vector<std::string> instance_types;
    std::int64_t count = 0;
    std::optional<std::int64_t> min_count;
    std::optional<std::int64_t> max_count;
    std::string capacity = "on_demand";
    std::string zone;
    std::optional<bool> efa;
    std::optional<std::int64_t> volume_size_gib;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::vector<domain::Taint>> taints;
};
BOOST_DESCRIBE_STRUCT(NodeGroupAdd, (),
                      (cluster, name, instance_types, count, min_count, max_count, capacity, zone, efa,
                       volume_size_gib, labels, taints))

void check_counts(std::int64_t count, std::int64_t least, std::int64_t most, Findings& found) {
    if (least > count) {
        found.faults.push_back(
            fault("/min_count", "must not be above count (" + std::to_string(count) + ")"));
    }
    if (most < count) {
        found.faults.push_back(
            fault("/max_count", "must not be below count (" + std::to_string(count) + ")"));
    }
}

// EC2's names, without HyperPod's prefix. Types that we know nothing of are EC2's to judge.
const domain::InstanceType* known_type(const std::string& name) {
    return domain::find_instance_type("ml." + name);
}

void check_types(const NodeGroupAdd& input, Findings& found) {
    std::set<std::string> archs;
    for (std::size_t index = 0; index < input.instance_types.size(); ++index) {
        const auto& name = input.instance_types[index];
        const auto at = "/instance_types/" + std::to_string(index);
        if (name.starts_with("ml.")) {
            found.faults.push_back(
                fault(at, "is HyperPod's name; a node group takes EC2's", {name.substr(3)}));
            continue;
        }
        const auto* type = known_type(name);
        if (type == nullptr) continue;
        archs.insert(type->arch);
        if (input.efa.value_or(false) && type->efa_interfaces == 0) {
            found.faults.push_back(fault("/efa", "efa and " + name +
                                                     " exclude each other: the type has no EFA interface; "
                                                     "choose another type, or leave efa out"));
        }
    }
    if (archs.size() > 1)
        found.faults.push_back(fault("/instance_types", "are of different processors: one image serves all"));
    if (input.efa.value_or(false) && input.instance_types.size() > 1) {
        found.faults.push_back(fault("/efa",
                                     "efa and several instance types exclude each other: they have "
                                     "different network cards; name one type"));
    }
}

// The image that fits the type; EKS's usual one where nothing is known of it.
std::string ami_type_of(const NodeGroupAdd& input) {
    const auto* type = known_type(input.instance_types.front());
    if (type == nullptr) return "AL2023_x86_64_STANDARD";
    const bool arm = type->arch == "arm64";
    if (type->is_gpu()) return arm ? "AL2023_ARM_64_NVIDIA" : "AL2023_x86_64_NVIDIA";
    if (type->is_neuron()) return "AL2023_x86_64_NEURON";
    return arm ? "AL2023_ARM_64_STANDARD" : "AL2023_x86_64_STANDARD";
}

Task<void> check_zone(Call call, NodeGroupAdd input, Findings& found) {
    CO_TRY(auto zones, co_await list_zones(call));
    const auto* zone = domain::find_zone(zones, input.zone);
    if (zone == nullptr || !zone->usable) {
        found.faults.push_back(fault("/zone", "is no availability zone of this region that can be used",
                                     domain::names_of(zones), input.zone));
        co_return base::ok();
    }
    for (std::size_t index = 0; index < input.instance_types.size(); ++index) {
        const auto& name = input.instance_types[index];
        auto offered = co_await zones_offering(call, name);
        if (!offered && offered.error().kind == base::ErrorKind::cancelled)
            co_return std::move(offered).error();
        if (!offered) {
            found.warnings.push_back("could not see where " + name +
                                     " is offered: " + offered.error().message);
        } else if (!offered->contains(input.zone)) {
            found.faults.push_back(
                fault("/instance_types/" + std::to_string(index),
                      name + " is not offered in " + input.zone + ": choose another type or zone"));
        }
    }
    co_return base::ok();
}

JsonObject group_params(const NodeGroupAdd& input, std::int64_t least, std::int64_t most) {
    const auto* type = known_type(input.instance_types.front());
    auto given = to_json(input);
    JsonObject group{{"name", input.name},
                     {"count", input.count},
                     {"min_count", least},
                     {"max_count", most},
                     {"capacity", input.capacity},
                     {"zone", input.zone},
                     {"efa", input.efa.value_or(false)},
                     {"network_cards", type == nullptr ? 1 : type->network_cards},
                     {"volume_size_gib", input.volume_size_gib.value_or(kVolumeGib)},
                     {"ami_type", ami_type_of(input)}};
    for (const char* name : {"instance_types", "labels", "taints"}) {
        const auto* value = given.if_contains(name);
        if (value != nullptr && !value->is_null()) group[name] = *value;
    }
    return group;
}

NodeGroupDemand demand_of(const NodeGroupAdd& input) {
    NodeGroupDemand demand;
    demand.name = input.name;
    demand.zone = input.zone;
    demand.capacity = input.capacity;
    demand.types = input.instance_types;
    demand.count = input.count;
    demand.efa = input.efa.value_or(false);
    return demand;
}

Task<Plan> plan_add(Call call, NodeGroupAdd input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    Findings found;
    const auto least = input.min_count.value_or(std::min<std::int64_t>(input.count, 1));
    const auto most = input.max_count.value_or(std::max<std::int64_t>(input.count, 1));
    check_counts(input.count, least, most, found);
    check_types(input, found);
    CO_CHECK_OK(co_await check_zone(call, input, found));
    if (!found.faults.empty()) co_return faults_error(std::move(found.faults));
    CO_TRY(auto there, co_await flows::describe_node_group(call.services->clusters, call.context,
                                                           target.ref.eks_name, input.name));
    if (!there.empty()) {
        co_return base::conflict_error("already_exists", "a node group \"" + input.name + "\" exists already")
            .with_hint("node_group.update changes it; a new one needs another name.");
    }
    CO_CHECK_OK(co_await check_node_group(call, target.ref, demand_of(input), found));
    CO_CHECK_OK(
        co_await check_way_out(call, base::get_string(target.eks, "resourcesVpcConfig.vpcId"), found));
    CO_TRY(auto params, co_await base_params(call, target));
    CO_CHECK_OK(co_await add_cluster_settings(call, target, params));
    params["node_group"] = group_params(input, least, most);
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/node-group/" + input.name;
    made.flow = "node_group_add";
    made.creates = {"node group " + input.name + ": " + std::to_string(input.count) + " × " +
                        base::join(input.instance_types, " or ") + " in " + input.zone,
                    "its role and its launch template"};
    made.flow_params = std::move(params);
    CO_CHECK_OK(co_await put_node_group_cost(call, demand_of(input), made));
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

// --- update

struct NodeGroupUpdate {
    NodeGroupUpdate() = default;
    std::string cluster;
    std::string group;
    std::optional<std::int64_t> count;
    std::optional<std::int64_t> min_count;
    std::optional<std::int64_t> max_count;
    std::optional<std::map<std::string, std::string>> labels;
    std::optional<std::vector<domain::Taint>> taints;
    std::optional<std::vector<std::string>> instance_types;
    std::optional<std::string> capacity;
    std::optional<std::string> zone;
    std::optional<bool> efa;
    std::optional<std::int64_t> volume_size_gib;
};
BOOST_DESCRIBE_STRUCT(NodeGroupUpdate, (),
                      (cluster, group, count, min_count, max_count, labels, taints, instance_types, capacity,
                       zone, efa, volume_size_gib))

Task<JsonObject> find_node_group(Call call, Target target, std::string name) {
    CO_TRY(auto group, co_await flows::describe_node_group(call.services->clusters, call.context,
                                                           target.ref.eks_name, name));
    if (group.empty()) {
        co_return base::not_found_error("node group \"" + name + "\"")
            .with_hint("node_group.list names the node groups.");
    }
    co_return group;
}

base::Result<void> check_fixed(const NodeGroupUpdate& input, const JsonObject& row) {
    std::vector<base::FieldError> faults;
    const auto given = to_json(input);
    for (const char* name : {"instance_types", "capacity"}) {
        const auto* value = given.if_contains(name);
        if (value == nullptr || value->is_null() || *value == row.at(name)) continue;
        faults.push_back(fault(std::string("/") + name, "is fixed for the node group's life"));
    }
    const auto& zones = base::get_array(row, "zones");
    const bool other = input.zone && zones != JsonArray{JsonValue(*input.zone)};
    if (other) faults.push_back(fault("/zone", "is fixed for the node group's life"));
    // These stand in its launch template, which is not read: naming them is taken for another value.
    for (const char* name : {"efa", "volume_size_gib"}) {
        const auto* value = given.if_contains(name);
        if (value != nullptr && !value->is_null())
            faults.push_back(fault(std::string("/") + name, "is fixed for the node group's life"));
    }
    if (faults.empty()) return base::ok();
    auto error =
        base::conflict_error("immutable_field", faults.front().pointer.substr(1) + " of node group " +
                                                    input.group + " cannot be changed")
            .with_hint("Add a new node group with what is wanted (node_group.add), drain the nodes of " +
                       input.group + " (kubectl drain), then delete it (node_group.delete).");
    error.fields = std::move(faults);
    return error;
}

JsonObject changes_of(const NodeGroupUpdate& input) {
    const auto given = to_json(input);
    JsonObject changes;
    for (const char* name : {"count", "min_count", "max_count", "labels", "taints"}) {
        const auto* value = given.if_contains(name);
        if (value != nullptr && !value->is_null()) changes[name] = *value;
    }
    return changes;
}

// Of an existing group; its EFA interfaces do not count: what is there of them is not read.
NodeGroupDemand demand_of(const JsonObject& row, std::int64_t count) {
    NodeGroupDemand demand;
    demand.name = base::get_string(row, "name");
    demand.capacity = base::get_string(row, "capacity");
    for (const auto& type : base::get_array(row, "instance_types"))
        demand.types.emplace_back(type.as_string());
    const auto& zones = base::get_array(row, "zones");
    if (!zones.empty()) demand.zone = std::string(zones.front().as_string());
    const auto& subnets = base::get_array(row, "subnet_ids");
    if (!subnets.empty()) demand.subnet = std::string(subnets.front().as_string());
    demand.count = count;
    return demand;
}

Task<Plan> plan_update(Call call, NodeGroupUpdate input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto group, co_await find_node_group(call, target, input.group));
    JsonArray rows{node_group_row(group)};
    if (input.zone || input.count) {
        CO_CHECK_OK(co_await add_node_group_zones(call, rows));
    }
    const auto row = rows.front().as_object();
    CO_CHECK_OK(check_fixed(input, row));
    auto changes = changes_of(input);
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/node-group/" + input.group;
    made.confirm_value = input.group;
    if (flows::node_group_is_as_asked(group, changes)) {
        made.no_change = true;
        made.no_change_result = JsonObject{{"node_group", input.group}};
        co_return made;
    }
    Findings found;
    const auto now = base::get_int(group, "scalingConfig.desiredSize");
    const auto then = input.count.value_or(now);
    check_counts(then, input.min_count.value_or(base::get_int(group, "scalingConfig.minSize")),
                 input.max_count.value_or(base::get_int(group, "scalingConfig.maxSize")), found);
    if (!found.faults.empty()) co_return faults_error(std::move(found.faults));
    if (then > now && !base::get_array(row, "instance_types").empty()) {
        CO_CHECK_OK(co_await check_node_group(call, target.ref, demand_of(row, then - now), found));
        CO_CHECK_OK(co_await put_node_group_cost(call, demand_of(row, then), made));
    }
    for (const auto& [key, value] : changes)
        made.changes.push_back(input.group + ": " + std::string(key) + " " + base::to_text(value));
    if (then < now) {
        made.removes.push_back(std::to_string(now - then) + " of " + std::to_string(now) +
                               " nodes of node group " + input.group +
                               " with their volumes; EKS drains and chooses them");
    }
    CO_TRY(auto params, co_await base_params(call, target));
    params["node_group"] = input.group;
    params["changes"] = std::move(changes);
    made.flow = "node_group_update";
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

// --- delete

struct NodeGroupDelete {
    std::string cluster;
    std::string group;
};
BOOST_DESCRIBE_STRUCT(NodeGroupDelete, (), (cluster, group))

Task<Plan> plan_delete(Call call, NodeGroupDelete input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto group, co_await find_node_group(call, target, input.group));
    const auto& tags = base::get_object(group, "tags");
    if (domain::tag_of(tags, domain::kTagCluster) != target.ref.name) {
        co_return base::conflict_error("not_ours", "node group " + input.group + " was not made here")
            .with_hint("Whoever made it deletes it: aws eks delete-nodegroup --cluster-name " +
                       target.ref.eks_name + " --nodegroup-name " + input.group + ".");
    }
    CO_TRY(auto params, co_await base_params(call, target));
    params["node_group"] = input.group;
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/node-group/" + input.group;
    made.covers_children = true;
    made.flow = "node_group_delete";
    made.confirm_value = input.group;
    made.removes = {"node group " + input.group + " with " +
                        std::to_string(base::get_int(group, "scalingConfig.desiredSize")) +
                        " nodes and their volumes, and what runs on them",
                    "its launch template and its role"};
    made.flow_params = std::move(params);
    co_return made;
}

// --- declarations

Field name_field(std::string name) {
    return Field(std::move(name), "Name of the node group.")
        .matches("^[a-zA-Z0-9][a-zA-Z0-9_-]{0,62}$")
        .like("system");
}

constexpr double kNodesMost = 450;  // of a node group, by EKS's quota

std::vector<Field> further_fields() {
    return {
        Field("count", "How many nodes.").range(0, kNodesMost).like(2),
        Field("min_count", "How few an autoscaler may leave.").range(0, kNodesMost).like(1),
        Field("max_count", "How many an autoscaler may start.").range(1, kNodesMost).like(4),
        Field("labels", "Kubernetes labels of the nodes.").length(0, 50).like(JsonObject{{"team", "a"}}),
        Field("taints", "Kubernetes taints of the nodes.").length(0, 50),
        Field("taints.key", "Key of the taint.").length(1, 63).like("dedicated"),
        Field("taints.value", "Value of the taint.").length(0, 63).like("system"),
        Field("taints.effect", "What the taint does.")
            .one_of({"NoSchedule", "PreferNoSchedule", "NoExecute"})
            .like("NoSchedule"),
        Field("instance_types", "EC2 instance types, without ml., of which EKS takes any.")
            .length(1, 20)
            .like(JsonArray{"m5.xlarge"}),
        Field("capacity", "How the instances are bought.").one_of({"on_demand", "spot"}).like("on_demand"),
        Field("zone", "Availability zone of the nodes.").length(1, 32).like("us-west-2a"),
        Field("efa", "With EFA interfaces on all network cards.").like(false),
        Field("volume_size_gib", "Size of the root volume; 80 where left out.").range(20, 16384).like(100)};
}

}  // namespace

std::unique_ptr<Operation> make_node_group_add() {
    auto meta =
        node_group_meta("node_group.add", "POST", "",
                        "Add an EKS node group for system pods, with subnet, role and launch template; "
                        "done once its nodes are Ready.");
    meta.uses = used_by_node_group_add();
    auto fields = further_fields();
    for (auto& field : fields) {
        if (field.name == "capacity") field.default_value = "on_demand";
    }
    return make_long_running<NodeGroupAdd>(
        std::move(meta), joined({{cluster_field(), name_field("name")}, std::move(fields)}), &plan_add);
}

std::unique_ptr<Operation> make_node_group_update() {
    auto meta = node_group_meta("node_group.update", "PATCH", "/{group}",
                                "Change a node group's counts, labels or taints; only what is named. A lower "
                                "count removes nodes and asks for confirmation.");
    meta.removes = Removes::by_plan;
    meta.uses = used_by_node_group_change();
    return make_long_running<NodeGroupUpdate>(
        std::move(meta), joined({{cluster_field(), name_field("group")}, further_fields()}), &plan_update);
}

std::unique_ptr<Operation> make_node_group_delete() {
    auto meta = node_group_meta("node_group.delete", "DELETE", "/{group}",
                                "Delete a node group with its nodes, its launch template and its role.");
    meta.removes = Removes::always;
    meta.uses = used_by_node_group_removal();
    return make_long_running<NodeGroupDelete>(std::move(meta), {cluster_field(), name_field("group")},
                                              &plan_delete);
}

}  // namespace instantstart::app
