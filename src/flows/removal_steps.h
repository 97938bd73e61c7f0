// Steps that remove: everything of a cluster that carries its tags, in the order in which AWS lets it go; and
// the steps of an import, which make little. A removal's `absent` means "still there: act".
#pragma once

#include "flows/step_kit.h"

namespace instantstart::flows {

// params: cluster, eks_cluster, hyperpod_name, imported, delete_buckets, bucket; where they are known also
// kept_vpc and kept_workspace (given ones) and prometheus_unseen (why no workspace can be looked for).
void add_cluster_removal(Steps& steps, const JsonObject& params);
void add_hyperpod_removal(Steps& steps);
void add_import(Steps& steps, const JsonObject& params);

// Parts of it, by service.
void add_hyperpod_gone(Steps& steps, std::vector<std::string> needs);
void add_shown(Steps& steps);  // params: last_operation_ended (a time; absent where there was none)
void add_workloads_gone(Steps& steps);
void add_eks_gone(Steps& steps);
void add_managed_gone(Steps& steps);  // MLflow and Prometheus workspaces
void add_network_gone(Steps& steps);
void add_roles_gone(Steps& steps, std::string id, std::vector<std::string> needs, std::string purpose);
// A role with all that is attached to it; one that is gone already is as good.
Task<void> remove_role(Clusters& env, StepCall call, std::string name);
// params.bucket with all its versions.
Task<void> empty_and_delete_bucket(Clusters& env, StepCall call);
void add_account_gone(Steps& steps);  // OIDC provider, roles, bucket, and what is kept

}  // namespace instantstart::flows
