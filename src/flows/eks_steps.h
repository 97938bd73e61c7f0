// Steps of the EKS control plane: the cluster, who may enter, its OIDC provider and its add-ons.
#pragma once

#include <string>
#include <vector>

#include "flows/step_kit.h"

namespace instantstart::flows {

// eks:CreateCluster and CreateAccessEntry, from the flow's parameters and the results of the steps before.
JsonObject eks_request(const StepCall& call, JsonArray subnets);
JsonObject access_request(const StepCall& call, std::string principal);

// "eks" (made, after role and network) with access entries, "kubernetes_access" and "oidc_provider".
void add_eks(Steps& steps, const JsonObject& params);
// "eks" in flows that use an existing cluster: result {arn, endpoint, issuer, cluster_security_group_id,
// vpc_id, version}.
void add_find_eks(Steps& steps);
// "access_<n>", "access_<n>_policy" for each of params.principals, then "kubernetes_access": the API server
// lets us in.
void add_access(Steps& steps, const JsonObject& params);
void add_oidc(Steps& steps);
// What step "eks" says of a cluster, from EKS's description.
JsonObject eks_facts(const JsonObject& cluster);
// ARN of the cluster's OIDC provider, by the issuer that step "eks" gave.
std::string provider_arn(const StepCall& call);

// Subnets for the control plane: those of the plan, or what took their place (`just_moved` by index, which
// EC2 may not show yet).
Task<JsonArray> control_subnets(Clusters& env, StepCall call, JsonObject just_moved);
// After an UnsupportedAvailabilityZoneException: subnets in zones that EKS named as valid, by index; the
// refusal itself where there are no two such zones, or where the subnets were given.
Task<JsonObject> move_control_subnets(Clusters& env, StepCall call, base::Error refusal);
// `now` with zones of `valid` in the place of those that are not; {} where `valid` has too few.
std::vector<std::string> pair_of_valid_zones(const std::vector<std::string>& now,
                                             const std::vector<std::string>& valid);

// What EKS says is wrong with an add-on: "AdmissionRequestDenied: …"; "" where nothing is.
std::string issue_text(const JsonObject& addon);

// An add-on that failed is made once more from the ground up, in every attempt of its operation: whether that
// was done in this one. What `act_addon` returns remembers it.
bool is_remade(const StepCall& call);

struct AddonPlan {
    AddonPlan() = default;
    AddonPlan(std::string id, std::string name, std::vector<std::string> needs)
        : id(std::move(id)), name(std::move(name)), needs(std::move(needs)) {}
    std::string id;    // component id and step id: "vpc_cni"
    std::string name;  // the add-on's: "vpc-cni"
    std::vector<std::string> needs;
    std::string role_arn;       // "@s3_role.arn"; "" = none
    std::string configuration;  // JSON text
    bool needs_nodes = false;   // its pods are Deployments: without nodes it waits, and that is well
};
void add_addon(Steps& steps, AddonPlan plan);
// The bodies of that step, for others that bring an add-on as part of something larger. args: id (value of
// the step tag), name, role_arn, configuration, needs_nodes; exact: the configuration is ours alone, another
// one is a drift.
Task<Observation> observe_addon(Clusters& env, StepCall call, JsonObject args);
// What EKS's description (`addon`, {} for none) says of it.
Task<Observation> judge_addon(Clusters& env, StepCall call, JsonObject args, JsonObject addon);
Task<JsonObject> act_addon(Clusters& env, StepCall call, JsonObject args);
// EKS's description; {} where there is no such add-on.
Task<JsonObject> describe_addon(Clusters& env, StepCall call, std::string name);
// Whether the cluster has a Ready node.
Task<bool> has_nodes(Clusters& env, StepCall call);
// "<id>_settled": waits, once nodes are there, until the add-on is ACTIVE.
void add_addon_settled(Steps& steps, const AddonPlan& plan, std::vector<std::string> needs);

// The version that AWS recommends for that Kubernetes version; not_found where the add-on is not offered
// here.
Task<std::string> recommended_addon_version(Clusters& env, Context context, std::string addon,
                                            std::string kubernetes_version);

}  // namespace instantstart::flows
