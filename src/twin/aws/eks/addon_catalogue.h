// The add-ons that the twin's EKS offers, and what each brings into the cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace instantstart::twin::eks {

struct Crd {
    std::string group, kind, plural;
    std::vector<std::string> versions = {"v1"};
    bool cluster_scope = false;
};

// What the API server asks before it takes an object; nothing answers while `deployment` does not run.
struct Webhook {
    std::string configuration, name;  // "cert-manager-webhook", "webhook.cert-manager.io"
    bool mutating = false;
    std::string service, deployment;
    std::string group, resource;  // what it judges
};

struct Addon {
    std::string name, type, owner, publisher, ns;
    std::vector<std::string> versions;  // oldest first; the default is `default_version`
    std::string default_version;
    std::vector<std::string> daemon_sets, deployments, service_accounts;
    std::int64_t replicas = 1;
    std::string csi_driver;
    std::vector<Crd> crds;
    bool needs_permissions = false;
    std::string pod_identity_account;  // the service account of an inline pod identity association
    std::vector<std::string> policies;
    std::vector<Webhook> webhooks;
    // Its objects cannot be made while one of these definitions is missing (CREATE_FAILED), and its pods do
    // not start while one of these CSI drivers or the association of that service account is (DEGRADED).
    std::vector<std::string> needs_crds, needs_csi_drivers;
    std::string needs_association;
    // What the role of that association must be allowed on the HyperPod cluster, which must have the tag
    // SageMaker=true: AWS's managed policy asks for it.
    std::string needs_action;
    // Deployments that a member of its configuration leaves out: {"keda-operator", "keda"} by keda.enabled.
    std::vector<std::pair<std::string, std::string>> optional_deployments;
    std::string api_service;  // "v1beta1.external.metrics.k8s.io", served by api_service_by
    std::string api_service_by;
};

const std::vector<Addon>& addon_catalogue();
const Addon* find_addon(std::string_view name);
// "v1.33.5-eksbuild.2" for kube-proxy follows the cluster; others are as in the catalogue, oldest first.
std::vector<std::string> addon_versions(const Addon& addon, std::string_view kubernetes_version);
std::string default_addon_version(const Addon& addon, std::string_view kubernetes_version);

}  // namespace instantstart::twin::eks
