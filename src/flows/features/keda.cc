// KEDA: scales Deployments by queues and metrics. Only one can serve the external metrics of a cluster.
#include "flows/features/kinds.h"
#include "flows/features/manifests.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kNamespace = "keda";

base::Result<std::vector<JsonObject>> kinds(const StepCall&) {
    return definitions_of({"keda.sh", "eventing.keda.sh"});
}

base::Result<std::vector<JsonObject>> operator_objects(const StepCall&) {
    return feature_manifest("keda", {});
}

std::vector<Part> parts(const JsonObject&) {
    const JsonObject metrics{{"namespace", kNamespace}, {"name", "keda-metrics-apiserver"}};
    return {
        Part("kinds", objects_kind(), "KEDA's kinds, such as ScaledObject", {}).applies(&kinds),
        Part("operator", objects_kind(), "KEDA in namespace keda", {}).applies(&operator_objects).anchors(),
        answering_part("answering", "KEDA's webhook and metrics",
                       {{"crds", JsonArray{"scaledobjects.keda.sh"}},
                        {"webhooks_of", kNamespace},
                        {"services", JsonArray{metrics}}})};
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto services = kube::known_resource("apiservices.apiregistration.k8s.io");
    CHECK(services.has_value());
    std::vector<std::string> reasons;
    auto live = co_await client->get(call.context, *services, "", "v1beta1.external.metrics.k8s.io");
    if (!live && live.error().kind != base::ErrorKind::not_found) co_return std::move(live).error();
    const auto owner = live ? base::get_string(*live, "spec.service.namespace") : "";
    if (!owner.empty() && owner != kNamespace && !goes_first(call, owner)) {
        reasons.push_back(
            "external metrics are served by " +
            domain::clean_text(owner + "/" + base::get_string(*live, "spec.service.name"), 200) +
            " already, and a cluster has one such server: use that one, or remove it first");
    }
    CO_TRY(const auto other, co_await other_deployment(env, call, "keda-operator"));
    CO_TRY(const auto released, co_await other_deployment(env, call, "kedacore/keda:"));
    const auto rival = other.empty() ? released : other;
    if (!rival.empty() && reasons.empty())
        reasons.push_back("the cluster has KEDA already, " + rival + ": use that one, or remove it first");
    co_return reasons;
}

}  // namespace

Feature keda() {
    Feature feature;
    feature.id = "keda";
    feature.title = "KEDA";
    feature.summary = "Scales Deployments by queues and metrics, down to zero.";
    feature.needs_nodes = true;
    feature.kinds = {{"keda.sh/v1alpha1", "ScaledObject"}, {"keda.sh/v1alpha1", "ScaledJob"}};
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
