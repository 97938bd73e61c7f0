#include "feature_cases.h"

#include <gtest/gtest.h>

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr const char* kCluster = "phoenix";
constexpr const char* kDefinitions = "customresourcedefinitions.apiextensions.k8s.io";
constexpr const char* kNodeClasses = "hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com";

std::string role(const std::string& purpose) {
    return "instantstart-phoenix-us-west-2-" + purpose;
}

// --- IAM

void delete_role(Simulation& simulation, const std::string& name) {
    const JsonObject of_role{{"RoleName", name}};
    const auto written = simulation.admin("iam", "ListRolePolicies", of_role);
    for (const auto& policy : base::get_array(written, "PolicyNames"))
        simulation.admin("iam", "DeleteRolePolicy", {{"RoleName", name}, {"PolicyName", policy}});
    const auto attached = simulation.admin("iam", "ListAttachedRolePolicies", of_role);
    for (const auto& policy : base::get_array(attached, "AttachedPolicies"))
        simulation.admin("iam", "DetachRolePolicy",
                         {{"RoleName", name}, {"PolicyArn", base::get_string(policy, "PolicyArn")}});
    simulation.admin("iam", "DeleteRole", of_role);
}

Harm role_deleted(const std::string& name) {
    return {"role " + name + " is deleted",
            [name](Simulation& simulation) { delete_role(simulation, name); }};
}

Harm trust_changed(const std::string& name) {
    return {
        "role " + name + " trusts another service", [name](Simulation& simulation) {
            simulation.admin(
                "iam", "UpdateAssumeRolePolicy",
                {{"RoleName", name},
                 {"PolicyDocument",
                  R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]})"}});
        }};
}

Harm permissions_removed(const std::string& name) {
    return {"role " + name + " loses its own permissions", [name](Simulation& simulation) {
                simulation.admin("iam", "DeleteRolePolicy",
                                 {{"RoleName", name}, {"PolicyName", "permissions"}});
            }};
}

Harm permissions_changed(const std::string& name) {
    return {
        "role " + name + " gets other permissions", [name](Simulation& simulation) {
            simulation.admin(
                "iam", "PutRolePolicy",
                {{"RoleName", name},
                 {"PolicyName", "permissions"},
                 {"PolicyDocument",
                  R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:ListAllMyBuckets","Resource":"*"}]})"}});
        }};
}

Harm policy_detached(const std::string& name) {
    return {
        "role " + name + " loses AWS's policy", [name](Simulation& simulation) {
            const auto attached = simulation.admin("iam", "ListAttachedRolePolicies", {{"RoleName", name}});
            for (const auto& policy : base::get_array(attached, "AttachedPolicies"))
                simulation.admin("iam", "DetachRolePolicy",
                                 {{"RoleName", name}, {"PolicyArn", base::get_string(policy, "PolicyArn")}});
        }};
}

Harm provider_deleted() {
    return {"the OIDC provider is deleted", [](Simulation& simulation) {
                const auto list = simulation.admin("iam", "ListOpenIDConnectProviders", {});
                for (const auto& provider : base::get_array(list, "OpenIDConnectProviderList"))
                    simulation.admin("iam", "DeleteOpenIDConnectProvider",
                                     {{"OpenIDConnectProviderArn", base::get_string(provider, "Arn")}});
            }};
}

// --- EKS

Harm addon_deleted(const std::string& name) {
    return {"add-on " + name + " is deleted", [name](Simulation& simulation) {
                simulation.admin("eks", "DeleteAddon", {{"clusterName", kCluster}, {"addonName", name}});
                simulation.pass(minutes(3));
            }};
}

// Every ARN in it names another thing.
Harm addon_configured(const std::string& name, const std::string& word) {
    return {"add-on " + name + " is configured anew", [name, word](Simulation& simulation) {
                JsonObject which{{"clusterName", kCluster}, {"addonName", name}};
                const auto addon = simulation.admin("eks", "DescribeAddon", which);
                auto text = base::get_string(addon, "addon.configurationValues");
                const auto at = text.find(word);
                EXPECT_NE(at, std::string::npos) << text;
                if (at == std::string::npos) return;
                text.replace(at, word.size(), "other");
                which["configurationValues"] = text;
                which["resolveConflicts"] = "OVERWRITE";
                simulation.admin("eks", "UpdateAddon", which);
                simulation.pass(minutes(5));
            }};
}

Harm association_deleted() {
    return {"the association is deleted", [](Simulation& simulation) {
                const auto list =
                    simulation.admin("eks", "ListPodIdentityAssociations", {{"clusterName", kCluster}});
                for (const auto& row : base::get_array(list, "associations"))
                    simulation.admin("eks", "DeletePodIdentityAssociation",
                                     {{"clusterName", kCluster},
                                      {"associationId", base::get_string(row, "associationId")}});
            }};
}

// --- Kubernetes

