// The HyperPod inference operator: InferenceEndpointConfig and JumpStartModel. Its add-on brings a load
// balancer controller and KEDA of its own, wants drivers, metrics and certificates before it, a bucket for
// certificates and four roles, of which one's name must begin as AWS says.
#include "domain/pods.h"
#include "flows/features/kinds.h"
#include "flows/features/manifests.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAddon = "amazon-sagemaker-hyperpod-inference";
constexpr const char* kNamespace = "hyperpod-inference-system";
constexpr const char* kExecutionRole = "SageMakerHyperPodInference";
constexpr const char* kBucketPrefix = "hyperpod-tls-";

std::string account_of(const std::string& name) {
    return std::string(kNamespace) + ":" + name;
}

std::string balancer_permissions(const StepCall& call) {
    return domain::load_balancer_policy(scope_of(call));
}

std::string scaler_permissions(const StepCall& call) {
    return domain::metric_reader_policy(scope_of(call));
}

std::string certificate_permissions(const StepCall& call) {
    return domain::bucket_access_policy(scope_of(call), part_bucket_name(call, {{"prefix", kBucketPrefix}}));
}

std::string hyperpod_arn(const StepCall& call) {
    const auto known = base::get_string(call.params, "hyperpod_arn");
    return known.empty() ? base::get_string(call.result_of("hyperpod"), "arn") : known;
}

JsonObject configuration(const StepCall& call) {
    const auto role = [&call](std::string_view purpose) {
        return part_role_arn(call, {{"purpose", purpose}});
    };
    return {{"executionRoleArn", part_role_arn(call, {{"role_name", kExecutionRole}})},
            {"tlsCertificateS3Bucket", part_bucket_name(call, {{"prefix", kBucketPrefix}})},
            {"hyperpodClusterArn", hyperpod_arn(call)},
            {"jumpstartGatedModelDownloadRoleArn", role("inference-models")},
            {"alb", {{"serviceAccount", {{"create", true}, {"roleArn", role("inference-balancers")}}}}},
            {"keda",
             {{"auth", {{"aws", {{"irsa", {{"enabled", true}, {"roleArn", role("inference-scaling")}}}}}}}}}};
}

JsonObject web_identity(const std::string& account) {
    return {{"trust", {{"service_account", account}}}};
}

std::vector<Part> role_parts() {
    const JsonObject execution{{"role_name", kExecutionRole},
                               {"trust",
                                {{"service_account", account_of("hyperpod-inference-controller-manager")},
                                 {"service", "sagemaker.amazonaws.com"}}},
                               {"managed", JsonArray{"AmazonSageMakerHyperPodInferenceAccess"}}};
    const JsonObject models{{"trust",
                             {{"service_account", "*:hyperpod-inference-service-account*"},
                              {"service", "sagemaker.amazonaws.com"}}},
                            {"managed", JsonArray{"AmazonSageMakerHyperPodGatedModelAccess"}}};
    return {Part("execution_role", role_kind(), "", execution).grants(&certificate_permissions),
            role_part("model_role", "inference-models", models),
            role_part("balancer_role", "inference-balancers",
                      web_identity(account_of("aws-load-balancer-controller")))
                .grants(&balancer_permissions),
            role_part("scaling_role", "inference-scaling", web_identity(account_of("keda-operator")))
                .grants(&scaler_permissions)};
}

std::vector<Part> parts(const JsonObject&) {
    std::vector<Part> list{oidc_part(),
                           component_part("pod_identity_agent"),
                           component_part("s3_csi"),
                           component_part("fsx_csi"),
                           component_part("metrics_server"),
                           component_part("cert_manager"),
                           cert_manager_answers(),
                           Part("tls_bucket", bucket_kind(), "", {{"prefix", kBucketPrefix}})};
    for (auto& part : role_parts()) list.push_back(std::move(part));
    list.push_back(Part("addon", addon_kind(), std::string("EKS add-on ") + kAddon, {{"name", kAddon}})
                       .configured(&configuration)
                       .anchors());
    list.push_back(
        answering_part("answering", "the operator's webhook and its kinds",
                       {{"crds", JsonArray{"inferenceendpointconfigs.inference.sagemaker.aws.amazon.com",
                                           "jumpstartmodels.inference.sagemaker.aws.amazon.com"}},
                        {"webhooks_of", kNamespace}}));
    return list;
}

