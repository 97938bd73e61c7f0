// The ARNs that iam-policy is given: whole, of the right kind, and of the account, region and partition that
// the policy is limited to. IAM itself takes any text as a resource, which then allows nothing, or too much.
#pragma once

#include <string>

#include "server/options.h"

namespace instantstart::server {

struct FlagFault {
    FlagFault() = default;
    std::string flag, message;  // "--kms-key", "must be …"; both "" where all is well
};

// The first fault; `region` is --region.
FlagFault policy_flags_fault(const PolicyFlags& policy, const std::string& region);

}  // namespace instantstart::server
