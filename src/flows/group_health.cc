#include "base/text.h"
#include "domain/instance_type.h"
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

bool is_usable(const JsonValue& node) {
    return is_ready(node) && label(node, "sagemaker.amazonaws.com/node-health-status") == "Schedulable" &&
           has_accelerators(node);
}

Task<std::int64_t> running_nodes(Clusters& env, Context context, std::string hyperpod, std::string group) {
    JsonObject parameters{{"ClusterName", hyperpod}, {"InstanceGroupNameContains", group}};
    CO_TRY(auto nodes,
           co_await env.aws().collect(context, "sagemaker", "ListClusterNodes", std::move(parameters)));
    std::int64_t running = 0;
    for (const auto& node : nodes) {
        const bool of_group = base::get_string(node, "InstanceGroupName") == group;
        if (of_group && base::get_string(node, "InstanceStatus.Status") == "Running") ++running;
    }
    co_return running;
}

}  // namespace

Task<JsonObject> group_health(Clusters& env, Context context, std::string eks_name, JsonObject hyperpod,
                              std::string group) {
    std::int64_t wanted = 0;
    std::string status = "absent";
    for (const auto& details : base::get_array(hyperpod, "InstanceGroups")) {
        if (base::get_string(details, "InstanceGroupName") != group) continue;
        wanted = base::get_int(details, "TargetCount");
        status = base::get_string(details, "Status");
    }
    CO_TRY(const auto running,
           co_await running_nodes(env, context, base::get_string(hyperpod, "ClusterName"), group));
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    kube::ListOptions options;
    options.label_selector = "sagemaker.amazonaws.com/instance-group-name=" + group;
    CO_TRY(auto list, co_await client->list(context, *nodes, options));
    std::int64_t ready = 0, usable = 0;
    for (const auto& node : base::get_array(list, "items")) {
        if (is_ready(node)) ++ready;
        if (is_usable(node)) ++usable;
    }
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    const auto detail = number(running) + " of " + number(wanted) + " instances running, " + number(ready) +
                        " nodes ready, " + number(usable) + " with all accelerators";
    const bool all = status != "absent" && running >= wanted && usable >= wanted;
    co_return JsonObject{{"wanted", wanted},       {"running", running}, {"ready", ready},
                         {"usable_nodes", usable}, {"detail", detail},   {"usable", all},
                         {"status", status}};
}

Task<std::string> capacity_event(Clusters& env, Context context, std::string hyperpod, std::string group) {
    JsonObject parameters{{"ClusterName", hyperpod},
                          {"InstanceGroupName", group},
                          {"SortOrder", "Descending"},
                          {"MaxResults", 10}};
    auto events = co_await env.aws().call(context, "sagemaker", "ListClusterEvents", std::move(parameters));
    if (!events) co_return std::string();
    for (const auto& event : base::get_array(*events, "Events")) {
        const auto text = domain::clean_text(base::get_string(event, "Description"), 300);
        if (text.find("apacity") != std::string::npos) co_return text;
    }
    co_return std::string();
}

}  // namespace instantstart::flows
