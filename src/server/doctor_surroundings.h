// The doctor's look at the way to AWS: credentials and what was tried, endpoints, proxies, authorities, the
// clock.
#pragma once

#include <vector>

#include "aws/client.h"
#include "http/transport.h"
#include "server/doctor_checks.h"

namespace instantstart::server {

// Adds a finding each. `settings` are those of `transport`. False where there are no credentials: then
// nothing else can be asked of the account.
rt::Task<bool> check_surroundings(aws::Client& client, http::Transport& transport, rt::Clock& clock,
                                  http::TransportSettings settings, std::vector<Finding>& findings);

}  // namespace instantstart::server
