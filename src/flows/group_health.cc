#include <algorithm>

#include "base/text.h"
#include "domain/instance_type.h"
#include "domain/training_plan.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::flows {

namespace {

const JsonObject& labels_of(const JsonValue& node) {
    static const JsonObject kNone;
    const auto* metadata = node.if_object() != nullptr ? node.as_object().if_contains("metadata") : nullptr;
    const auto* labels =
        metadata != nullptr && metadata->is_object() ? metadata->as_object().if_contains("labels") : nullptr;
    return labels != nullptr && labels->is_object() ? labels->as_object() : kNone;
}

std::string label(const JsonValue& node, std::string_view key) {
    const auto* value = labels_of(node).if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->as_string()) : "";
}

bool is_ready(const JsonValue& node) {
    for (const auto& condition : base::get_array(node, "status.conditions")) {
        if (base::get_string(condition, "type") == "Ready")
            return base::get_string(condition, "status") == "True";
    }
    return false;
}

// The accelerators of the node's type are all there to be asked for.
bool has_accelerators(const JsonValue& node) {
    const auto* type = domain::find_instance_type(label(node, "node.kubernetes.io/instance-type"));
    if (type == nullptr || type->accelerators == 0) return true;
    const auto* allocatable = base::find_path(node, "status.allocatable");
    if (allocatable == nullptr || !allocatable->is_object()) return false;
    for (const auto& entry : allocatable->as_object()) {
        const std::string_view key = entry.key();
        const bool counts =
            type->is_gpu() ? key == "nvidia.com/gpu" : key.starts_with("aws.amazon.com/neuron");
        if (!counts || !entry.value().is_string()) continue;
        const auto text = std::string(entry.value().as_string());
        if (text.empty() || text == "0") continue;
        if (!type->is_gpu() || text == std::to_string(type->accelerators)) return true;
    }
    return false;
}

struct Instances {
    Instances() = default;
    std::int64_t present = 0, running = 0, checking = 0;  // checking: deep health checks run on them
};

Task<Instances> instances_of(Clusters& env, Context context, std::string hyperpod, std::string group) {
    JsonObject parameters{{"ClusterName", hyperpod}, {"InstanceGroupNameContains", group}};
    CO_TRY(auto nodes,
           co_await env.aws().collect(context, "sagemaker", "ListClusterNodes", std::move(parameters)));
    Instances found;
    for (const auto& node : nodes) {
        if (base::get_string(node, "InstanceGroupName") != group) continue;
        const auto status = base::get_string(node, "InstanceStatus.Status");
        ++found.present;
        if (status == "Running") ++found.running;
        if (status == "DeepHealthCheckInProgress") ++found.checking;
    }
    co_return found;
}

Task<JsonArray> kubernetes_nodes(Clusters& env, Context context, std::string eks_name, std::string group) {
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    kube::ListOptions options;
    options.label_selector = "sagemaker.amazonaws.com/instance-group-name=" + group;
    CO_TRY(auto list, co_await client->list(context, *nodes, options));
    co_return base::get_array(list, "items");
}

}  // namespace

bool is_usable_node(const JsonObject& node) {
    const JsonValue value(node);
    return is_ready(value) && label(value, "sagemaker.amazonaws.com/node-health-status") == "Schedulable" &&
           has_accelerators(value);
}

Task<JsonObject> group_health(Clusters& env, Context context, std::string eks_name, JsonObject hyperpod,
                              std::string group) {
    std::int64_t wanted = 0;
    std::string status = "absent";
    for (const auto& details : base::get_array(hyperpod, "InstanceGroups")) {
        if (base::get_string(details, "InstanceGroupName") != group) continue;
        wanted = base::get_int(details, "TargetCount");
        status = base::get_string(details, "Status");
    }
    CO_TRY(const auto instances,
           co_await instances_of(env, context, base::get_string(hyperpod, "ClusterName"), group));
    CO_TRY(const auto nodes, co_await kubernetes_nodes(env, context, eks_name, group));
    std::int64_t ready = 0, usable = 0;
    for (const auto& node : nodes) {
        if (is_ready(node)) ++ready;
        if (node.is_object() && is_usable_node(node.get_object())) ++usable;
    }
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    auto detail = number(instances.running) + " of " + number(wanted) + " instances running, " +
                  number(ready) + " nodes ready, " + number(usable) + " with all accelerators";
    if (instances.checking > 0) detail += ", " + number(instances.checking) + " in deep health checks";
    const bool all = status != "absent" && instances.running >= wanted && usable >= wanted;
    const auto present = std::max(instances.present, static_cast<std::int64_t>(nodes.size()));
    co_return JsonObject{{"wanted", wanted}, {"present", present},     {"running", instances.running},
                         {"ready", ready},   {"usable_nodes", usable}, {"detail", detail},
                         {"usable", all},    {"status", status}};
}

Task<std::int64_t> nodes_left(Clusters& env, Context context, std::string eks_name, std::string hyperpod,
                              std::string group) {
    CO_TRY(const auto instances, co_await instances_of(env, context, hyperpod, group));
    CO_TRY(const auto nodes, co_await kubernetes_nodes(env, context, eks_name, group));
    co_return std::max(instances.present, static_cast<std::int64_t>(nodes.size()));
}

Task<JsonObject> plan_condition(Clusters& env, Context context, std::string plan_arn, std::string group) {
    const auto name = plan_arn.substr(plan_arn.rfind('/') + 1);
    JsonObject parameters{{"TrainingPlanName", name}};
    CO_TRY(auto described,
           co_await env.aws().call(context, "sagemaker", "DescribeTrainingPlan", std::move(parameters)));
    const auto plan = domain::training_plan_from(described);
    if (plan.status != "Scheduled") co_return JsonObject{};
    co_return JsonObject{{"type", "WaitingForTrainingPlan"},
                         {"group", group},
                         {"message", "training plan " + plan.name + " starts" +
                                         (plan.start ? " at " + base::format_time(*plan.start) : " later") +
                                         "; the group is filled then"}};
}

Task<std::string> capacity_event(Clusters& env, Context context, std::string hyperpod, std::string group) {
    JsonObject parameters{{"ClusterName", hyperpod},
                          {"InstanceGroupName", group},
                          {"SortOrder", "Descending"},
                          {"MaxResults", 10}};
    CO_TRY(auto events,
           co_await env.aws().call(context, "sagemaker", "ListClusterEvents", std::move(parameters)));
    for (const auto& event : base::get_array(events, "Events")) {
        const auto text = domain::clean_text(base::get_string(event, "Description"), 300);
        if (text.find("apacity") != std::string::npos) co_return text;
    }
    co_return std::string();
}

}  // namespace instantstart::flows
