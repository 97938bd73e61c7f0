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
// The same for checkpoints, with metrics of SageMaker's own namespaces.
std::string checkpoint_policy(const PolicyScope& scope, const std::string& bucket);
// Artifacts of MLflow: one prefix of one bucket.
std::string mlflow_policy(const PolicyScope& scope, const std::string& bucket, const std::string& prefix);
// Metrics into a Prometheus workspace, the given one or those with this cluster's tag, and HyperPod's logs.
std::string observability_policy(const PolicyScope& scope, const std::string& cluster,
                                 const std::string& workspace_arn);
// What managed Karpenter does with a HyperPod cluster: add nodes and take them away.
std::string autoscaling_policy(const PolicyScope& scope);
// Reads of CloudWatch's and Prometheus' metrics, for KEDA.
std::string metric_reader_policy(const PolicyScope& scope);
// What the AWS Load Balancer Controller's release lists; writes only on what carries its own tag where AWS
// can tell.
std::string load_balancer_policy(const PolicyScope& scope);
// Bucket policy: refuse plain-text requests.
std::string tls_only_bucket_policy(const PolicyScope& scope, const std::string& bucket);
// The statements of both in one document.
std::string joined_documents(const std::string& a, const std::string& b);
std::string managed_policy_arn(const PolicyScope& scope, const std::string& name);

}  // namespace instantstart::domain
