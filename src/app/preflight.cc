#include "app/preflight.h"

#include <algorithm>
#include <set>

#include "app/schema.h"
#include "domain/instance_type.h"

namespace instantstart::app {

Task<std::vector<domain::Zone>> list_zones(Call call) {
    JsonObject parameters{{"AllAvailabilityZones", false}};
    CO_TRY(auto answer, co_await call.services->aws.call(call.context, "ec2", "DescribeAvailabilityZones",
                                                         std::move(parameters)));
    co_return domain::zones_from(base::get_array(answer, "AvailabilityZones"));
}

Task<Usage> hyperpod_usage(Call call) {
    auto& aws = call.services->aws;
    CO_TRY(auto clusters, co_await aws.collect(call.context, "sagemaker", "ListClusters", JsonObject{}));
    Usage usage;
    for (const auto& summary : clusters) {
        JsonObject parameters{{"ClusterName", base::get_string(summary, "ClusterName")}};
        auto cluster = co_await aws.call(call.context, "sagemaker", "DescribeCluster", std::move(parameters));
        if (!cluster) continue;
        for (const auto& group : base::get_array(*cluster, "InstanceGroups")) {
            const auto count =
                std::max(base::get_int(group, "TargetCount"), base::get_int(group, "CurrentCount"));
            usage.by_type[base::get_string(group, "InstanceType")] += count;
        }
    }
    co_return usage;
}

Task<std::map<std::string, double>> quota_limits(Call call, std::string service) {
    auto& aws = call.services->aws;
    std::map<std::string, double> limits;
    for (const char* operation :
         {"ListAWSDefaultServiceQuotas", "ListServiceQuotas"}) {  // applied values come second and win
        JsonObject parameters{{"ServiceCode", service}};
        CO_TRY(auto rows,
               co_await aws.collect(call.context, "service-quotas", operation, std::move(parameters)));
        for (const auto& row : rows) {
            const auto* value = base::find_path(row, "Value");
            if (value != nullptr && value->is_number())
                limits[base::get_string(row, "QuotaName")] = value->to_number<double>();
        }
    }
    co_return limits;
}

namespace {

using domain::InstanceGroup;

std::string at_of(const std::string& at, std::size_t index) {
    return at.empty() ? "" : at + "/" + std::to_string(index);
}

void check_zones(const std::vector<InstanceGroup>& groups, const std::string& at,
                 const std::vector<domain::Zone>& zones, Findings& found) {
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const auto* zone = domain::find_zone(zones, groups[index].zone);
        if (zone != nullptr && zone->usable) continue;
        found.faults.push_back(fault(at_of(at, index) + "/zone",
                                     "is no availability zone of this region that can be used",
                                     domain::names_of(zones), groups[index].zone));
    }
}

Task<std::set<std::string>> zones_offering(Call call, std::string type) {
    JsonObject parameters{{"LocationType", "availability-zone"},
                          {"Filters", JsonArray{JsonObject{{"Name", "instance-type"},
                                                           {"Values", JsonArray{JsonValue(type)}}}}}};
    CO_TRY(auto rows, co_await call.services->aws.collect(
                          call.context, "ec2", "DescribeInstanceTypeOfferings", std::move(parameters)));
    std::set<std::string> zones;
    for (const auto& row : rows) zones.insert(base::get_string(row, "Location"));
    co_return zones;
}

Task<void> check_offerings(Call call, std::vector<InstanceGroup> groups, std::string at, Findings& found) {
    for (std::size_t index = 0; index < groups.size(); ++index) {
        for (const auto& name : groups[index].types()) {
            const auto* type = domain::find_instance_type(name);
            if (type == nullptr) continue;
            auto zones = co_await zones_offering(call, type->ec2_name());
            if (!zones) {
                found.warnings.push_back("could not see where " + name +
                                         " is offered: " + zones.error().message);
                continue;
            }
            if (zones->contains(groups[index].zone)) continue;
            const std::vector<std::string> where(zones->begin(), zones->end());
            auto refused = fault(at_of(at, index) + "/zone",
                                 name + " is not offered in " + groups[index].zone +
                                     (where.empty() ? "; no zone of this region has it" : ""),
                                 where);
            found.faults.push_back(std::move(refused));
        }
    }
    co_return base::ok();
}

std::int64_t free_of(double limit, std::int64_t used) {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit) - used);
}

void judge_type(const std::string& type, std::int64_t needed, double limit, std::int64_t used,
                const std::string& pointer, Findings& found) {
    const auto free = free_of(limit, used);
    const auto name = type + " for cluster usage";
    found.quota.push_back(JsonObject{{"name", name},
                                     {"limit", static_cast<std::int64_t>(limit)},
                                     {"used", used},
                                     {"needed", needed},
                                     {"free", free}});
    if (needed <= free) return;
    found.faults.push_back(
        fault(pointer, "quota \"" + name + "\" has " + std::to_string(free) + " free of " +
                           std::to_string(static_cast<std::int64_t>(limit)) + " (" + std::to_string(used) +
                           " in use), " + std::to_string(needed) +
                           " are asked for: lower the count or ask for more in Service Quotas"));
}