Harm object_deleted(const std::string& kind, const std::string& ns, const std::string& name) {
    return {kind + " " + ns + "/" + name + " is deleted", [kind, ns, name](Simulation& simulation) {
                simulation.remove_object(kCluster, kind, ns, name);
                simulation.pass(seconds(30));
            }};
}

Harm object_changed(const std::string& kind, const std::string& ns, const std::string& name,
                    const std::string& path, const JsonValue& value) {
    return {kind + " " + ns + "/" + name + " is changed at " + path,
            [kind, ns, name, path, value](Simulation& simulation) {
                simulation.change_object(
                    kCluster, kind, ns, name,
                    JsonArray{JsonObject{{"op", "replace"}, {"path", path}, {"value", value}}});
                simulation.pass(seconds(30));
            }};
}

Harm image_changed(const std::string& ns, const std::string& name) {
    return object_changed("deployments.apps", ns, name, "/spec/template/spec/containers/0/image",
                          "registry.example.com/other:1");
}

// --- SageMaker

Harm tiers_changed(const std::string& what, const JsonObject& config) {
    return {"tiered storage is " + what, [config](Simulation& simulation) {
                simulation.pass(minutes(1));  // one update at a time
                simulation.admin("sagemaker", "UpdateCluster",
                                 {{"ClusterName", kCluster}, {"TieredStorageConfig", config}});
                simulation.pass(minutes(1));
            }};
}

void remove_cluster_tag(Simulation& simulation) {
    const auto hyperpod = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", kCluster}});
    simulation.admin(
        "sagemaker", "DeleteTags",
        {{"ResourceArn", base::get_string(hyperpod, "ClusterArn")}, {"TagKeys", JsonArray{"SageMaker"}}});
}

Harm app_deleted() {
    return {"the MLflow app is deleted", [](Simulation& simulation) {
                const auto apps = simulation.admin("sagemaker", "ListMlflowApps", {});
                for (const auto& app : base::get_array(apps, "Summaries")) {
                    if (base::get_string(app, "Status") != "Deleted")
                        simulation.admin("sagemaker", "DeleteMlflowApp",
                                         {{"Arn", base::get_string(app, "Arn")}});
                }
                simulation.pass(minutes(10));
            }};
}

Harm server_is(const std::string& what, const std::string& operation) {
    return {"the tracking server is " + what, [operation](Simulation& simulation) {
                simulation.admin("sagemaker", operation, {{"TrackingServerName", "phoenix-mlflow"}});
                simulation.pass(minutes(30));
            }};
}

Harm autoscaling_disabled() {
    return {"AutoScaling is disabled", [](Simulation& simulation) {
                simulation.pass(minutes(1));  // until SageMaker knows a new role
                simulation.admin(
                    "sagemaker", "UpdateCluster",
                    {{"ClusterName", kCluster}, {"AutoScaling", JsonObject{{"Mode", "Disable"}}}});
                simulation.pass(minutes(10));
            }};
}

// --- others

Harm workspace_deleted() {
    return {"the workspace is deleted", [](Simulation& simulation) {
                const auto list = simulation.admin("amp", "ListWorkspaces", {});
                for (const auto& row : base::get_array(list, "workspaces"))
                    simulation.admin("amp", "DeleteWorkspace",
                                     {{"workspaceId", base::get_string(row, "workspaceId")}});
                simulation.pass(minutes(2));
            }};
}

JsonObject tls_bucket() {
    return {{"Bucket", "hyperpod-tls-phoenix-111122223333-us-west-2"}};
}

Harm bucket_deleted() {
    return {"the bucket of certificates is deleted", [](Simulation& simulation) {
                const auto held = simulation.admin("s3", "ListObjectVersions", tls_bucket());
                for (const char* list : {"Versions", "DeleteMarkers"}) {
                    for (const auto& version : base::get_array(held, list)) {
                        auto which = tls_bucket();
                        which["Key"] = base::get_string(version, "Key");
                        which["VersionId"] = base::get_string(version, "VersionId");
                        simulation.admin("s3", "DeleteObject", which);
                    }
                }
                simulation.admin("s3", "DeleteBucket", tls_bucket());
            }};
}

Harm bucket_opened() {
    return {"the bucket of certificates may be public",
            [](Simulation& simulation) { simulation.admin("s3", "DeletePublicAccessBlock", tls_bucket()); }};
}

// --- the cases

FeatureCase feature(std::string name, JsonObject settings, std::vector<Harm> harms,
                    std::function<void(Simulation&)> prepares = nullptr) {
    FeatureCase made;
    made.feature = std::move(name);
    made.settings = std::move(settings);
    made.harms = std::move(harms);
    made.prepares = std::move(prepares);
    return made;
}

FeatureCase tiered_checkpointing() {
    return feature(
        "tiered_checkpointing", {{"memory_percent", 30}},
        {tiers_changed("disabled", {{"Mode", "Disable"}}),
         tiers_changed("given more memory", {{"Mode", "Enable"}, {"InstanceMemoryAllocationPercentage", 45}}),
         role_deleted(role("checkpoints")), object_deleted("serviceaccounts", "default", "checkpointing"),
         object_changed("serviceaccounts", "default", "checkpointing",
                        "/metadata/annotations/eks.amazonaws.com~1role-arn",
                        "arn:aws:iam::111122223333:role/other"),
         trust_changed(role("checkpoints")), permissions_changed(role("checkpoints"))});
}

