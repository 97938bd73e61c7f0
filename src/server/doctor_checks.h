// The doctor's checks of an account, over the AWS client: credentials, region, clock, services, permissions,
// quotas.
#pragma once

#include <string>
#include <vector>

#include "aws/client.h"
#include "rt/clock.h"

namespace instantstart::server {

enum class FindingState : std::uint8_t { good, warn, failed };

struct Finding {
    Finding() = default;
    explicit Finding(std::string what) : what(std::move(what)) {}
    std::string what, seen, remedy;
    FindingState state = FindingState::good;
};

rt::Task<void> check_account(aws::Client& client, std::vector<Finding>& findings);

}  // namespace instantstart::server
