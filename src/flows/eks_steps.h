// Steps of the EKS control plane: the cluster, who may enter, its OIDC provider and its add-ons.
#pragma once

#include <string>
#include <vector>

#include "flows/step_kit.h"

namespace instantstart::flows {

// "eks" (made, after role and network) with access entries, "kubernetes_access" and "oidc_provider".
void add_eks(Steps& steps, const JsonObject& params);
// "eks" in flows that use an existing cluster: result {arn, endpoint, issuer, cluster_security_group_id,
// vpc_id, version}.
void add_find_eks(Steps& steps);
// "access_<n>", "access_<n>_policy" for each of params.principals, then "kubernetes_access": the API server
// lets us in.
void add_access(Steps& steps, const JsonObject& params);
void add_oidc(Steps& steps);

// Subnets for the control plane: those of the plan, or what took their place (`just_moved` by index, which
// EC2 may not show yet).
Task<JsonArray> control_subnets(Clusters& env, StepCall call, JsonObject just_moved);
// After an UnsupportedAvailabilityZoneException: subnets in zones that EKS named as valid, by index; the
// refusal itself where there are no two such zones, or where the subnets were given.
Task<JsonObject> move_control_subnets(Clusters& env, StepCall call, base::Error refusal);
// `now` with zones of `valid` in the place of those that are not; {} where `valid` has too few.
std::vector<std::string> pair_of_valid_zones(const std::vector<std::string>& now,
                                             const std::vector<std::string>& valid);

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
// "<id>_settled": waits, once nodes are there, until the add-on is ACTIVE.
void add_addon_settled(Steps& steps, const AddonPlan& plan, std::vector<std::string> needs);

// The version that AWS recommends for that Kubernetes version; not_found where the add-on is not offered
// here.
Task<std::string> recommended_addon_version(Clusters& env, Context context, std::string addon,
                                            std::string kubernetes_version);

}  // namespace instantstart::flows
