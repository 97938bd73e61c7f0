// Trust and permission policies of the roles that the product makes, as JSON documents.
#pragma once

#include <string>

#include "base/json.h"

namespace instantstart::domain {

struct PolicyScope {
    PolicyScope() = default;
    std::string partition = "aws", account, region, cluster;
    std::string eks_cluster_arn() const;
};

// Trust for an AWS service ("eks.amazonaws.com"), limited to this account by aws:SourceAccount where
// `confused_deputy`.
std::string service_trust(const PolicyScope& scope, const std::string& service, bool confused_deputy);
// Trust for EKS Pod Identity, limited to this account and cluster.
std::string pod_identity_trust(const PolicyScope& scope);
// Trust for one service account by the cluster's OIDC issuer (without "https://").
std::string oidc_trust(const PolicyScope& scope, const std::string& issuer,
                       const std::string& service_account);
// What nodes need beyond AWS's managed instance policy: the CNI's network calls, images, pod identity.
std::string execution_role_policy(const PolicyScope& scope);
// Read and write of one bucket, for Mountpoint.
std::string bucket_access_policy(const PolicyScope& scope, const std::string& bucket);
// Bucket policy: refuse plain-text requests.
std::string tls_only_bucket_policy(const PolicyScope& scope, const std::string& bucket);
std::string managed_policy_arn(const PolicyScope& scope, const std::string& name);

}  // namespace instantstart::domain
