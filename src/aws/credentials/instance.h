// Credentials from the instance metadata service, version 2 only: without a session token it is not asked.
#pragma once

#include "aws/credentials.h"

namespace instantstart::aws {

bool is_instance_metadata_off(const Environment& environment);
// Settings: AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE (IPv4, IPv6),
// AWS_METADATA_SERVICE_TIMEOUT (seconds), AWS_METADATA_SERVICE_NUM_ATTEMPTS, and the profile's keys of those
// names.
Task<Credentials> from_instance(Context context, const SourceNeeds& needs, Profiles profiles);

}  // namespace instantstart::aws
