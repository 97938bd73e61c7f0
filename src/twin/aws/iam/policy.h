// IAM policy documents: well-formedness and evaluation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::twin::iam {

enum class Effect : std::uint8_t { none, allow, deny };
enum class PolicyUse : std::uint8_t { identity, trust };

struct PolicyRequest {
    PolicyRequest() = default;
    std::string action;
    std::string resource;
    std::string principal;  // trust policies: "sagemaker.amazonaws.com" or an ARN
    std::map<std::string, std::vector<std::string>> context;  // condition keys in lower case
    void add(std::string_view key, std::string value);
};

// `*` and `?` as in policies.
bool wildcard_match(std::string_view pattern, std::string_view text, bool ignore_case = false);
// What is wrong with the document; nullopt where it is well formed.
std::optional<std::string> policy_fault(std::string_view text, PolicyUse use);
// What one document says. Documents are expected to be well formed; what is not says nothing.
Effect evaluate(const base::JsonValue& document, const PolicyRequest& request, PolicyUse use);
// Deny wins over allow.
Effect combine(Effect a, Effect b);
// Every principal of a trust policy that may assume the role: services, ARNs, federated ones, "*".
std::vector<std::string> trusted_principals(const base::JsonValue& document, std::string_view principal_type);

}  // namespace instantstart::twin::iam
