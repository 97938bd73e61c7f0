// IAM policy documents: well-formedness and evaluation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "twin/aws/world.h"

namespace instantstart::twin::iam {

enum class Effect : std::uint8_t { none, allow, deny };
enum class PolicyUse : std::uint8_t { identity, trust };

struct PolicyRequest {
    PolicyRequest() = default;
    std::string action;
    std::string resource;
    std::string principal;  // trust policies: "sagemaker.amazonaws.com" or an ARN
    std::map<std::string, std::vector<std::string>> context;  // condition keys in lower case
    // Values of keys that cost something to find (tags of the resource); asked once for a key that a policy
    // names and `context` lacks. Empty: there are none.
    std::function<std::vector<std::string>(const std::string& key)> look_up;
    void add(std::string_view key, std::string value);
    // Empty where the request has no such key.
    const std::vector<std::string>& values(std::string_view key) const;

private:
    mutable std::map<std::string, std::vector<std::string>> found_;
};

// What the policies of an identity say to a request, and which of them refuses.
enum class Verdict : std::uint8_t {
    allowed,
    not_allowed,      // no policy of the identity allows it
    denied,           // a policy of the identity denies it
    not_in_boundary,  // the permissions boundary does not allow it
    denied_by_boundary,
};

// Implemented by the IAM service.
class PolicyJudge {
public:
    virtual ~PolicyJudge() = default;
    virtual Verdict judge(const Identity& identity, PolicyRequest request) const = 0;
    // Tags of a role or OIDC provider, [] where there is none of that ARN.
    virtual JsonArray iam_tags(std::string_view arn) const = 0;
    // The permissions boundary of a role, "" where it has none.
    virtual std::string boundary_of(std::string_view role_arn) const = 0;
    // The ARN with the path that the role really has; the same text where there is no such role.
    virtual std::string real_arn(std::string_view role_arn) const = 0;
};

// `*` and `?` as in policies.
bool wildcard_match(std::string_view pattern, std::string_view text, bool ignore_case = false);
// Characters as IAM counts them: white space aside.
std::size_t solid_size(std::string_view text);
// What is wrong with the document; nullopt where it is well formed.
std::optional<std::string> policy_fault(std::string_view text, PolicyUse use);
// What one document says. Documents are expected to be well formed; what is not says nothing.
Effect evaluate(const base::JsonValue& document, const PolicyRequest& request, PolicyUse use);
// Deny wins over allow.
Effect combine(Effect a, Effect b);
// Every principal of a trust policy that may assume the role: services, ARNs, federated ones, "*".
std::vector<std::string> trusted_principals(const base::JsonValue& document, std::string_view principal_type);

}  // namespace instantstart::twin::iam
