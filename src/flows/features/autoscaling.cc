// Managed autoscaling: Karpenter on AWS's side adds and removes nodes of instance groups that begin at zero,
// as pods wait for them. It scales HyperPod's groups only, never EKS node groups nor EC2 instances, and
// whatever else sets the count of such a group fights it: nobody here does.
#include <algorithm>
#include <regex>

#include "base/text.h"
#include "domain/exclusions.h"
#include "flows/features/karpenter.h"
#include "flows/features/kinds.h"
#include "flows/features/table.h"
#include "flows/hyperpod_steps.h"
#include "flows/node_classes.h"

namespace instantstart::flows {

namespace {

constexpr const char* kService = "hyperpod.sagemaker.amazonaws.com";
constexpr const char* kConsolidateAfter = "60s";
const std::vector<std::string> kLimits = {"nodes", "cpu", "memory", "nvidia.com/gpu",
                                          "aws.amazon.com/neuron"};
constexpr std::size_t kMostGroups = 10;  // of one HyperpodNodeClass

std::string permissions(const StepCall& call) {
    return domain::autoscaling_policy(scope_of(call));
}

// Any type of the groups will do: which one pods get is theirs to say.
base::Result<std::vector<JsonObject>> node_pool(const StepCall& call) {
    const auto& settings = base::get_object(call.params, "desired.autoscaling");
    const JsonObject any_type{{"key", "node.kubernetes.io/instance-type"}, {"operator", "Exists"}};
    JsonObject node{{"nodeClassRef",
                     {{"group", "karpenter.sagemaker.amazonaws.com"},
                      {"kind", "HyperpodNodeClass"},
                      {"name", kNodeClassName}}},
                    {"requirements", JsonArray{any_type}},
                    {"expireAfter", "Never"}};  // an age is no reason to end a training job
    JsonObject spec{
        {"template", {{"spec", std::move(node)}}},
        {"disruption",
         {{"consolidationPolicy", "WhenEmpty"},
          {"consolidateAfter", base::get_string(settings, "consolidate_after", kConsolidateAfter)}}}};
    if (const auto& limits = base::get_object(settings, "limits"); !limits.empty()) spec["limits"] = limits;
    return std::vector<JsonObject>{JsonObject{{"apiVersion", "karpenter.sh/v1"},
                                              {"kind", "NodePool"},
                                              {"metadata", {{"name", kNodeClassName}}},
                                              {"spec", std::move(spec)}}};
}

std::vector<Part> parts(const JsonObject&) {
    const JsonObject role{{"purpose", "autoscaling"}};
    return {
        role_part("role", "autoscaling", {{"trust", kService}}).grants(&permissions),
        Part("setting", karpenter_kind(), "AutoScaling of HyperPod cluster $hyperpod_name", role).anchors(),
        answering_part("kinds", "Karpenter's kinds",
                       {{"crds", JsonArray{"hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com",
                                           "nodepools.karpenter.sh"}}}),
        Part("node_class", node_class_kind(), std::string("HyperpodNodeClass ") + kNodeClassName,
             {{"groups", "$desired.autoscaling.instance_groups"}}),
        Part("node_pool", node_pool_kind(), std::string("NodePool ") + kNodeClassName, {})
            .applies(&node_pool),
        Part("ready", karpenter_ready_kind(), "Karpenter's word that both are ready", {})};
}

// Why HyperPod or Karpenter would refuse this group, or take its nodes away.
std::string group_obstacle(const JsonObject& hyperpod, const std::string& name) {
    const auto* group = group_in(hyperpod, name);
    if (group == nullptr)
        return "instance group " + name + " does not exist, and a class that names it provisions nothing";
    domain::Properties properties{{"autoscaled", "managed autoscaling"}};
    if (!base::get_array(*group, "OnStartDeepHealthChecks").empty()) properties["deep_checks"] = "";
    if (!base::get_string(*group, "TrainingPlanArn").empty()) properties["plan_type"] = "";
    for (const auto& fault : domain::excluded(properties, "")) return name + ": " + fault.message;
    if (base::get_int(*group, "MinInstanceCount") > 0)
        return name + " has a minimum count: a group that is scaled begins at zero";
    return "";
}

// Whoever keeps add-ons running must not be scaled to zero.
Task<bool> has_system_nodes(Clusters& env, StepCall call, JsonObject hyperpod,
                            std::vector<std::string> ours) {
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto name = base::get_string(group, "InstanceGroupName");
        const bool scaled = std::find(ours.begin(), ours.end(), name) != ours.end();
        if (!scaled && base::get_int(group, "TargetCount") > 0) co_return true;
    }
    JsonObject parameters{{"clusterName", eks_of(call)}};
    CO_TRY(auto groups,
           co_await env.aws().collect(call.context, "eks", "ListNodegroups", std::move(parameters)));
    co_return !groups.empty();
}

// Karpenter brings a group that has nodes down to zero: only one that is ours already may have some.
Task<std::vector<std::string>> counts_in_the_way(Clusters& env, StepCall call, JsonObject hyperpod,
                                                 std::vector<std::string> names) {
    CO_TRY(auto managed, co_await managed_groups(env, call.context, eks_of(call)));
    std::vector<std::string> found;
    for (const auto& name : names) {
        const auto* group = group_in(hyperpod, name);
        if (group == nullptr || managed.contains(name) || base::get_int(*group, "TargetCount") == 0) continue;
        found.push_back("instance group " + name +
                        " has nodes, which Karpenter would take away: bring it to 0 first, or add a group "
                        "with autoscaled and count 0");
    }
    co_return found;
}

std::vector<std::string> cluster_obstacles(const JsonObject& hyperpod) {
    std::vector<std::string> found;
    domain::Properties properties{{"autoscaling", ""}};
    if (base::get_string(hyperpod, "NodeProvisioningMode") != "Continuous") properties["classic"] = "";
    if (base::get_string(hyperpod, "NodeRecovery", "Automatic") != "Automatic")
        properties["no_node_recovery"] = "";
    for (const auto& fault : domain::excluded(properties, "")) found.push_back(fault.message);
    return found;
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    CO_TRY(auto hyperpod, co_await describe_hyperpod(env, call));
    auto found = cluster_obstacles(hyperpod);
    const auto& chosen = base::get_array(call.params, "desired.autoscaling.instance_groups");
    const auto names = groups_to_scale(hyperpod, chosen);
    if (names.empty()) {
        found.emplace_back(
            "no instance group is there to scale: add one with autoscaled and count 0, or name some in "
            "instance_groups");
    }
    if (names.size() > kMostGroups)
        found.emplace_back(
            "a HyperpodNodeClass takes 10 instance groups at most: name them in instance_groups");
    for (const auto& name : names) {
        const auto why = group_obstacle(hyperpod, name);
        if (!why.empty()) found.push_back(why);
    }
    CO_TRY(auto counts, co_await counts_in_the_way(env, call, hyperpod, names));
    found.insert(found.end(), counts.begin(), counts.end());
    CO_TRY(const bool system, co_await has_system_nodes(env, call, hyperpod, names));
    if (!system) {
        for (const auto& fault : domain::excluded({{"autoscaling", ""}, {"no_system_group", ""}}, ""))
            found.push_back(fault.message);
    }
    co_return found;
}

// Kubernetes' quantities, as far as anybody writes them here: "512", "2Ti", 16.
bool is_quantity(const JsonValue& value) {
    if (value.is_int64()) return value.get_int64() >= 0;
    static const std::regex kQuantity("[0-9]+([.][0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?");
    return value.is_string() && std::regex_match(std::string(value.get_string()), kQuantity);
}

std::vector<base::FieldError> faults(const JsonObject& settings) {
    std::vector<base::FieldError> found;
    for (const auto& [key, value] : base::get_object(settings, "limits")) {
        std::string name(key);
        const bool known = std::find(kLimits.begin(), kLimits.end(), name) != kLimits.end();
        if (known && is_quantity(value)) continue;
        // A slash stands in a pointer as ~1.
        if (const auto slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "~1");
        base::FieldError error;
        error.pointer = "/limits/" + name;
        error.message = known
                            ? "must be a quantity such as 16 or \"512Gi\""
                            : "is no resource that can be limited: give one of " + base::join(kLimits, ", ");
        found.push_back(std::move(error));
    }
    return found;
}

}  // namespace

Feature autoscaling() {
    Feature feature;
    feature.id = "autoscaling";
    feature.title = "Managed autoscaling";
    feature.summary =
        "Karpenter, run by AWS, starts and ends nodes of HyperPod instance groups as pods need them; EKS "
        "node "
        "groups are not scaled.";
    feature.defaults = {
        {"instance_groups", JsonArray()}, {"limits", JsonObject()}, {"consolidate_after", kConsolidateAfter}};
    feature.needs_hyperpod = true;
    feature.loss = "all nodes that it started, with the pods on them";
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    feature.faults = &faults;
    return feature;
}

}  // namespace instantstart::flows
