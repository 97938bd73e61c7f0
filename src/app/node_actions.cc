// node.reboot, node.replace, node.delete: single HyperPod nodes, one or some together.
#include <algorithm>

#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/group_standing.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"
#include "flows/node_steps.h"

namespace instantstart::app {

namespace {

struct NodeAction {
    NodeAction() = default;
    std::string cluster;
    std::string node;
    std::optional<std::vector<std::string>> further_nodes;
};
BOOST_DESCRIBE_STRUCT(NodeAction, (), (cluster, node, further_nodes))

struct FoundNode {
    FoundNode() = default;
    std::string instance_id, logical_id, group, status;
    std::string name() const { return instance_id.empty() ? logical_id : flows::node_name_of(instance_id); }
};

// Not HyperPod's: of a node group, or none at all.
Task<FoundNode> foreign_node(Call call, Target target, std::string name) {
    auto client = co_await call.services->clusters.kube(call.context, target.ref.eks_name);
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    if (client) {
        auto seen = co_await (*client)->get(call.context, *nodes, "", name);
        if (seen) {
            co_return base::conflict_error("not_a_hyperpod_node",
                                           "node " + name + " is not one of HyperPod's")
                .with_hint(
                    "A node group replaces its nodes itself: terminate the EC2 instance, or change its "
                    "count by node_group.update.");
        }
        if (seen.error().kind == base::ErrorKind::cancelled) co_return std::move(seen).error();
    }
    co_return base::not_found_error("node \"" + name + "\"").with_hint("node.list names the nodes.");
}

Task<FoundNode> find_node(Call call, Target target, std::string name) {
    const auto hyperpod = base::get_string(target.hyperpod, "ClusterName");
    CO_TRY(auto details,
           co_await flows::find_hyperpod_node(call.services->clusters, call.context, hyperpod, name));
    if (details.empty()) co_return co_await foreign_node(call, target, name);
    FoundNode found;
    found.instance_id = base::get_string(details, "InstanceId");
    found.logical_id = base::get_string(details, "NodeLogicalId");
    found.group = base::get_string(details, "InstanceGroupName");
    found.status = base::get_string(details, "InstanceStatus.Status");
    co_return found;
}

Task<std::vector<FoundNode>> find_nodes(Call call, Target target, NodeAction input) {
    if (target.hyperpod.empty()) {
        co_return base::conflict_error("no_hyperpod",
                                       "cluster " + target.ref.name + " has no HyperPod cluster yet")
            .with_hint("Create it with hyperpod.create.");
    }
    std::vector<std::string> names{input.node};
    const auto& further = input.further_nodes.value_or(std::vector<std::string>());
    names.insert(names.end(), further.begin(), further.end());
    std::vector<FoundNode> nodes;
    for (const auto& name : names) {
        CO_TRY(auto node, co_await find_node(call, target, name));
        // One node may be named in several ways.
        const auto same = [&node](const FoundNode& other) { return other.name() == node.name(); };
        if (std::none_of(nodes.begin(), nodes.end(), same)) nodes.push_back(std::move(node));
    }
    co_return nodes;
}

JsonArray node_params(const std::vector<FoundNode>& nodes) {
    JsonArray list;
    for (const auto& node : nodes) {
        JsonObject row{{"group", node.group}};
        if (!node.instance_id.empty()) row["instance_id"] = node.instance_id;
        if (!node.logical_id.empty()) row["logical_id"] = node.logical_id;
        list.push_back(std::move(row));
    }
    return list;
}

// What all three have in common; `nodes` are those that were named.
Task<Plan> start_plan(Call call, Target target, NodeAction input, std::vector<FoundNode> nodes,
                      std::string flow) {
    CO_TRY(auto params, co_await base_params(call, target));
    params["nodes"] = node_params(nodes);
    Plan made;
    // However it was named: two requests on one node must meet.
    made.resource = "cluster/" + target.ref.name + "/node/" + nodes.front().name();
    made.flow = std::move(flow);
    made.flow_params = std::move(params);
    made.confirm_value = input.node;
    co_return made;
}

Task<Plan> plan_reboot(Call call, NodeAction input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto nodes, co_await find_nodes(call, target, input));
    CO_TRY(auto made, co_await start_plan(call, target, input, nodes, "node_reboot"));
    for (const auto& node : nodes) {
        made.changes.push_back("node " + node.name() + " of " + node.group +
                               " is rebooted: its pods stop, its volumes stay");
    }
    co_return co_await finish_plan(call, std::move(made), Findings());
}

Task<Plan> plan_replace(Call call, NodeAction input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto nodes, co_await find_nodes(call, target, input));
    CO_TRY(auto made, co_await start_plan(call, target, input, nodes, "node_replace"));
    for (const auto& node : nodes) {
        made.removes.push_back("root and extra volumes of node " + node.name() + " of " + node.group +
                               " with all that is on them, and the pods that run there");
        made.changes.push_back("another instance takes the place of " + node.name());
    }
    co_return co_await finish_plan(call, std::move(made), Findings());
}

