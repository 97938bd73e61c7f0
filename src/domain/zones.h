// Zones of a region: which may hold a control plane, which a NAT gateway, from EC2's description of them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace instantstart::domain {

struct Zone {
    Zone() = default;
    std::string name, id;  // "us-west-2a", "usw2-az1"
    bool usable = false;   // an opted-in availability zone (no local or wavelength zone) that is available
    bool control_plane = false;  // EKS accepts subnets there
};

// From the AvailabilityZones of DescribeAvailabilityZones, sorted by name.
std::vector<Zone> zones_from(const base::JsonArray& availability_zones);
const Zone* find_zone(const std::vector<Zone>& zones, std::string_view name);
std::vector<std::string> names_of(const std::vector<Zone>& zones);

}  // namespace instantstart::domain
