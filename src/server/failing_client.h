// An AWS client that could not be made: every call says why. So the product starts and explains itself
// instead of ending.
#pragma once

#include <memory>

#include "aws/client.h"

namespace instantstart::server {

std::unique_ptr<aws::Client> make_failing_client(base::Error reason, std::string region);

}  // namespace instantstart::server
