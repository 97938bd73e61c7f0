#include "twin/aws/eks/addon_catalogue.h"

namespace instantstart::twin::eks {

namespace {

Addon make(std::string name, std::string type, std::string ns, std::vector<std::string> versions) {
    Addon addon;
    addon.name = std::move(name);
    addon.type = std::move(type);
    addon.owner = "aws";
    addon.publisher = "eks";
    addon.ns = std::move(ns);
    addon.default_version = versions.back();
    addon.versions = std::move(versions);
    return addon;
}

Crd crd(std::string group, std::string kind, std::string plural, bool cluster_scope = false,
        std::vector<std::string> versions = {"v1"}) {
    Crd made;
    made.group = std::move(group);
    made.kind = std::move(kind);
    made.plural = std::move(plural);
    made.versions = std::move(versions);
    made.cluster_scope = cluster_scope;
    return made;
}

Webhook webhook(std::string configuration, std::string name, bool mutating, std::string service,
                std::string deployment, std::string group, std::string resource) {
    Webhook made;
    made.configuration = std::move(configuration);
    made.name = std::move(name);
    made.mutating = mutating;
    made.service = std::move(service);
    made.deployment = std::move(deployment);
    made.group = std::move(group);
    made.resource = std::move(resource);
    return made;
}

void add_networking(std::vector<Addon>& list) {
    Addon cni = make("vpc-cni", "networking", "kube-system",
                     {"v1.19.6-eksbuild.7", "v1.20.4-eksbuild.2", "v1.20.5-eksbuild.1"});
    cni.default_version = "v1.20.4-eksbuild.2";  // the default is not the newest, as often in EKS
    cni.daemon_sets = {"aws-node"};
    cni.service_accounts = {"aws-node"};
    cni.needs_permissions = true;
    cni.pod_identity_account = "aws-node";
    cni.policies = {"arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"};
    list.push_back(cni);
    Addon proxy = make("kube-proxy", "networking", "kube-system", {"eksbuild.4", "eksbuild.7"});
    proxy.daemon_sets = {"kube-proxy"};
    proxy.service_accounts = {"kube-proxy"};
    list.push_back(proxy);
    Addon dns = make("coredns", "networking", "kube-system", {"v1.11.4-eksbuild.24", "v1.12.4-eksbuild.1"});
    dns.deployments = {"coredns"};
    dns.service_accounts = {"coredns"};
    dns.replicas = 2;
    list.push_back(dns);
    Addon identity = make("eks-pod-identity-agent", "security", "kube-system",
                          {"v1.3.8-eksbuild.2", "v1.3.10-eksbuild.1"});
    identity.daemon_sets = {"eks-pod-identity-agent"};
    list.push_back(identity);
}

Addon csi(std::string name, std::vector<std::string> versions, const std::string& stem, std::string driver) {
    Addon addon = make(std::move(name), "storage", "kube-system", std::move(versions));
    addon.daemon_sets = {stem + "-csi-node"};
    addon.deployments = {stem + "-csi-controller"};
    addon.service_accounts = {stem + "-csi-controller-sa", stem + "-csi-node-sa"};
    addon.csi_driver = std::move(driver);
    addon.needs_permissions = true;
    addon.pod_identity_account = stem + "-csi-controller-sa";
    return addon;
}

void add_storage(std::vector<Addon>& list) {
    Addon ebs =
        csi("aws-ebs-csi-driver", {"v1.52.1-eksbuild.1", "v1.53.0-eksbuild.1"}, "ebs", "ebs.csi.aws.com");
    ebs.policies = {"arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"};
    ebs.replicas = 2;
    list.push_back(ebs);
    Addon fsx =
        csi("aws-fsx-csi-driver", {"v1.6.0-eksbuild.1", "v1.7.0-eksbuild.1"}, "fsx", "fsx.csi.aws.com");
    fsx.policies = {"arn:aws:iam::aws:policy/AmazonFSxFullAccess"};
    fsx.replicas = 2;
    list.push_back(fsx);
    Addon s3 = csi("aws-mountpoint-s3-csi-driver", {"v1.15.0-eksbuild.1", "v2.2.0-eksbuild.1"}, "s3",
                   "s3.csi.aws.com");
    s3.service_accounts = {"s3-csi-driver-sa", "s3-csi-driver-controller-sa"};
    s3.pod_identity_account = "s3-csi-driver-sa";
    s3.policies = {"arn:aws:iam::aws:policy/AmazonS3FullAccess"};
    s3.crds = {crd("s3.csi.aws.com", "MountpointS3PodAttachment", "mountpoints3podattachments", true,
                   {"v1beta", "v2"})};
    list.push_back(s3);
}

void add_community(std::vector<Addon>& list) {
    Addon certs =
        make("cert-manager", "security", "cert-manager", {"v1.17.2-eksbuild.1", "v1.18.2-eksbuild.2"});
    certs.publisher = "cert-manager";
    certs.owner = "community";
    certs.deployments = {"cert-manager", "cert-manager-cainjector", "cert-manager-webhook"};
    certs.service_accounts = certs.deployments;
    certs.crds = {crd("cert-manager.io", "Certificate", "certificates"),
                  crd("cert-manager.io", "CertificateRequest", "certificaterequests"),
                  crd("cert-manager.io", "Issuer", "issuers"),
                  crd("cert-manager.io", "ClusterIssuer", "clusterissuers", true),
                  crd("acme.cert-manager.io", "Challenge", "challenges"),
                  crd("acme.cert-manager.io", "Order", "orders")};
    for (const bool mutating : {false, true}) {
        certs.webhooks.push_back(webhook("cert-manager-webhook", "webhook.cert-manager.io", mutating,
                                         "cert-manager-webhook", "cert-manager-webhook", "cert-manager.io",
                                         "*"));
    }
    list.push_back(certs);
    Addon metrics =
        make("metrics-server", "observability", "kube-system", {"v0.7.2-eksbuild.4", "v0.8.0-eksbuild.3"});
    metrics.owner = "community";
    metrics.publisher = "kubernetes-sigs";
    metrics.deployments = {"metrics-server"};
    metrics.service_accounts = {"metrics-server"};
    metrics.replicas = 2;
    list.push_back(metrics);
    Addon watch = make("amazon-cloudwatch-observability", "observability", "amazon-cloudwatch",
                       {"v4.7.0-eksbuild.1", "v4.8.0-eksbuild.1"});
    watch.daemon_sets = {"cloudwatch-agent", "fluent-bit"};
    watch.deployments = {"amazon-cloudwatch-observability-controller-manager"};
    watch.service_accounts = {"cloudwatch-agent"};
    watch.needs_permissions = true;
    watch.pod_identity_account = "cloudwatch-agent";
    watch.policies = {"arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"};
    list.push_back(watch);
}

Addon inference_operator() {
    Addon inference = make("amazon-sagemaker-hyperpod-inference", "ml", "hyperpod-inference-system",
                           {"v1.0.0-eksbuild.1", "v1.2.1-eksbuild.1"});
    inference.deployments = {"hyperpod-inference-controller-manager"};
    inference.service_accounts = {"hyperpod-inference-controller-manager"};
    inference.crds = {crd("inference.sagemaker.aws.amazon.com", "InferenceEndpointConfig",
                          "inferenceendpointconfigs", false, {"v1alpha1", "v1"}),
                      crd("inference.sagemaker.aws.amazon.com", "JumpStartModel", "jumpstartmodels", false,
                          {"v1alpha1", "v1"}),
                      crd("inference.sagemaker.aws.amazon.com", "SageMakerEndpointRegistration",
                          "sagemakerendpointregistrations", false, {"v1alpha1", "v1"})};
    // The add-on brings a load balancer controller and KEDA of its own.
    inference.deployments = {"hyperpod-inference-controller-manager", "aws-load-balancer-controller",
                             "keda-operator", "keda-operator-metrics-apiserver", "keda-admission-webhooks"};
    inference.service_accounts = {"hyperpod-inference-controller-manager", "aws-load-balancer-controller",
                                  "keda-operator", "keda-metrics-server", "keda-webhook"};
    inference.optional_deployments = {{"aws-load-balancer-controller", "alb"},
                                      {"keda-operator", "keda"},
                                      {"keda-operator-metrics-apiserver", "keda"},
                                      {"keda-admission-webhooks", "keda"}};
    inference.api_service = "v1beta1.external.metrics.k8s.io";
    inference.api_service_by = "keda-operator-metrics-apiserver";
    inference.needs_crds = {"certificates.cert-manager.io", "certificaterequests.cert-manager.io"};
    inference.needs_csi_drivers = {"s3.csi.aws.com", "fsx.csi.aws.com"};
    for (const bool mutating : {false, true}) {
        inference.webhooks.push_back(
            webhook("hyperpod-inference-webhook", "inferenceendpointconfig.sagemaker.io", mutating,
                    "hyperpod-inference-webhook-service", "hyperpod-inference-controller-manager",
                    "inference.sagemaker.aws.amazon.com", "*"));
    }
    return inference;
}

void add_hyperpod(std::vector<Addon>& list) {
    Addon training = make("amazon-sagemaker-hyperpod-training-operator", "ml", "aws-hyperpod",
                          {"v1.1.0-eksbuild.1", "v1.2.1-eksbuild.1"});
    training.deployments = {"hp-training-operator-controller-manager"};
    training.service_accounts = {"hp-training-operator-controller-manager"};
    training.crds = {crd("sagemaker.amazonaws.com", "HyperPodPyTorchJob", "hyperpodpytorchjobs")};
    training.needs_crds = {"certificates.cert-manager.io", "issuers.cert-manager.io"};
    training.needs_association = "hp-training-operator-controller-manager";
    training.needs_action = "sagemaker:DescribeClusterNode";
    for (const bool mutating : {false, true}) {
        training.webhooks.push_back(webhook("hp-training-operator-webhook", "hyperpodpytorchjob.sagemaker.io",
                                            mutating, "hp-training-operator-webhook-service",
                                            "hp-training-operator-controller-manager",
                                            "sagemaker.amazonaws.com", "hyperpodpytorchjobs"));
    }
    list.push_back(training);
    list.push_back(inference_operator());
    Addon governance = make("amazon-sagemaker-hyperpod-taskgovernance", "ml", "kueue-system",
                            {"v1.2.0-eksbuild.1", "v1.3.0-eksbuild.1"});
    governance.deployments = {"kueue-controller-manager"};
    governance.service_accounts = {"kueue-controller-manager"};
    const std::string kueue = "kueue.x-k8s.io";
    governance.crds = {crd(kueue, "ClusterQueue", "clusterqueues", true, {"v1beta1"}),
                       crd(kueue, "LocalQueue", "localqueues", false, {"v1beta1"}),
                       crd(kueue, "ResourceFlavor", "resourceflavors", true, {"v1beta1"}),
                       crd(kueue, "Workload", "workloads", false, {"v1beta1"}),
                       crd(kueue, "WorkloadPriorityClass", "workloadpriorityclasses", true, {"v1beta1"}),
                       crd(kueue, "AdmissionCheck", "admissionchecks", true, {"v1beta1"}),
                       crd(kueue, "Topology", "topologies", true, {"v1alpha1"})};
    governance.webhooks = {
        webhook("kueue-mutating-webhook-configuration", "mdeployment.kb.io", true, "kueue-webhook-service",
                "kueue-controller-manager", "apps", "deployments"),
        webhook("kueue-validating-webhook-configuration", "vworkload.kb.io", false, "kueue-webhook-service",
                "kueue-controller-manager", kueue, "workloads")};
    list.push_back(governance);
    Addon eyes = make("amazon-sagemaker-hyperpod-observability", "ml", "hyperpod-observability",
                      {"v1.0.2-eksbuild.1", "v1.0.4-eksbuild.1"});
    eyes.daemon_sets = {"hyperpod-observability-node-exporter"};
    eyes.deployments = {"hyperpod-observability-controller-manager"};
    eyes.service_accounts = {"hyperpod-observability-operator-otel-collector"};
    eyes.needs_permissions = true;
    eyes.pod_identity_account = "hyperpod-observability-operator-otel-collector";
    list.push_back(eyes);
    Addon spaces = make("amazon-sagemaker-spaces", "ml", "jupyter-k8s-system", {"v0.1.0-eksbuild.1"});
    spaces.deployments = {"jupyter-k8s-controller-manager"};
    list.push_back(spaces);
}

std::vector<Addon> build() {
    std::vector<Addon> list;
    add_networking(list);
    add_storage(list);
    add_community(list);
    add_hyperpod(list);
    return list;
}

}  // namespace

const std::vector<Addon>& addon_catalogue() {
    static const std::vector<Addon> list = build();
    return list;
}

const Addon* find_addon(std::string_view name) {
    for (const Addon& addon : addon_catalogue()) {
        if (addon.name == name) return &addon;
    }
    return nullptr;
}

std::vector<std::string> addon_versions(const Addon& addon, std::string_view kubernetes_version) {
    if (addon.name != "kube-proxy") return addon.versions;
    std::vector<std::string> versions;
    versions.reserve(addon.versions.size());
    for (const std::string& build : addon.versions)
        versions.push_back("v" + std::string(kubernetes_version) + ".5-" + build);
    return versions;
}

std::string default_addon_version(const Addon& addon, std::string_view kubernetes_version) {
    return addon.name == "kube-proxy" ? addon_versions(addon, kubernetes_version).front()
                                      : addon.default_version;
}

}  // namespace instantstart::twin::eks