// The count goes down with the nodes, so that they do not come back.
Task<void> check_counts(Call call, Target target, std::vector<FoundNode> nodes, Plan& made, Findings& found) {
    std::map<std::string, std::int64_t> by_group;
    for (const auto& node : nodes) ++by_group[node.group];
    for (const auto& [name, fewer] : by_group) {
        CO_TRY(auto standing, co_await find_group(call, target, name, found));
        const auto after = standing.group.count - fewer;
        if (!standing.classes.empty()) {
            co_return base::conflict_error("autoscaled_group",
                                           "managed autoscaling sets the count of instance group " + name +
                                               ": HyperpodNodeClass " + base::join(standing.classes, ", ") +
                                               " names it")
                .with_hint(
                    "Delete the node's NodeClaim (kubectl delete nodeclaim), so that Karpenter takes the "
                    "node away itself.");
        }
        if (after < standing.group.min_count.value_or(0)) {
            co_return base::conflict_error("below_minimum", "instance group " + name + " has a minimum of " +
                                                                std::to_string(*standing.group.min_count) +
                                                                " instances, " + std::to_string(after) +
                                                                " would be left")
                .with_hint("Lower min_count first (instance_group.update), or replace the node instead.");
        }
        made.changes.push_back(name + ": target count from " + std::to_string(standing.group.count) + " to " +
                               std::to_string(after));
    }
    co_return base::ok();
}

Task<Plan> plan_delete(Call call, NodeAction input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto nodes, co_await find_nodes(call, target, input));
    CO_TRY(auto made, co_await start_plan(call, target, input, nodes, "node_delete"));
    Findings found;
    CO_CHECK_OK(co_await check_counts(call, target, nodes, made, found));
    for (const auto& node : nodes) {
        made.removes.push_back("node " + node.name() + " of " + node.group +
                               " with its volumes, and the pods that run there");
    }
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

Meta action_meta(std::string id, std::string method, std::string path, std::string summary) {
    Meta meta;
    meta.id = std::move(id);
    meta.method = std::move(method);
    meta.path = "/clusters/{cluster}/nodes/{node}" + std::move(path);
    meta.summary = std::move(summary);
    meta.role = Role::operator_role;
    meta.area = "nodes";
    meta.shows_result = "node.list";
    meta.disruptive = true;
    return meta;
}

std::vector<Field> action_fields() {
    return {cluster_field(),
            Field("node", "Instance id, Kubernetes name or logical id of the node.")
                .length(1, 253)
                .like("hyperpod-i-0123456789abcdef0"),
            Field("further_nodes", "Further nodes that are treated in the same call.")
                .length(0, 24)
                .like(JsonArray{"i-0123456789abcdef1"})};
}

}  // namespace

std::unique_ptr<Operation> make_node_reboot() {
    auto meta = action_meta("node.reboot", "POST", "/reboot",
                            "Reboot a HyperPod node; its volumes stay. Done once it is Ready again with all "
                            "accelerators.");
    meta.idempotent = false;
    meta.uses = used_by_node_action("sagemaker:BatchRebootClusterNodes");
    return make_long_running<NodeAction>(std::move(meta), action_fields(), &plan_reboot);
}

std::unique_ptr<Operation> make_node_replace() {
    auto meta =
        action_meta("node.replace", "POST", "/replace",
                    "Put another instance in the place of a HyperPod node: its root and extra volumes "
                    "are lost. Done once the new one is Ready with all accelerators.");
    meta.removes = Removes::always;
    meta.idempotent = false;
    meta.uses = used_by_node_action("sagemaker:BatchReplaceClusterNodes");
    return make_long_running<NodeAction>(std::move(meta), action_fields(), &plan_replace);
}

std::unique_ptr<Operation> make_node_delete() {
    auto meta = action_meta("node.delete", "DELETE", "",
                            "Delete a chosen HyperPod node and lower its group's count, so that it does not "
                            "come back.");
    meta.removes = Removes::always;
    meta.default_tool = false;
    meta.uses = used_by_node_action("sagemaker:BatchDeleteClusterNodes");
    meta.uses.emplace_back("ec2:DescribeSubnets");
    return make_long_running<NodeAction>(std::move(meta), action_fields(), &plan_delete);
}

}  // namespace instantstart::app
