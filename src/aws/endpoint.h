// Where a call goes and for which region it is signed.
#pragma once

#include <string>

#include "aws/model/model.h"
#include "aws/profile.h"
#include "base/result.h"
#include "http/message.h"

namespace instantstart::aws {

struct Endpoint {
    Endpoint() = default;
    std::string scheme = "https", host, base_path;  // base_path without a slash at its end
    std::uint16_t port = 0;
    std::string signing_region;
    bool is_address = false;  // an IP address or localhost: S3 buckets go into the path
};

std::string partition_of(const std::string& region);   // "aws", "aws-cn", "aws-us-gov"
std::string dns_suffix_of(const std::string& region);  // "amazonaws.com"

// The override that settings name for the service, "" for none: `fixed`, AWS_ENDPOINT_URL_<SERVICE_ID>,
// AWS_ENDPOINT_URL, the profile's endpoint_url.
std::string endpoint_override(const model::Service& service, const std::string& fixed,
                              const Environment& environment, const Profiles& profiles);

base::Result<Endpoint> resolve_endpoint(const model::Service& service, const std::string& region,
                                        const std::string& override_url);

// S3: moves the bucket from the path into the host's name where that works: not for addresses, nor for names
// with dots.
void use_virtual_host(Endpoint& endpoint, std::string& path, const std::string& bucket);

}  // namespace instantstart::aws
