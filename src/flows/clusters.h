// Clusters: which clusters are ours, how to reach their Kubernetes API, and what is known of them. Built once
// in server/; keeps short caches, which the product's own writes drop (`forget`).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "aws/client.h"
#include "http/transport.h"
#include "kube/client.h"
#include "store/store.h"

namespace instantstart::flows {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;
using rt::Context;
using rt::Task;

// Who the product is in the account.
struct Identity {
    Identity() = default;
    std::string account;
    std::string caller_arn;    // as STS says: an assumed-role session
    std::string role_arn;      // the IAM role behind it, with its path; the caller's ARN for a user
    std::string role_refusal;  // why IAM did not show the role: its ARN is then a guess, without a path
};

struct ClusterRef {
    ClusterRef() = default;
    std::string name;           // ours
    std::string eks_name;       // the EKS cluster's
    std::string hyperpod_name;  // the HyperPod cluster's, where known; else ""
    bool imported = false;
};

class Clusters {
public:
    Clusters(rt::Clock& clock, aws::Client& aws, store::Store& store, http::Transport& transport);
    ~Clusters();
    Clusters(const Clusters&) = delete;
    Clusters& operator=(const Clusters&) = delete;

    // By sts:GetCallerIdentity and iam:GetRole; kept once known.
    Task<Identity> identity(Context context);

    // Ours: EKS clusters that carry our tags, and the imported ones.
    Task<std::vector<ClusterRef>> list(Context context);
    // Error{not_found, "not_found"} where there is none, Error{conflict, "not_ours"} where EKS has one that
    // is not ours.
    Task<ClusterRef> find(Context context, std::string name);
    // The active cluster of a principal; "" where none was chosen.
    Task<std::string> active(Context context, std::string principal);
    Task<void> set_active(Context context, std::string principal, std::string name);
    // It is nobody's active cluster any more.
    Task<void> forget_active(Context context, std::string name);
    Task<void> remember_import(Context context, ClusterRef ref);
    Task<void> forget_import(Context context, std::string name);

    // EKS's description ({"cluster": …}'s inside), kept for 2 s. not_found where EKS has none.
    Task<JsonObject> eks(Context context, std::string eks_name);
    // The HyperPod cluster orchestrated by that EKS cluster: SageMaker's DescribeCluster, {} where there is
    // none; kept 2 s.
    Task<JsonObject> hyperpod(Context context, ClusterRef ref);
    // Client of the cluster's Kubernetes API.
    Task<std::shared_ptr<kube::Client>> kube(Context context, std::string eks_name);
    // The same of EKS's description: always the same client of the same cluster.
    base::Result<std::shared_ptr<kube::Client>> client_of(const JsonObject& eks);
    // Drops what is kept of a cluster, after a write.
    void forget(const std::string& eks_name);

    // Never answers from what is kept: what steps see they act upon.
    aws::Client& aws() { return aws_; }
    rt::Clock& clock() { return clock_; }
    store::Store& store() { return store_; }

private:
    struct Kept;
    rt::Clock& clock_;
    aws::Client& aws_;
    store::Store& store_;
    http::Transport& transport_;
    std::unique_ptr<Kept> kept_;
};

}  // namespace instantstart::flows
