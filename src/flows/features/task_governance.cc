// Task governance: Kueue under HyperPod's control. Its webhook takes every Deployment of the cluster: while
// that webhook has no endpoint nothing else can be installed. So it comes after all else that a request asks
// for, and is on only once its webhook answers.
#include "flows/eks_steps.h"
#include "flows/features/kinds.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAddon = "amazon-sagemaker-hyperpod-taskgovernance";
constexpr const char* kNamespace = "kueue-system";
constexpr const char* kDefinition = "clusterqueues.kueue.x-k8s.io";
constexpr int kOldestMinor = 30;  // of Kubernetes 1

std::vector<Part> parts(const JsonObject&) {
    const JsonObject service{{"namespace", kNamespace}, {"name", "kueue-webhook-service"}};
    return {Part("addon", addon_kind(), std::string("EKS add-on ") + kAddon,
                 {{"name", kAddon}, {"configuration", JsonObject{}}})
                .anchors(),
            answering_part("answering", "Kueue's webhook and queues",
                           {{"crds", JsonArray{kDefinition, "localqueues.kueue.x-k8s.io"}},
                            {"services", JsonArray{service}},
                            {"webhooks_of", kNamespace}})};
}

// "1.33" → 33
int minor_of(const std::string& version) {
    const auto dot = version.find('.');
    return dot == std::string::npos ? 0 : std::atoi(version.c_str() + dot + 1);
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    std::vector<std::string> found;
    const auto version = base::get_string(call.result_of("eks"), "version");
    if (minor_of(version) < kOldestMinor)
        found.push_back("it needs Kubernetes 1.30 or newer, the cluster has " + version);
    CO_TRY(auto addon, co_await describe_addon(env, call, kAddon));
    if (!addon.empty()) co_return found;
    const auto definitions = kube::known_resource("customresourcedefinitions.apiextensions.k8s.io");
    CHECK(definitions.has_value());
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    auto live = co_await client->get(call.context, *definitions, "", kDefinition);
    if (live) {
        found.emplace_back("another Kueue is installed (" + std::string(kDefinition) +
                           " is there), and two of them fight over the same queues: remove it first");
    } else if (live.error().kind != base::ErrorKind::not_found) {
        co_return std::move(live).error();
    }
    co_return found;
}

}  // namespace

Feature task_governance() {
    Feature feature;
    feature.id = "task_governance";
    feature.title = "Task governance";
    feature.summary = "Shares the cluster's accelerators between teams by quotas, priorities and queues.";
    feature.needs_hyperpod = true;
    feature.needs_nodes = true;
    feature.alone = true;
    feature.loss =
        "all Kueue queues and what waits in them (quotas and priorities stay in SageMaker, without effect)";
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
