// The HyperPod training operator: HyperPodPyTorchJob. Its add-on wants certificates, its role by Pod Identity
// before its pods start, and a cluster tag that AWS's policy for that role asks for.
#include "flows/features/kinds.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAddon = "amazon-sagemaker-hyperpod-training-operator";
constexpr const char* kNamespace = "aws-hyperpod";
constexpr const char* kAccount = "hp-training-operator-controller-manager";

std::vector<Part> parts(const JsonObject&) {
    const JsonObject role{{"purpose", "training-operator"}};
    return {
        component_part("pod_identity_agent"),
        component_part("cert_manager"),
        cert_manager_answers(),
        Part("cluster_tag", hyperpod_tag_kind(), "tag SageMaker=true of HyperPod cluster $hyperpod_name",
             {{"key", "SageMaker"}, {"value", "true"}}),
        role_part(
            "role", "training-operator",
            {{"trust", "pods"}, {"managed", JsonArray{"AmazonSageMakerHyperPodTrainingOperatorAccess"}}}),
        Part("association", association_kind(), "Pod Identity association of its service account",
             {{"namespace", kNamespace}, {"service_account", kAccount}, {"purpose", "training-operator"}}),
        Part("addon", addon_kind(), std::string("EKS add-on ") + kAddon,
             {{"name", kAddon}, {"configuration", JsonObject{}}})
            .anchors(),
        answering_part("answering", "the operator's webhook and HyperPodPyTorchJob",
                       {{"crds", JsonArray{"hyperpodpytorchjobs.sagemaker.amazonaws.com"}},
                        {"webhooks_of", kNamespace}})};
}

}  // namespace

Feature training_operator() {
    Feature feature;
    feature.id = "training_operator";
    feature.title = "HyperPod training operator";
    feature.summary =
        "Runs HyperPodPyTorchJob: distributed training that restarts in place, sees hanging jobs and avoids "
        "bad "
        "nodes.";
    feature.needs_hyperpod = true;
    feature.needs_nodes = true;
    feature.kinds = {{"sagemaker.amazonaws.com/v1", "HyperPodPyTorchJob"}};
    feature.parts = &parts;
    return feature;
}

}  // namespace instantstart::flows
