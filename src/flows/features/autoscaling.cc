// Managed autoscaling: Karpenter on AWS's side adds and removes nodes of instance groups that begin at zero,
// as pods wait for them. It scales HyperPod's groups only, never EKS node groups nor EC2 instances, and
// whatever else sets the count of such a group fights it: nobody here does.
#include "flows/features/autoscaling_rules.h"
#include "flows/features/karpenter.h"
#include "flows/features/kinds.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kService = "hyperpod.sagemaker.amazonaws.com";

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
    feature.obstacles = &autoscaling_obstacles;
    feature.faults = &autoscaling_faults;
    feature.launch_faults = &autoscaling_launch_faults;
    return feature;
}

}  // namespace instantstart::flows
