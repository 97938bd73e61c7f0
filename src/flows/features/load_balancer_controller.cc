// The AWS Load Balancer Controller: load balancers of AWS for Services and Ingresses. Its role is given by
// Pod Identity; its permissions are those that its release lists, writes limited to what carries its own tag.
#include "flows/features/kinds.h"
#include "flows/features/manifests.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAccount = "aws-load-balancer-controller";

std::string permissions(const StepCall& call) {
    return domain::load_balancer_policy(scope_of(call));
}

base::Result<std::vector<JsonObject>> objects(const StepCall& call) {
    return feature_manifest("load_balancer_controller",
                            {{"EKS_CLUSTER", JsonValue(eks_of(call))},
                             {"REGION", JsonValue(base::get_string(call.params, "region"))},
                             {"VPC", JsonValue(base::get_string(call.result_of("eks"), "vpc_id"))}});
}

std::vector<Part> parts(const JsonObject&) {
    // Others write these while it runs.
    const JsonArray by_products{
        JsonObject{{"apiVersion", "v1"},
                   {"kind", "Secret"},
                   {"metadata", {{"namespace", "kube-system"}, {"name", "aws-load-balancer-tls"}}}},
        JsonObject{
            {"apiVersion", "coordination.k8s.io/v1"},
            {"kind", "Lease"},
            {"metadata", {{"namespace", "kube-system"}, {"name", "aws-load-balancer-controller-leader"}}}}};
    return {
        component_part("pod_identity_agent"),
        component_part("cert_manager"),
        cert_manager_answers(),
        role_part("role", "load-balancers", {{"trust", "pods"}}).grants(&permissions),
        Part("association", association_kind(), "Pod Identity association of its service account",
             {{"namespace", "kube-system"}, {"service_account", kAccount}, {"purpose", "load-balancers"}}),
        Part("controller", objects_kind(), "the controller in namespace kube-system",
             {{"by_products", by_products}})
            .applies(&objects)
            .anchors(),
        answering_part("answering", "the controller's webhook",
                       {{"crds", JsonArray{"targetgroupbindings.elbv2.k8s.aws"}},
                        {"services", JsonArray{JsonObject{{"namespace", "kube-system"},
                                                          {"name", "aws-load-balancer-webhook-service"}}}}})};
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    CO_TRY(const auto other, co_await other_deployment(env, call, kAccount));
    std::vector<std::string> reasons;
    if (!other.empty())
        reasons.push_back("the cluster has a load balancer controller already, " + other +
                          ": two would fight over every Ingress; use that one, or remove it first");
    co_return reasons;
}

}  // namespace

Feature load_balancer_controller() {
    Feature feature;
    feature.id = "load_balancer_controller";
    feature.title = "AWS Load Balancer Controller";
    feature.summary = "Makes load balancers of AWS for Services and Ingresses, with pods as their targets.";
    feature.needs_nodes = true;
    feature.kinds = {{"elbv2.k8s.aws/v1beta1", "TargetGroupBinding"}};
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
