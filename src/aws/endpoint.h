// Where a call goes and for which region it is signed: by data/endpoints.json, which
// tools/models/endpoints.py makes from botocore's rule sets, or by an address of the user's own.
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
    std::string url() const;
};

// What the user may switch on for all services together.
struct EndpointSwitches {
    EndpointSwitches() = default;
    bool fips = false, dual_stack = false;
};
// AWS_USE_FIPS_ENDPOINT and AWS_USE_DUALSTACK_ENDPOINT, or the profile's use_fips_endpoint,
// use_dualstack_endpoint.
EndpointSwitches endpoint_switches(const Environment& environment, const Profiles& profiles);

// "aws", "aws-cn", "aws-us-gov", …; a region that no partition knows is taken for one of "aws".
std::string partition_of(const std::string& region);
std::string dns_suffix_of(const std::string& region);  // "amazonaws.com"
// A region can stand in a host's name: lower-case letters, digits and inner hyphens.
bool is_region_name(const std::string& region);

// The override that settings name for the service, "" for none: `fixed`, AWS_ENDPOINT_URL_<SERVICE_ID>,
// AWS_ENDPOINT_URL, the profile's `services` section, the profile's endpoint_url. All but the first are
// passed over where AWS_IGNORE_CONFIGURED_ENDPOINT_URLS (or the profile's ignore_configured_endpoint_urls)
// says so.
base::Result<std::string> endpoint_override(const model::Service& service, const std::string& fixed,
                                            const Environment& environment, const Profiles& profiles);

// Error{invalid, "no_endpoint"} where the partition has none of that kind, or the override is not a URL.
base::Result<Endpoint> resolve_endpoint(const model::Service& service, const std::string& region,
                                        const std::string& override_url, EndpointSwitches switches = {});

// S3: moves the bucket from the path into the host's name where that works: not for addresses, nor for names
// with dots.
void use_virtual_host(Endpoint& endpoint, std::string& path, const std::string& bucket);

}  // namespace instantstart::aws
