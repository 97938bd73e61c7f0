// Add-ons that miss something: what EKS says of them, and how they recover.
#include "twin/aws/sagemaker/hyperpod_fixture.h"

namespace instantstart::twin::eks {
namespace {

using base::get_string;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr const char* kTraining = "amazon-sagemaker-hyperpod-training-operator";
const kube::Kind kDeployments("apps", "deployments");

class AddonTest : public sagemaker::HyperPodTest {
protected:
    AddonTest() {
        world.iam().roles[kRole].trusts = {"pods.eks.amazonaws.com"};
        ready_eks();
        create(1);
        world.advance(minutes(12));
    }
    void install(const std::string& name) {
        eks("CreateAddon", {{"clusterName", "demo"}, {"addonName", name}});
        world.advance(seconds(12));
        run_deployments();
        world.advance(minutes(6));
    }
    // What the cluster's controllers would bring about.
    void run_deployments() {
        for (const kube::ObjectPtr& deployment : objects().list(kDeployments)) {
            JsonObject changed = *deployment;
            changed["status"] = {{"availableReplicas", base::get_int(changed, "spec.replicas", 1)}};
            static_cast<void>(objects().update(kDeployments, std::move(changed)));
        }
    }
    JsonObject addon(const std::string& name) {
        return base::get_object(eks("DescribeAddon", {{"clusterName", "demo"}, {"addonName", name}}),
                                "addon");
    }
    void remove(const std::string& name) {
        eks("DeleteAddon", {{"clusterName", "demo"}, {"addonName", name}});
        world.advance(minutes(1));
    }
    static constexpr const char* kRole = "arn:aws:iam::111122223333:role/training";
};

TEST_F(AddonTest, training_operator_needs_cert_manager_its_role_and_the_clusters_tag) {
    install(kTraining);
    EXPECT_EQ(get_string(addon(kTraining), "status"), "CREATE_FAILED");
    EXPECT_EQ(get_string(addon(kTraining), "health.issues.0.code"), "K8sResourceNotFound");
    remove(kTraining);
    install("cert-manager");
    EXPECT_EQ(get_string(addon("cert-manager"), "status"), "ACTIVE");
    install(kTraining);
    EXPECT_EQ(get_string(addon(kTraining), "status"), "DEGRADED");
    EXPECT_EQ(get_string(addon(kTraining), "health.issues.0.code"), "InsufficientNumberOfReplicas");
    eks("CreatePodIdentityAssociation", {{"clusterName", "demo"},
                                         {"namespace", "aws-hyperpod"},
                                         {"serviceAccount", "hp-training-operator-controller-manager"},
                                         {"roleArn", kRole}});
    EXPECT_EQ(get_string(addon(kTraining), "status"), "DEGRADED");  // the cluster is not tagged
    const JsonObject tag{{"Key", "SageMaker"}, {"Value", "true"}};
    hyperpod("AddTags",
             {{"ResourceArn", get_string(describe(), "ClusterArn")}, {"Tags", JsonArray{JsonValue(tag)}}});
    EXPECT_EQ(get_string(addon(kTraining), "status"), "ACTIVE");
    const kube::Kind crds("apiextensions.k8s.io", "customresourcedefinitions");
    const char* name = "hyperpodpytorchjobs.sagemaker.amazonaws.com";
    EXPECT_NE(objects().get(crds, "", name), nullptr);
    remove(kTraining);
    EXPECT_EQ(objects().get(crds, "", name), nullptr);
}

TEST_F(AddonTest, deployments_are_refused_while_governances_webhook_has_no_endpoint) {
    install("amazon-sagemaker-hyperpod-taskgovernance");
    install("cert-manager");
    EXPECT_EQ(get_string(addon("cert-manager"), "status"), "CREATE_FAILED");
    EXPECT_EQ(get_string(addon("cert-manager"), "health.issues.0.code"), "AdmissionRequestDenied");
    EXPECT_THAT(get_string(addon("cert-manager"), "health.issues.0.message"),
                HasSubstr("no endpoints available for service \"kueue-webhook-service\""));
    const kube::Kind slices("discovery.k8s.io", "endpointslices");
    JsonObject slice{{"metadata",
                      {{"name", "kueue"},
                       {"namespace", "kueue-system"},
                       {"labels", {{"kubernetes.io/service-name", "kueue-webhook-service"}}}}},
                     {"endpoints", JsonArray{JsonObject{{"conditions", {{"ready", true}}}}}}};
    ASSERT_TRUE(objects().create(slices, slice).has_value());
    remove("cert-manager");
    install("cert-manager");
    EXPECT_NE(get_string(addon("cert-manager"), "status"), "CREATE_FAILED");
}

TEST_F(AddonTest, cert_manager_signs_certificates_and_gives_webhooks_its_authority) {
    const kube::Kind certificates("cert-manager.io", "certificates"), issuers("cert-manager.io", "issuers"),
        webhooks("admissionregistration.k8s.io", "validatingwebhookconfigurations"), secrets("", "secrets");
    install("cert-manager");
    JsonObject certificate{{"apiVersion", "cert-manager.io/v1"},
                           {"kind", "Certificate"},
                           {"metadata", {{"name", "serving"}, {"namespace", "default"}}},
                           {"spec", {{"secretName", "serving-tls"}, {"issuerRef", {{"name", "own"}}}}}};
    ASSERT_TRUE(objects().create(certificates, certificate).has_value());
    JsonObject webhook{{"name", "a.b.c"}, {"clientConfig", {{"service", {{"name", "a"}}}}}};
    JsonObject configuration{
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", "ValidatingWebhookConfiguration"},
        {"metadata",
         {{"name", "own"}, {"annotations", {{"cert-manager.io/inject-ca-from", "default/serving"}}}}},
        {"webhooks", JsonArray{JsonValue(webhook)}}};
    ASSERT_TRUE(objects().create(webhooks, configuration).has_value());
    const auto status = [&] {
        return get_string(*objects().get(certificates, "default", "serving"), "status.conditions.0.status");
    };
    world.advance(seconds(10));
    EXPECT_EQ(status(), "False");  // nobody may sign it
    EXPECT_EQ(objects().get(secrets, "default", "serving-tls"), nullptr);
    JsonObject issuer{{"apiVersion", "cert-manager.io/v1"},
                      {"kind", "Issuer"},
                      {"metadata", {{"name", "own"}, {"namespace", "default"}}},
                      {"spec", {{"selfSigned", JsonObject()}}}};
    ASSERT_TRUE(objects().create(issuers, issuer).has_value());
    world.advance(seconds(10));
    EXPECT_EQ(status(), "True");
    const kube::ObjectPtr secret = objects().get(secrets, "default", "serving-tls");
    ASSERT_NE(secret, nullptr);
    EXPECT_EQ(get_string(*secret, "type"), "kubernetes.io/tls");
    EXPECT_NE(get_string(*objects().get(webhooks, "", "own"), "webhooks.0.clientConfig.caBundle"), "");
}

TEST_F(AddonTest, kedas_operator_makes_the_certificates_of_its_servers) {
    JsonObject container{{"name", "keda"}, {"image", "ghcr.io/kedacore/keda:2.18.1"}};
    JsonObject pods{{"spec", {{"containers", JsonArray{JsonValue(container)}}}}};
    JsonObject operator_object{{"apiVersion", "apps/v1"},
                               {"kind", "Deployment"},
                               {"metadata", {{"name", "scaler"}, {"namespace", "keda"}}},
                               {"spec", {{"replicas", 1}, {"template", pods}}}};
    ASSERT_TRUE(objects().create(kDeployments, operator_object).has_value());
    world.advance(seconds(10));
    EXPECT_EQ(objects().get(kube::Kind("", "secrets"), "keda", "kedaorg-certs"), nullptr);
    run_deployments();
    world.advance(seconds(10));
    EXPECT_NE(objects().get(kube::Kind("", "secrets"), "keda", "kedaorg-certs"), nullptr);
}

TEST_F(AddonTest, what_loses_its_replicas_is_degraded_until_they_are_back) {
    install("cert-manager");
    EXPECT_EQ(get_string(addon("cert-manager"), "status"), "ACTIVE");
    JsonObject changed = *objects().get(kDeployments, "cert-manager", "cert-manager");
    changed["status"] = {{"availableReplicas", 0}};
    ASSERT_TRUE(objects().update(kDeployments, std::move(changed)).has_value());
    EXPECT_EQ(get_string(addon("cert-manager"), "status"), "DEGRADED");
    run_deployments();
    EXPECT_EQ(get_string(addon("cert-manager"), "status"), "ACTIVE");
}

}  // namespace
}  // namespace instantstart::twin::eks