// The launch tags the cluster for the operator; an imported one has neither tag nor OIDC provider.
FeatureCase training_operator() {
    return feature("training_operator", {},
                   {addon_deleted("amazon-sagemaker-hyperpod-training-operator"),
                    {"the cluster's tag is removed", &remove_cluster_tag},
                    addon_deleted("cert-manager"),
                    association_deleted(),
                    policy_detached(role("training-operator")),
                    role_deleted(role("training-operator"))},
                   &remove_cluster_tag);
}

FeatureCase inference_operator() {
    const std::string execution = "SageMakerHyperPodInference-phoenix-us-west-2";
    return feature("inference_operator", {},
                   {addon_deleted("amazon-sagemaker-hyperpod-inference"), role_deleted(execution),
                    trust_changed(execution), permissions_removed(execution), policy_detached(execution),
                    role_deleted(role("inference-scaling")), provider_deleted(),
                    addon_configured("amazon-sagemaker-hyperpod-inference", "hyperpod-tls-phoenix"),
                    bucket_opened(), bucket_deleted()},
                   provider_deleted().does);
}

FeatureCase kuberay() {
    return feature(
        "kuberay", {},
        {object_deleted("deployments.apps", "kuberay-system", "kuberay-operator"),
         object_deleted(kDefinitions, "", "rayjobs.ray.io"),
         object_changed("deployments.apps", "kuberay-system", "kuberay-operator", "/spec/replicas", 0),
         object_changed("clusterroles.rbac.authorization.k8s.io", "", "kuberay-operator", "/rules",
                        JsonArray()),
         image_changed("kuberay-system", "kuberay-operator")});
}

FeatureCase keda() {
    return feature(
        "keda", {},
        {object_deleted("deployments.apps", "keda", "keda-operator"),
         object_deleted(kDefinitions, "", "scaledobjects.keda.sh"),
         object_deleted("apiservices.apiregistration.k8s.io", "", "v1beta1.external.metrics.k8s.io"),
         object_changed("services", "keda", "keda-operator", "/spec/selector", JsonObject{{"app", "other"}}),
         image_changed("keda", "keda-metrics-apiserver")});
}

FeatureCase load_balancer_controller() {
    return feature("load_balancer_controller", {},
                   {object_deleted("deployments.apps", "kube-system", "aws-load-balancer-controller"),
                    association_deleted(), role_deleted(role("load-balancers")),
                    permissions_removed(role("load-balancers")), addon_deleted("cert-manager"),
                    image_changed("kube-system", "aws-load-balancer-controller")});
}

FeatureCase observability() {
    const std::string addon = "amazon-sagemaker-hyperpod-observability";
    return feature("observability", {},
                   {workspace_deleted(), role_deleted(role("observability")), association_deleted(),
                    permissions_changed(role("observability")), addon_deleted(addon),
                    addon_configured(addon, "workspace/ws-")});
}

FeatureCase autoscaling() {
    return feature("autoscaling",
                   {{"instance_groups", JsonArray{"burst"}}, {"limits", JsonObject{{"nodes", 2}}}},
                   {object_deleted(kNodeClasses, "", "instantstart"), role_deleted(role("autoscaling")),
                    autoscaling_disabled(), permissions_removed(role("autoscaling")),
                    object_changed(kNodeClasses, "", "instantstart", "/spec/instanceGroups",
                                   JsonArray{"burst", "ghost"}),
                    object_deleted("nodepools.karpenter.sh", "", "instantstart"),
                    object_changed("nodepools.karpenter.sh", "", "instantstart", "/spec/limits",
                                   JsonObject{{"nodes", "9"}}),
                    object_changed("nodepools.karpenter.sh", "", "instantstart",
                                   "/spec/disruption/consolidateAfter", "Never")});
}

}  // namespace

const std::vector<FeatureCase>& feature_cases() {
    static const std::vector<FeatureCase> kCases = {
        tiered_checkpointing(),
        training_operator(),
        inference_operator(),
        kuberay(),
        keda(),
        load_balancer_controller(),
        feature("mlflow", {{"kind", "app"}},
                {app_deleted(), role_deleted(role("mlflow")), permissions_removed(role("mlflow"))}),
        feature("mlflow", {{"kind", "tracking_server"}},
                {server_is("deleted", "DeleteMlflowTrackingServer"),
                 server_is("stopped", "StopMlflowTrackingServer"), trust_changed(role("mlflow"))}),
        feature("task_governance", {}, {addon_deleted("amazon-sagemaker-hyperpod-taskgovernance")}),
        observability(),
        autoscaling()};
    return kCases;
}

}  // namespace instantstart::sim
