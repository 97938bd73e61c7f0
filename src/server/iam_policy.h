// The least-privilege IAM policy of the product: what its operations use, by the table of actions.
#pragma once

#include <string>
#include <vector>

#include "app/catalogue.h"

namespace instantstart::server {

// Every AWS operation that the catalogue uses ("ec2:CreateVpc"), sorted, each once.
std::vector<std::string> used_aws_operations(const app::Catalogue& catalogue);
// The policy document. Statements are grouped by resource and condition.
base::JsonObject iam_policy(const app::Catalogue& catalogue);

}  // namespace instantstart::server
