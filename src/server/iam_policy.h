// The least-privilege IAM policy of the product: what its operations use, by the table of actions and
// statements (models/iam-actions.json). docs/iam-policy.md argues every statement.
#pragma once

#include <string>
#include <vector>

#include "app/catalogue.h"
#include "aws/model/iam_statements.h"

namespace instantstart::server {

// IAM's limits, in characters that are no white space: of a managed policy, of all inline policies of a role.
constexpr std::size_t kManagedPolicyLimit = 6144;
constexpr std::size_t kInlinePolicyLimit = 10240;

struct PolicyOptions {
    PolicyOptions() = default;
    aws::model::PolicyLimits limits;
    bool read_only = false;  // what queries use, and no more
};

// Every AWS operation that the catalogue uses ("ec2:CreateVpc"), sorted, each once.
std::vector<std::string> used_aws_operations(const app::Catalogue& catalogue, bool read_only = false);
// Every IAM action that those need, dependent ones included, sorted, each once.
std::vector<std::string> needed_actions(const app::Catalogue& catalogue, bool read_only = false);

// The whole policy as one document.
base::JsonObject iam_policy(const app::Catalogue& catalogue, const PolicyOptions& options = {});
// The same statements, each whole, in as many documents as managed policies are needed.
std::vector<base::JsonObject> managed_policies(const app::Catalogue& catalogue, const PolicyOptions& options);
// A CloudFormation template of those, which takes the roles that get them as a parameter.
base::JsonObject policy_template(const app::Catalogue& catalogue, const PolicyOptions& options);

// The parameters of iam:SimulatePrincipalPolicy (but for the principal) that ask for each statement whether
// it is allowed: its actions on its resources, with values that meet its condition. `Sid` names it.
std::vector<base::JsonObject> policy_questions(const app::Catalogue& catalogue, const PolicyOptions& options);

// Characters of a document as IAM counts them.
std::size_t policy_size(const base::JsonObject& document);

}  // namespace instantstart::server
