// The statements of the policy that the product prints, and which of them allows a given action: the second
// half of models/iam-actions.json. The printer (server/iam_policy) emits those whose actions the operations
// use; the error of a refused call names the one that was missing (app/denial).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::aws::model {

// One statement as the table has it: texts may hold {partition}, {region}, {account}, {execution_role} and
// {kms_key}.
struct PolicyStatement {
    PolicyStatement() = default;
    std::string sid;      // stable, at most 20 letters
    std::string purpose;  // what it is for, as the end of "to …"
    std::vector<std::string> actions, resources;
    base::JsonObject condition;
    bool bound_roles = false;  // demands iam:PermissionsBoundary where one is configured
    std::string only_with;     // the flag without which it is not printed; "" = always
};
const std::vector<PolicyStatement>& policy_statements();

// What a policy is limited to. What is empty is not limited: "*" in an ARN, and no condition.
struct PolicyLimits {
    PolicyLimits() = default;
    std::string partition = "aws", region, account;
    std::string permissions_boundary;          // ARN that every role made must carry
    std::vector<std::string> execution_roles;  // ARNs of given roles that HyperPod's nodes may get
    std::vector<std::string> kms_keys;         // ARNs of the user's own keys
    bool custom_images = false;
};

bool is_printed(const PolicyStatement& statement, const PolicyLimits& limits);
// {"Sid", "Effect", "Action", "Resource", "Condition"?} of some of its actions. A text whose {kms_key} or
// {execution_role} has no value is left out; so may all be.
base::JsonObject statement_json(const PolicyStatement& statement, const std::vector<std::string>& actions,
                                const PolicyLimits& limits);
// The statements that allow an action on a resource. `operation` ("eks:CreateCluster", "" where not known)
// tells which service a role is passed to. More than one where tags of the resource decide that nobody here
// can see. Where none covers the resource, those that have the action: the resource is then outside of what
// the policy allows. Empty where no statement has the action.
std::vector<const PolicyStatement*> statements_for(std::string_view action, std::string_view resource,
                                                   std::string_view operation);
// Whether its resources, without any limits, cover this one.
bool covers(const PolicyStatement& statement, std::string_view resource);

// `*` and `?` as in policies; case matters.
bool matches_pattern(std::string_view pattern, std::string_view text);

}  // namespace instantstart::aws::model
