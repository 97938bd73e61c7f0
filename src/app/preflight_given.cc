// Preflight of a subnet and security groups that the request names, instead of those that are provided.
#include <algorithm>

#include "app/preflight.h"
#include "app/schema.h"
#include "domain/instance_type.h"

namespace instantstart::app {

namespace {

bool lets_itself(const JsonValue& group, const char* permissions) {
    const auto own = base::get_string(group, "GroupId");
    for (const auto& permission : base::get_array(group, permissions)) {
        if (base::get_string(permission, "IpProtocol") != "-1") continue;
        for (const auto& pair : base::get_array(permission, "UserIdGroupPairs")) {
            if (base::get_string(pair, "GroupId") == own) return true;
        }
    }
    return false;
}

bool has_efa(const domain::InstanceGroup& group) {
    const auto types = group.types();
    return std::any_of(types.begin(), types.end(), [](const std::string& name) {
        const auto* type = domain::find_instance_type(name);
        return type != nullptr && type->efa_interfaces > 0;
    });
}

// EFA's health checks fail long after the creation where no group lets all traffic to and from itself
// through: a rule for 0.0.0.0/0 does not count.
Task<void> check_given_groups(Call call, domain::InstanceGroup group, std::string at, std::string vpc,
                              Findings& found) {
    const auto pointer = at + "/security_group_ids";
    JsonArray ids;
    for (const auto& id : *group.security_group_ids) ids.emplace_back(id);
    JsonObject parameters{{"GroupIds", std::move(ids)}};
    auto groups = co_await call.services->aws.collect(call.context, "ec2", "DescribeSecurityGroups",
                                                      std::move(parameters));
    if (!groups && !groups.error().code.starts_with("InvalidGroup")) {
        if (groups.error().kind == base::ErrorKind::cancelled) co_return std::move(groups).error();
        found.warnings.push_back("could not look at the security groups: " + groups.error().message);
        co_return base::ok();
    }
    if (!groups) {
        found.faults.push_back(fault(pointer, "cannot be found: " + groups.error().message));
        co_return base::ok();
    }
    bool open = false;
    for (const auto& row : *groups) {
        if (base::get_string(row, "VpcId") != vpc) {
            found.faults.push_back(
                fault(pointer, base::get_string(row, "GroupId") + " is not of the subnet's VPC " + vpc));
        }
        open = open || (lets_itself(row, "IpPermissions") && lets_itself(row, "IpPermissionsEgress"));
    }
    if (has_efa(group) && !open) {
        found.faults.push_back(fault(
            pointer,
            "none of them lets all traffic to and from itself through, which EFA needs: add a rule with "
            "protocol -1 and the group itself as peer, for ingress and for egress"));
    }
    co_return base::ok();
}

}  // namespace

Task<void> check_given_subnet(Call call, domain::InstanceGroup group, std::string at, Findings& found) {
    JsonObject parameters{{"SubnetIds", JsonArray{JsonValue(*group.subnet_id)}}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    const auto pointer = at + "/subnet_id";
    if (!subnets && !subnets.error().code.starts_with("InvalidSubnetID")) {
        if (subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
        found.warnings.push_back("could not look at " + *group.subnet_id + ": " + subnets.error().message);
        co_return base::ok();
    }
    if (!subnets || subnets->empty()) {
        found.faults.push_back(fault(pointer, "no such subnet"));
        co_return base::ok();
    }
    const auto zone = base::get_string(subnets->front(), "AvailabilityZone");
    const auto free = base::get_int(subnets->front(), "AvailableIpAddressCount");
    const auto each = domain::addresses_per_node(group), needed = each * group.count;
    if (zone != group.zone)
        found.faults.push_back(fault(pointer, "is in " + zone + ", the group in " + group.zone));
    found.addresses.push_back(JsonObject{{"subnet", *group.subnet_id},
                                         {"zone", zone},
                                         {"free", free},
                                         {"needed", needed},
                                         {"figures", std::to_string(each) + " a node of " + group.name}});
    if (needed > free) {
        found.faults.push_back(fault(pointer, "has " + std::to_string(free) + " free addresses, " +
                                                  std::to_string(needed) + " may be needed (" +
                                                  std::to_string(each) +
                                                  " a node): choose a larger subnet or a lower count"));
    }
    if (group.security_group_ids) {
        co_return co_await check_given_groups(call, group, at, base::get_string(subnets->front(), "VpcId"),
                                              found);
    }
    co_return base::ok();
}

}  // namespace instantstart::app
