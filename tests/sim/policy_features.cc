// The chapters of the policy's story about features that EKS and HyperPod bring: on, harmed and repaired,
// off.
#include "policy_story.h"

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

constexpr const char* kFeatures = "/clusters/phoenix/features";
constexpr const char* kOperatorRole = "instantstart-phoenix-us-west-2-training-operator";

JsonObject switched(std::initializer_list<const char*> features, bool on) {
    JsonObject body;
    for (const char* feature : features) body[feature] = JsonObject{{"enabled", on}};
    if (!on) body["confirm"] = "phoenix";
    return body;
}

std::string trust_in(const char* service) {
    return R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":")" +
           std::string(service) + R"("},"Action":["sts:AssumeRole","sts:TagSession"]}]})";
}

// Somebody hands the operator's pods another role, and the role to another service.
void meddle(Simulation& simulation) {
    simulation.admin("iam", "UpdateAssumeRolePolicy",
                     {{"RoleName", kOperatorRole}, {"PolicyDocument", trust_in("ec2.amazonaws.com")}});
    const auto other = simulation.admin(
        "iam", "CreateRole",
        {{"RoleName", "other-pods"}, {"AssumeRolePolicyDocument", trust_in("pods.eks.amazonaws.com")}});
    simulation.pass(std::chrono::seconds(30));
    const auto list = simulation.admin("eks", "ListPodIdentityAssociations",
                                       {{"clusterName", "phoenix"}, {"namespace", "aws-hyperpod"}});
    for (const auto& row : base::get_array(list, "associations")) {
        simulation.admin("eks", "UpdatePodIdentityAssociation",
                         {{"clusterName", "phoenix"},
                          {"associationId", base::get_string(row, "associationId")},
                          {"roleArn", base::get_string(other, "Role.Arn")}});
    }
}

}  // namespace

void PolicyStory::use_features() {
    if (refusal_) return;
    // As in an imported cluster, which nobody tagged for the operator.
    const auto hyperpod = simulation_.admin("sagemaker", "DescribeCluster", {{"ClusterName", "phoenix"}});
    simulation_.admin(
        "sagemaker", "DeleteTags",
        {{"ResourceArn", base::get_string(hyperpod, "ClusterArn")}, {"TagKeys", JsonArray{"SageMaker"}}});
    // The operators' pods want more room than the workers have.
    JsonObject system = group("system", "us-west-2a");
    system["instance_type"] = "ml.m5.4xlarge";
    system["count"] = 2;
    does("instance_group.add", "POST", "/clusters/phoenix/instance-groups", system);
    does("feature.update", "PATCH", kFeatures, switched({"training_operator", "tiered_checkpointing"}, true));
    if (refusal_) return;
    meddle(simulation_);
    does("feature.list", "GET", kFeatures);
    does("feature.update", "PATCH", kFeatures, switched({"training_operator"}, true));
    does("feature.update", "PATCH", kFeatures,
         switched({"training_operator", "tiered_checkpointing"}, false));
    does("feature.update", "PATCH", kFeatures, switched({"inference_operator"}, true));
    does("feature.list", "GET", kFeatures);
    does("feature.update", "PATCH", kFeatures, switched({"inference_operator"}, false));
}

}  // namespace instantstart::sim