Task<void> check_usage(Call call, std::vector<InstanceGroup> groups, std::string at, Findings& found) {
    auto usage = co_await hyperpod_usage(call);
    auto limits = co_await quota_limits(call, "sagemaker");
    if (!usage || !limits) {
        found.warnings.push_back("could not look quotas up: " +
                                 (usage ? limits.error().message : usage.error().message));
        co_return base::ok();
    }
    std::map<std::string, std::pair<std::int64_t, std::string>> needed;  // with the pointer of the last group
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const auto types = groups[index].types();
        if (types.empty()) continue;
        auto& row = needed[types.front()];
        row.first += groups[index].count;
        row.second = at_of(at, index) + "/count";
    }
    for (const auto& [type, need] : needed) {
        const auto limit = limits->find(type + " for cluster usage");
        if (limit == limits->end()) {
            found.warnings.push_back("no quota \"" + type + " for cluster usage\" was found");
            continue;
        }
        judge_type(type, need.first, limit->second, usage->by_type[type], need.second, found);
    }
    co_return base::ok();
}

Task<void> check_subnets(Call call, std::vector<InstanceGroup> groups, std::string at, Findings& found) {
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const auto needed = domain::addresses_per_node(groups[index]) * groups[index].count;
        if (!groups[index].subnet_id) {
            if (needed > 4091) {
                found.warnings.push_back("group " + groups[index].name + " may take " +
                                         std::to_string(needed) + " addresses, a /20 has 4091");
            }
            continue;
        }
        JsonObject parameters{{"SubnetIds", JsonArray{JsonValue(*groups[index].subnet_id)}}};
        auto subnets = co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets",
                                                           std::move(parameters));
        const auto pointer = at_of(at, index) + "/subnet_id";
        if (!subnets || subnets->empty()) {
            found.faults.push_back(fault(pointer, "no such subnet"));
            continue;
        }
        const auto zone = base::get_string(subnets->front(), "AvailabilityZone");
        const auto free = base::get_int(subnets->front(), "AvailableIpAddressCount");
        if (zone != groups[index].zone)
            found.faults.push_back(fault(pointer, "is in " + zone + ", the group in " + groups[index].zone));
        if (needed > free) {
            found.faults.push_back(fault(
                pointer, "has " + std::to_string(free) + " free addresses, " + std::to_string(needed) +
                             " may be needed (" + std::to_string(domain::addresses_per_node(groups[index])) +
                             " a node): choose a larger subnet or a lower count"));
        }
    }
    co_return base::ok();
}

void check_pods(const std::vector<InstanceGroup>& groups, bool with_s3, Findings& found) {
    for (const auto& group : groups) {
        for (const auto& name : group.types()) {
            const auto* type = domain::find_instance_type(name);
            if (type == nullptr) continue;
            const auto pods = domain::system_pods(name, with_s3);
            if (pods + 2 < type->max_pods) continue;
            found.warnings.push_back(name + " takes " + std::to_string(type->max_pods) +
                                     " pods a node, of which the system needs " + std::to_string(pods) +
                                     ": choose a larger type for further operators");
        }
    }
}

}  // namespace

Task<Findings> check_instance_groups(Call call, std::vector<InstanceGroup> groups, std::string at,
                                     std::vector<std::string> taken, bool with_s3) {
    Findings found;
    if (at.empty()) {
        found.faults = domain::check_group(groups.front(), "");
    } else {
        found.faults = domain::check_groups(groups, at, taken);
    }
    auto zones = co_await list_zones(call);
    if (zones) {
        check_zones(groups, at, *zones, found);
    } else {
        found.warnings.push_back("could not list zones: " + zones.error().message);
    }
    if (!found.faults.empty()) co_return found;
    CO_CHECK_OK(co_await check_offerings(call, groups, at, found));
    CO_CHECK_OK(co_await check_usage(call, groups, at, found));
    CO_CHECK_OK(co_await check_subnets(call, groups, at, found));
    check_pods(groups, with_s3, found);
    co_return found;
}

namespace {

struct NetworkQuota {
    NetworkQuota(std::string service, std::string name, std::string operation, std::string list)
        : service(std::move(service)),
          name(std::move(name)),
          operation(std::move(operation)),
          list(std::move(list)) {}
    std::string service, name, operation, list;
};

}  // namespace

Task<Findings> check_network_quotas(Call call) {
    const std::vector<NetworkQuota> rows{
        {"vpc", "VPCs per Region", "DescribeVpcs", "/network/vpc_id"},
        {"vpc", "Internet gateways per Region", "DescribeInternetGateways", "/network/vpc_id"},
        {"ec2", "EC2-VPC Elastic IPs", "DescribeAddresses", "/network/nat"}};
    Findings found;
    std::map<std::string, std::map<std::string, double>> limits;
    for (const auto& row : rows) {
        if (!limits.contains(row.service)) {
            auto listed = co_await quota_limits(call, row.service);
            if (!listed) {
                found.warnings.push_back("could not look quotas of " + row.service +
                                         " up: " + listed.error().message);
                continue;
            }
            limits[row.service] = std::move(*listed);
        }
        const auto limit = limits[row.service].find(row.name);
        if (limit == limits[row.service].end()) continue;
        auto used = co_await call.services->aws.collect(call.context, "ec2", row.operation, JsonObject{});
        if (!used) {
            found.warnings.push_back("could not count against \"" + row.name + "\": " + used.error().message);
            continue;
        }
        const auto count = static_cast<std::int64_t>(used->size());
        const auto free = free_of(limit->second, count);
        found.quota.push_back(JsonObject{{"name", row.name},
                                         {"limit", static_cast<std::int64_t>(limit->second)},
                                         {"used", count},
                                         {"needed", 1},
                                         {"free", free}});
        if (free < 1) {
            found.faults.push_back(
                fault(row.list, "quota \"" + row.name + "\" is used up (" + std::to_string(count) + " of " +
                                    std::to_string(static_cast<std::int64_t>(limit->second)) +
                                    "): delete one, ask for more in Service Quotas, or use what exists"));
        }
    }
    co_return found;
}

}  // namespace instantstart::app
