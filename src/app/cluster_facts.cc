#include "app/cluster_facts.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "domain/instance_type.h"
#include "domain/names.h"
#include "flows/components.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::app {

JsonObject condition_of(const base::Error& error) {
    JsonObject row{{"type", error.code},
                   {"reason", base::get_string(error.extra, "reason", error.code)},
                   {"message", domain::clean_text(error.message, 300)},
                   {"hint", error.hint}};
    const bool refused = error.code == "Unauthorized" || error.code == "Forbidden";
    if (!refused) return row;
    // The API server answers, but not to us: for the user that is the same as not to reach it.
    row["type"] = "KubernetesUnreachable";
    row["hint"] = error.code == "Unauthorized"
                      ? "The cluster knows no access entry of this product's role, or has not seen it yet: "
                        "dependency.reconcile gives it one."
                      : "The access entry of this product's role lacks AmazonEKSClusterAdminPolicy: "
                        "dependency.reconcile adds it.";
    return row;
}

JsonObject eks_row(const JsonObject& eks) {
    const auto& network = base::get_object(eks, "resourcesVpcConfig");
    return {{"name", base::get_string(eks, "name")},
            {"arn", base::get_string(eks, "arn")},
            {"status", base::get_string(eks, "status")},
            {"version", base::get_string(eks, "version")},
            {"endpoint", base::get_string(eks, "endpoint")},
            {"vpc_id", base::get_string(network, "vpcId")},
            {"subnet_ids", base::get_array(network, "subnetIds")},
            {"authentication_mode", base::get_string(eks, "accessConfig.authenticationMode")},
            {"created_at", base::get_string(eks, "createdAt")}};
}

JsonObject hyperpod_row(const JsonObject& hyperpod) {
    if (hyperpod.empty()) return {};
    return {{"name", base::get_string(hyperpod, "ClusterName")},
            {"arn", base::get_string(hyperpod, "ClusterArn")},
            {"status", base::get_string(hyperpod, "ClusterStatus")},
            {"failure", domain::clean_text(base::get_string(hyperpod, "FailureMessage"), 300)},
            {"node_recovery", base::get_string(hyperpod, "NodeRecovery")},
            {"node_provisioning_mode", base::get_string(hyperpod, "NodeProvisioningMode")},
            {"created_at", base::get_string(hyperpod, "CreationTime")}};
}

namespace {

std::string capacity_of(const JsonValue& group) {
    if (!base::get_string(group, "TrainingPlanArn").empty()) return "training_plan";
    const auto* spot = base::find_path(group, "CapacityRequirements.Spot");
    return spot != nullptr ? "spot" : "on_demand";
}

std::string first_text(const JsonArray& list) {
    return list.empty() || !list.front().is_string() ? "" : std::string(list.front().as_string());
}

}  // namespace

JsonArray group_rows(const JsonObject& hyperpod) {
    JsonArray rows;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto target = base::get_int(group, "TargetCount");
        const auto current = base::get_int(group, "CurrentCount");
        JsonObject row{
            {"name", base::get_string(group, "InstanceGroupName")},
            {"instance_type", base::get_string(group, "InstanceType")},
            {"instance_types", base::get_array(group, "InstanceRequirements.DesiredInstanceTypes")},
            {"target_count", target},
            {"current_count", current},
            {"status", base::get_string(group, "Status")},
            {"subnet_id", first_text(base::get_array(group, "OverrideVpcConfig.Subnets"))},
            {"capacity",
             {{"type", capacity_of(group)},
              {"training_plan_arn", base::get_string(group, "TrainingPlanArn")}}},
            {"labels", base::get_object(group, "KubernetesConfig.CurrentLabels")},
            {"deep_health_checks", base::get_array(group, "OnStartDeepHealthChecks")},
            {"execution_role_arn", base::get_string(group, "ExecutionRole")}};
        if (const auto minimum = base::get_int(group, "MinCount"); minimum > 0) row["min_count"] = minimum;
        JsonArray conditions;
        if (current < target) {
            conditions.push_back(JsonObject{
                {"type", "Scaling"},
                {"message",
                 std::to_string(current) + " of " + std::to_string(target) + " instances are there"}});
        }
        row["conditions"] = std::move(conditions);
        rows.push_back(std::move(row));
    }
    return rows;
}

Task<void> add_capacity_conditions(Call call, JsonObject hyperpod, JsonArray& rows) {
    const auto name = base::get_string(hyperpod, "ClusterName");
    for (auto& row : rows) {
        auto& group = row.as_object();
        if (base::get_int(group, "current_count") >= base::get_int(group, "target_count")) continue;
        CO_TRY(auto said, co_await flows::capacity_event(call.services->clusters, call.context, name,
                                                         base::get_string(group, "name")));
        if (said.empty()) continue;
        auto& conditions = group["conditions"].as_array();
        conditions.clear();
        conditions.push_back(JsonObject{
            {"type", "WaitingForCapacity"},
            {"message", said},
            {"hint",
             "HyperPod goes on trying. Wait, or choose another zone or type; operation.cancel ends "
             "the waiting."}});
    }
    co_return base::ok();
}

