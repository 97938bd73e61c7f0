#include "server/policy_flags.h"

#include <regex>

#include "aws/endpoint.h"
#include "base/text.h"

namespace instantstart::server {

namespace {

// Wildcards match none of these.
constexpr const char* kBoundary =
    "arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9_+=,.@/-]*[A-Za-z0-9_+=,.@-]";
constexpr const char* kRole = "arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]*[A-Za-z0-9_+=,.@-]";
constexpr const char* kKey = "arn:aws[a-z-]*:kms:[a-z]{2,4}(-[a-z]+)+-[0-9]+:[0-9]{12}:key/[A-Za-z0-9-]+";

struct Place {
    Place() = default;
    std::string partition, region, account;
};

// "" where the ARN is of that place.
std::string place_fault(const std::string& arn, const Place& place) {
    const auto parts = base::split(arn, ':');
    if (parts[1] != place.partition && !place.partition.empty())
        return "is of the partition " + parts[1] + ", the policy of " + place.partition;
    if (!parts[3].empty() && parts[3] != place.region && !place.region.empty())
        return "is of the region " + parts[3] + ", the policy of " + place.region;
    // "aws" owns the managed policies that every account has.
    if (parts[4] != "aws" && parts[4] != place.account && !place.account.empty())
        return "is of the account " + parts[4] + ", the policy of " + place.account;
    return "";
}

FlagFault fault_of(const std::string& flag, const std::string& message) {
    FlagFault fault;
    fault.flag = flag;
    fault.message = message;
    return fault;
}

}  // namespace

FlagFault policy_flags_fault(const PolicyFlags& policy, const std::string& region) {
    Place place;
    place.region = region;
    place.account = policy.account;
    place.partition = policy.partition;
    const std::string of_region = region.empty() ? "" : aws::partition_of(region);
    if (place.partition.empty()) place.partition = of_region;
    if (!of_region.empty() && place.partition != of_region)
        return fault_of("--partition",
                        "must be " + of_region + ", which the region " + region + " is in; or leave it out");
    const auto check = [&place](const std::string& flag, const std::string& arn, const char* pattern,
                                const std::string& words) {
        if (!std::regex_match(arn, std::regex(pattern)))
            return fault_of(flag, "must be the whole ARN of " + words + ", without wildcards: " + arn);
        const auto fault = place_fault(arn, place);
        return fault.empty() ? FlagFault() : fault_of(flag, arn + " " + fault);
    };
    FlagFault found;
    if (!policy.permissions_boundary.empty())
        found = check("--permissions-boundary", policy.permissions_boundary, kBoundary,
                      "a managed policy (arn:aws:iam::ACCOUNT:policy/NAME)");
    for (const auto& arn : policy.execution_roles) {
        if (found.flag.empty())
            found = check("--execution-role", arn, kRole, "a role (arn:aws:iam::ACCOUNT:role/NAME)");
    }
    for (const auto& arn : policy.kms_keys) {
        if (found.flag.empty())
            found = check("--kms-key", arn, kKey, "a key (arn:aws:kms:REGION:ACCOUNT:key/ID)");
    }
    return found;
}

}  // namespace instantstart::server
