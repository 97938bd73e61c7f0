// Denials: an AWS call that the account's policies refused, in words that say which action is missing on
// which resource, and which statement of the policy that `instantstart iam-policy` prints would allow it.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace instantstart::app {

// What refused. All but `identity` cannot be healed by the printed policy.
enum class DeniedBy : std::uint8_t {
    identity,       // no identity-based policy allows it, or nothing is known
    explicit_deny,  // a Deny of an identity-based policy
    boundary,       // the permissions boundary of the caller
    organisation,   // a service or resource control policy
    session,        // the session policy
    endpoint,       // the policy of a VPC endpoint
    resource,       // the policy of the bucket, key or other resource
};

struct Denial {
    Denial() = default;
    std::string action;    // "ec2:CreateVpc"
    std::string resource;  // an ARN; "" where the action has no resource level or AWS does not say
    std::string caller;    // the ARN that AWS names; ""
    DeniedBy by = DeniedBy::identity;
};

// Read from AWS's text ("User: … is not authorized to perform: … on resource: … because …"). Where EC2 gives
// an encoded text only, from the call itself (extra "aws_operation"). nullopt for errors that are no refusal
// by policies (expired or unknown keys, Kubernetes).
std::optional<Denial> read_denial(const base::Error& error);

// The same error with code aws_access_denied, a hint, and further members of the problem document:
// `missing_action`, `resource`, `statement` (the Sid, or "A or B" where tags decide) and `policy` (a document
// that would allow it); errors that are no denial are left as they are.
base::Error explain_denial(base::Error error);

}  // namespace instantstart::app
