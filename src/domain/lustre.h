// What a file system of FSx for Lustre and its clients must let through: TCP 988 and 1018 to 1023 in both
// directions (AWS's guide, "file system access control with Amazon VPC"). Pure: over EC2's own descriptions
// of security groups.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace instantstart::domain {

// One side of the traffic: the security groups of its interfaces and the range of its subnet.
struct LustreSide {
    LustreSide() = default;
    std::vector<std::string> groups;
    std::string cidr;  // "10.0.16.0/20"; "" where not known
};

// A rule that `group` lacks: ingress of these TCP ports from `peer`.
struct LustreRule {
    LustreRule() = default;
    std::string group, peer;
    std::int64_t from = 0, to = 0;
    bool operator==(const LustreRule&) const = default;
};

// What is missing for nodes to mount the file system; empty where all of it gets through. A side lets a port
// in where any of its groups does. `descriptions`: EC2's security groups, at least those of both sides.
std::vector<LustreRule> missing_lustre_rules(const base::JsonArray& descriptions,
                                             const LustreSide& file_system, const LustreSide& nodes);

// As EC2's IpPermissions: one for each range of ports.
base::JsonArray lustre_permissions(const std::string& peer);

}  // namespace instantstart::domain
