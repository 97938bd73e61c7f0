// KubeRay: Ray clusters, jobs and services, for VERL and other Ray work.
#include "flows/features/kinds.h"
#include "flows/features/manifests.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

base::Result<std::vector<JsonObject>> kinds(const StepCall&) {
    return definitions_of({"ray.io"});
}

base::Result<std::vector<JsonObject>> operator_objects(const StepCall&) {
    return feature_manifest("kuberay", {});
}

std::vector<Part> parts(const JsonObject&) {
    return {Part("kinds", objects_kind(), "the kinds RayCluster, RayJob and RayService", {}).applies(&kinds),
            Part("operator", objects_kind(), "the KubeRay operator in namespace kuberay-system", {})
                .applies(&operator_objects)
                .anchors()};
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    CO_TRY(const auto other, co_await other_deployment(env, call, "kuberay"));
    std::vector<std::string> reasons;
    if (!other.empty())
        reasons.push_back("the cluster has a KubeRay operator already, " + other +
                          ": two would fight over every Ray cluster; use that one, or remove it first");
    co_return reasons;
}

}  // namespace

Feature kuberay() {
    Feature feature;
    feature.id = "kuberay";
    feature.title = "KubeRay";
    feature.summary = "Runs Ray clusters, jobs and services, such as VERL's reinforcement learning.";
    feature.needs_nodes = true;
    feature.kinds = {{"ray.io/v1", "RayJob"}, {"ray.io/v1", "RayCluster"}, {"ray.io/v1", "RayService"}};
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
