#include <algorithm>

#include "base/text.h"
#include "domain/instance_type.h"
#include "domain/training_plan.h"
#include "flows/hyperpod_steps.h"
#include "kube/cache/nodes.h"
#include "kube/list_into.h"

namespace instantstart::flows {

namespace {

// What decides whether a node can take work.
struct NodeFacts {
    NodeFacts() = default;
    bool ready = false;
    std::string_view type, health;
    std::int64_t gpus = 0, neurons = 0;  // allocatable; of Neuron by whatever name
};

// Ready, Schedulable, and the accelerators of its type are all there to be asked for.
bool is_usable(const NodeFacts& node) {
    if (!node.ready || node.health != "Schedulable") return false;
    const auto* type = domain::find_instance_type(node.type);
    if (type == nullptr || type->accelerators == 0) return true;
    return type->is_gpu() ? node.gpus == type->accelerators : node.neurons > 0;
}

bool is_usable(const kube::Node& node, const kube::Symbols& symbols) {
    NodeFacts facts;
    facts.ready = node.ready;
    facts.type = symbols.text(node.instance_type);
    facts.health = symbols.text(node.health);
    facts.gpus = node.gpus;
    facts.neurons = node.neurons + node.neuron_devices;
    return is_usable(facts);
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

// The group's nodes as Kubernetes has them now.
struct KubernetesNodes {
    KubernetesNodes() = default;
    std::int64_t present = 0, ready = 0, usable = 0;
};

Task<KubernetesNodes> kubernetes_nodes(Clusters& env, Context context, std::string eks_name,
                                       std::string group) {
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    kube::ListOptions options;
    options.label_selector = "sagemaker.amazonaws.com/instance-group-name=" + group;
    kube::Symbols symbols;
    kube::NodeTable table(symbols);
    CO_CHECK_OK(co_await kube::list_into(*client, context, *nodes, options, table));
    KubernetesNodes found;
    for (const auto& [name, node] : table.nodes()) {
        ++found.present;
        if (node.ready) ++found.ready;
        if (is_usable(node, symbols)) ++found.usable;
    }
    co_return found;
}

}  // namespace

bool is_usable_node(const JsonObject& object) {
    kube::Symbols symbols;
    kube::NodeTable table(symbols);
    kube::put_object(table, object);
    const auto* node = table.find(base::get_string(object, "metadata.name"));
    return node != nullptr && is_usable(*node, symbols);
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
    const auto number = [](std::int64_t value) { return std::to_string(value); };
    auto detail = number(instances.running) + " of " + number(wanted) + " instances running, " +
                  number(nodes.ready) + " nodes ready, " + number(nodes.usable) + " with all accelerators";
    if (instances.checking > 0) detail += ", " + number(instances.checking) + " in deep health checks";
    const bool all = status != "absent" && instances.running >= wanted && nodes.usable >= wanted;
    const auto present = std::max(instances.present, nodes.present);
    co_return JsonObject{{"wanted", wanted},
                         {"present", present},
                         {"running", instances.running},
                         {"ready", nodes.ready},
                         {"usable_nodes", nodes.usable},
                         {"detail", detail},
                         {"usable", all},
                         {"status", status}};
}

Task<std::int64_t> nodes_left(Clusters& env, Context context, std::string eks_name, std::string hyperpod,
                              std::string group) {
    CO_TRY(const auto instances, co_await instances_of(env, context, hyperpod, group));
    CO_TRY(const auto nodes, co_await kubernetes_nodes(env, context, eks_name, group));
    co_return std::max(instances.present, nodes.present);
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
