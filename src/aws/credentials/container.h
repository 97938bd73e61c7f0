// Credentials from a container's endpoint: ECS (a path at 169.254.170.2) and EKS Pod Identity (a URL, with a
// token in a file that is renewed while we run).
#pragma once

#include "aws/credentials.h"

namespace instantstart::aws {

bool has_container_endpoint(const Environment& environment);
Task<Credentials> from_container(Context context, const SourceNeeds& needs);

}  // namespace instantstart::aws
