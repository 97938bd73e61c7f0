// Steps that make IAM roles with their policies.
#pragma once

#include <string>
#include <vector>

#include "flows/step_kit.h"

namespace instantstart::flows {

struct RolePlan {
    RolePlan() = default;
    RolePlan(std::string id, std::string title, std::string purpose)
        : id(std::move(id)), title(std::move(title)), purpose(std::move(purpose)) {}
    std::string id, title;
    std::string purpose;  // last part of the role's name
    std::vector<std::string> needs;
    std::string service;  // trusted AWS service, or
    std::string
        service_account;  // "namespace:name" trusted through the cluster's OIDC provider (needs step "eks")
    std::vector<std::string> managed;  // names of AWS's managed policies
    std::string inline_kind;           // "execution", "bucket"
    std::string inline_name;
    std::string bucket;  // for "bucket": its name; "@step.key" is filled in
};
// iam:CreateRole; args: {"purpose" or "role_name"; "service", "service_account" or "trust" (the document);
// "step" (value of the step tag; the step's own id where left out)}.
JsonObject role_request(const StepCall& call, const JsonObject& args);
// The bodies of the two steps, for others that bring a role as part of something larger. `args` as above,
// with "managed" (names of AWS's policies), "inline_name" and "inline_document" for the policies.
Task<Observation> observe_role(Clusters& env, StepCall call, JsonObject args);
Task<JsonObject> act_role(Clusters& env, StepCall call, JsonObject args);
Task<Observation> observe_policies(Clusters& env, StepCall call, JsonObject args);
Task<JsonObject> act_policies(Clusters& env, StepCall call, JsonObject args);
// Whether two policy documents say the same; IAM gives them percent-encoded.
bool same_document(std::string seen, const std::string& wanted);

// Adds "<id>" (result: arn, name) and "<id>_policies".
void add_role(Steps& steps, RolePlan plan);

}  // namespace instantstart::flows
