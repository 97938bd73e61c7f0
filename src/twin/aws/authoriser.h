// Is this call allowed? Its own action and every dependent one (PassRole, tag-on-create, …) against the
// caller's policies.
#pragma once

#include <optional>

#include "twin/aws/keys.h"

namespace instantstart::twin {

// The refusal in the service's own words; nullopt where all is allowed.
std::optional<ServiceError> authorise(World& world, const Call& call);

}  // namespace instantstart::twin
