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
};

const std::vector<Addon>& addon_catalogue();
const Addon* find_addon(std::string_view name);
// "v1.33.5-eksbuild.2" for kube-proxy follows the cluster; others are as in the catalogue, oldest first.
std::vector<std::string> addon_versions(const Addon& addon, std::string_view kubernetes_version);
std::string default_addon_version(const Addon& addon, std::string_view kubernetes_version);

}  // namespace instantstart::twin::eks