namespace {

std::string label(const JsonValue& node, std::string_view key) {
    const auto* labels = base::find_path(node, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return "";
    const auto* value = labels->as_object().if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

bool is_ready(const JsonValue& node) {
    for (const auto& condition : base::get_array(node, "status.conditions")) {
        if (base::get_string(condition, "type") == "Ready")
            return base::get_string(condition, "status") == "True";
    }
    return false;
}

std::int64_t quantity(const JsonValue* map, std::string_view resource) {
    if (map == nullptr || !map->is_object()) return 0;
    const auto* value = map->as_object().if_contains(resource);
    if (value == nullptr) return 0;
    if (value->is_int64()) return value->as_int64();
    return value->is_string() ? std::strtoll(value->as_string().c_str(), nullptr, 10) : 0;
}

std::string resource_of_type(const std::string& type) {
    const auto* known = domain::find_instance_type(type);
    return known == nullptr ? "" : known->accelerator_resource;
}

// Accelerators that running pods ask for, by node.
std::map<std::string, std::int64_t> in_use(const JsonObject& pods) {
    std::map<std::string, std::int64_t> by_node;
    for (const auto& pod : base::get_array(pods, "items")) {
        const auto phase = base::get_string(pod, "status.phase");
        const auto node = base::get_string(pod, "spec.nodeName");
        if (node.empty() || phase == "Succeeded" || phase == "Failed") continue;
        for (const auto& container : base::get_array(pod, "spec.containers")) {
            const auto* limits = base::find_path(container, "resources.limits");
            by_node[node] += quantity(limits, "nvidia.com/gpu") + quantity(limits, "aws.amazon.com/neuron") +
                             quantity(limits, "aws.amazon.com/neurondevice");
        }
    }
    return by_node;
}

std::string instance_of(const std::string& node_name) {
    return node_name.starts_with("hyperpod-") ? node_name.substr(9) : node_name;
}

void add_kubernetes(const JsonValue& node, std::int64_t used, JsonObject& row, NodeFacts& facts) {
    const auto type = label(node, "node.kubernetes.io/instance-type");
    const auto resource = resource_of_type(type);
    const auto* allocatable = base::find_path(node, "status.allocatable");
    const auto accelerators = resource.empty() ? 0 : quantity(allocatable, resource);
    const bool ready = is_ready(node);
    row["name"] = base::get_string(node, "metadata.name");
    row["ready"] = ready;
    row["kubernetes_version"] = base::get_string(node, "status.nodeInfo.kubeletVersion");
    row["instance_type"] = type;
    row["zone"] = label(node, "topology.kubernetes.io/zone");
    row["health"] = label(node, "sagemaker.amazonaws.com/node-health-status");
    const auto group = label(node, "sagemaker.amazonaws.com/instance-group-name");
    if (!group.empty()) row["group"] = group;
    row["accelerators"] = JsonObject{{"resource", resource}, {"allocatable", accelerators}, {"in_use", used}};
    if (base::get_bool(node, "spec.unschedulable")) row["cordoned"] = true;
    facts.ready += ready ? 1 : 0;
    facts.accelerators_ready += ready ? accelerators : 0;
    facts.accelerators_in_use += used;
}

Task<JsonObject> listed(std::shared_ptr<kube::Client> client, Context context, std::string kind,
                        std::string selector) {
    const auto resource = kube::known_resource(kind);
    CHECK(resource.has_value());
    kube::ListOptions options;
    options.field_selector = std::move(selector);
    co_return co_await client->list(context, *resource, options);
}

Task<void> join_kubernetes(Call call, std::string eks_name, std::map<std::string, JsonObject>& rows,
                           NodeFacts& facts) {
    CO_TRY(auto client, co_await call.services->clusters.kube(call.context, eks_name));
    CO_TRY(auto nodes, co_await listed(client, call.context, "nodes", ""));
    CO_TRY(auto pods, co_await listed(client, call.context, "pods", ""));
    auto used = in_use(pods);
    for (const auto& node : base::get_array(nodes, "items")) {
        const auto name = base::get_string(node, "metadata.name");
        add_kubernetes(node, used[name], rows[instance_of(name)], facts);
    }
    co_return base::ok();
}

}  // namespace

Task<NodeFacts> node_facts(Call call, Target target) {
    NodeFacts facts;
    std::map<std::string, JsonObject> rows;  // by instance id or node name
    const auto hyperpod = base::get_string(target.hyperpod, "ClusterName");
    if (!hyperpod.empty()) {
        JsonObject parameters{{"ClusterName", hyperpod}};
        CO_TRY(auto nodes, co_await call.services->aws.collect(call.context, "sagemaker", "ListClusterNodes",
                                                               std::move(parameters)));
        for (const auto& node : nodes) {
            const auto id = base::get_string(node, "InstanceId");
            const auto type = base::get_string(node, "InstanceType");
            rows[id] = JsonObject{
                {"name", "hyperpod-" + id},
                {"instance_id", id},
                {"group", base::get_string(node, "InstanceGroupName")},
                {"instance_type", type},
                {"status", base::get_string(node, "InstanceStatus.Status")},
                {"message", domain::clean_text(base::get_string(node, "InstanceStatus.Message"), 300)},
                {"ready", false},
                {"launched_at", base::get_string(node, "LaunchTime")}};
        }
    }
    auto joined = co_await join_kubernetes(call, target.ref.eks_name, rows, facts);
    if (!joined) {
        if (!flows::is_unreachable(joined.error())) co_return std::move(joined).error();
        facts.unreachable = joined.error();
    }
    for (auto& [id, row] : rows) {
        const auto* type = domain::find_instance_type(base::get_string(row, "instance_type"));
        facts.accelerators += type == nullptr ? 0 : type->accelerators;
        facts.nodes.push_back(std::move(row));
    }
    facts.total = static_cast<std::int64_t>(facts.nodes.size());
    co_return facts;
}

}  // namespace instantstart::app