// --- room

constexpr std::size_t kNodesMost = 200;  // enough to know of a large cluster

bool is_usable(const JsonValue& node) {
    if (base::get_bool(node, "spec.unschedulable")) return false;
    for (const auto& condition : base::get_array(node, "status.conditions")) {
        if (base::get_string(condition, "type") == "Ready")
            return base::get_string(condition, "status") == "True";
    }
    return false;
}

Task<std::int64_t> room_of(std::shared_ptr<kube::Client> client, Context context, JsonValue node) {
    const auto pods = kube::known_resource("pods");
    CHECK(pods.has_value());
    kube::ListOptions options;
    options.field_selector = "spec.nodeName=" + base::get_string(node, "metadata.name");
    CO_TRY(auto list, co_await client->list(context, *pods, options));
    const auto* most = base::find_path(node, "status.allocatable.pods");
    const auto text = most != nullptr && most->is_string() ? std::string(most->as_string()) : "0";
    const auto taken = static_cast<std::int64_t>(base::get_array(list, "items").size());
    co_return std::max<std::int64_t>(std::atoll(text.c_str()) - taken, 0);
}

// Places for pods on Ready nodes, counted until there are enough.
Task<std::int64_t> free_places(Clusters& env, StepCall call) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    CO_TRY(auto list, co_await client->list(call.context, *nodes, kube::ListOptions()));
    std::int64_t free = 0;
    std::size_t looked = 0;
    for (const auto& node : base::get_array(list, "items")) {
        if (!is_usable(node)) continue;
        if (free >= domain::kInferenceOperatorPods || ++looked > kNodesMost) break;
        CO_TRY(const auto room, co_await room_of(client, call.context, node));
        free += room;
    }
    co_return free;
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    std::vector<std::string> reasons;
    for (const auto& [image, what] :
         {std::pair("aws-load-balancer-controller", "a load balancer controller"),
          std::pair("keda-operator", "KEDA"), std::pair("kedacore/keda:", "KEDA")}) {
        CO_TRY(const auto other, co_await other_deployment(env, call, image));
        // The add-on's own, where it is there already.
        if (other.empty() || other.starts_with(std::string(kNamespace) + "/")) continue;
        reasons.push_back("the cluster has " + std::string(what) + " already, " + other +
                          ", and the add-on brings one of its own: remove it first");
    }
    CO_TRY(const auto free, co_await free_places(env, call));
    if (free < domain::kInferenceOperatorPods) {
        reasons.push_back("it needs room for " + std::to_string(domain::kInferenceOperatorPods) +
                          " pods, and the Ready nodes have room for " + std::to_string(free) +
                          ": add an instance group of a larger type, such as ml.m5.4xlarge");
    }
    co_return reasons;
}

}  // namespace

Feature inference_operator() {
    Feature feature;
    feature.id = "inference_operator";
    feature.title = "HyperPod inference operator";
    feature.summary =
        "Serves models on the cluster: InferenceEndpointConfig and JumpStartModel with load balancers, "
        "scaling "
        "and caches.";
    feature.needs_hyperpod = true;
    feature.needs_nodes = true;
    feature.excludes = {
        Exclusion("keda", "its add-on brings KEDA of its own, and a cluster has one"),
        Exclusion("load_balancer_controller", "its add-on brings a load balancer controller of its own")};
    feature.kinds = {{"inference.sagemaker.aws.amazon.com/v1", "InferenceEndpointConfig"},
                     {"inference.sagemaker.aws.amazon.com/v1", "JumpStartModel"}};
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
