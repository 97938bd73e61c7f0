// Preflight: what would make AWS refuse later, found before the first mutating call. A fault names the field,
// the figure and the way out; a look-up that fails is a warning.
#pragma once

#include <string>
#include <vector>

#include "app/cluster_inputs.h"
#include "domain/zones.h"

namespace instantstart::app {

struct Findings {
    Findings() = default;
    std::vector<base::FieldError> faults;
    std::vector<std::string> warnings;
    JsonArray quota;  // rows of the plan
};

Task<std::vector<domain::Zone>> list_zones(Call call);

// Groups: their own rules, zones, offerings, quotas over all clusters, addresses of given subnets, pods per
// node. `at` is
// "/instance_groups", or "" for the one group that is the body.
Task<Findings> check_instance_groups(Call call, std::vector<domain::InstanceGroup> groups, std::string at,
                                     std::vector<std::string> taken, bool with_s3);
// Quotas of what a new cluster makes: VPC, address, NAT and internet gateway.
Task<Findings> check_network_quotas(Call call);

// {"name", "limit", "used", "free"} of the quotas with these names; used is known for cluster usage only.
struct Usage {
    Usage() = default;
    std::map<std::string, std::int64_t> by_type;  // instance type → wanted over all HyperPod clusters
};
Task<Usage> hyperpod_usage(Call call);
Task<std::map<std::string, double>> quota_limits(Call call, std::string service);

}  // namespace instantstart::app
