#include "app/preflight.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/schema.h"
#include "base/text.h"
#include "domain/instance_type.h"
#include "domain/names.h"

namespace instantstart::app {

Task<std::vector<domain::Zone>> list_zones(Call call) {
    JsonObject parameters{{"AllAvailabilityZones", false}};
    CO_TRY(auto answer, co_await call.services->aws.call(call.context, "ec2", "DescribeAvailabilityZones",
                                                         std::move(parameters)));
    co_return domain::zones_from(base::get_array(answer, "AvailabilityZones"));
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

Task<void> check_offerings(Call call, std::vector<InstanceGroup> groups, std::string at, Findings& found) {
    for (std::size_t index = 0; index < groups.size(); ++index) {
        for (const auto& name : groups[index].types()) {
            const auto* type = domain::find_instance_type(name);
            if (type == nullptr) continue;
            auto zones = co_await zones_offering(call, type->ec2_name());
            if (!zones) {
                if (zones.error().kind == base::ErrorKind::cancelled) co_return std::move(zones).error();
                found.warnings.push_back("could not see where " + name +
                                         " is offered: " + zones.error().message);
                continue;
            }
            if (zones->contains(groups[index].zone)) continue;
            const std::vector<std::string> where(zones->begin(), zones->end());
            if (where.empty()) {
                found.faults.push_back(fault(
                    at_of(at, index) + (groups[index].instance_type ? "/instance_type" : "/instance_types"),
                    name + " is not offered in any zone of this region: choose another type"));
                continue;
            }
            auto refused = fault(at_of(at, index) + "/zone",
                                 name + " is not offered in " + groups[index].zone +
                                     ": choose a zone that has it, or another type",
                                 where);
            refused.did_you_mean = where.front();
            found.faults.push_back(std::move(refused));
        }
    }
    co_return base::ok();
}

}  // namespace

Task<Room> room_in_zone(Call call, std::string cluster, std::string zone, Findings& found) {
    Room room;
    if (cluster.empty()) co_return room;
    const auto filter = [](const std::string& name, const std::string& value) {
        return JsonObject{{"Name", name}, {"Values", JsonArray{JsonValue(value)}}};
    };
    JsonObject parameters{
        {"Filters", JsonArray{filter("tag:" + std::string(domain::kTagCluster), cluster),
                              filter("tag:" + std::string(domain::kTagStep), "compute_subnet_" + zone)}}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (!subnets) {
        if (subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
        found.warnings.push_back("could not see the compute subnet of " + zone + ": " +
                                 subnets.error().message);
        room.subnet = "the compute subnet";
        co_return room;
    }
    if (subnets->empty()) co_return room;
    room.subnet = base::get_string(subnets->front(), "SubnetId");
    room.free = base::get_int(subnets->front(), "AvailableIpAddressCount", room.free);
    co_return room;
}

namespace {

struct ZoneDemand {
    ZoneDemand() = default;
    std::int64_t needed = 0;
    std::string pointer, figures;
    bool efa = false;
};

std::map<std::string, ZoneDemand> demand_by_zone(const GroupRequest& request) {
    std::map<std::string, ZoneDemand> zones;
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        const auto& group = request.groups[index];
        if (group.subnet_id || group.count == 0) continue;
        auto& row = zones[group.zone];
        const auto each = domain::addresses_per_node(group);
        row.needed += each * group.count;
        row.pointer = at_of(request.at, index) + "/count";
        if (!row.figures.empty()) row.figures += ", ";
        row.figures += std::to_string(each) + " a node of " + group.name;
        auto bare = group;
        bare.interface_type = "efa-only";
        row.efa = row.efa || domain::addresses_per_node(bare) < each;
    }
    return zones;
}

Task<void> check_addresses(Call call, GroupRequest request, Findings& found) {
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        if (!request.groups[index].subnet_id) continue;
        CO_CHECK_OK(
            co_await check_given_subnet(call, request.groups[index], at_of(request.at, index), found));
    }
    for (const auto& [zone, demand] : demand_by_zone(request)) {
        CO_TRY(const auto room, co_await room_in_zone(call, request.cluster, zone, found));
        found.addresses.push_back(JsonObject{{"subnet", room.subnet},
                                             {"zone", zone},
                                             {"free", room.free},
                                             {"needed", demand.needed},
                                             {"figures", demand.figures}});
        if (demand.needed <= room.free) continue;
        found.faults.push_back(fault(
            demand.pointer,
            "the compute subnet of " + zone + " has " + std::to_string(room.free) + " free addresses, " +
                std::to_string(demand.needed) + " may be needed (" + demand.figures + "): " +
                (demand.efa ? "choose interface_type efa-only, a lower count" : "choose a lower count") +
                ", another zone, or a larger subnet by subnet_id"));
    }
    co_return base::ok();
}

void count_interfaces(const GroupRequest& request, Findings& found) {
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        std::int64_t cards = 0;
        for (const auto& name : request.groups[index].types()) {
            const auto* type = domain::find_instance_type(name);
            if (type != nullptr) cards = std::max(cards, std::max<std::int64_t>(1, type->network_cards));
        }
        if (request.groups[index].count == 0) continue;
        found.interfaces += cards * request.groups[index].count;
        found.interfaces_pointer = at_of(request.at, index) + "/count";
    }
}

}  // namespace

void check_key_region(Call call, const std::string& key_arn, const std::string& pointer, Findings& found) {
    const auto parts = base::split(key_arn, ':');
    const auto region = call.services->aws.region();
    if (parts.size() > 3 && parts[3] != region)
        found.faults.push_back(fault(pointer, "must be a key of " + region + ", not of " + parts[3]));
}

Task<Findings> check_instance_groups(Call call, GroupRequest request) {
    Findings found;
    if (request.at.empty()) {
        found.faults = domain::check_group(request.groups.front(), "");
    } else {
        found.faults = domain::check_groups(request.groups, request.at, {});
    }
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        const auto& key = request.groups[index].kms_key_arn;
        if (key) check_key_region(call, *key, at_of(request.at, index) + "/kms_key_arn", found);
    }
    auto zones = co_await list_zones(call);
    if (zones) {
        check_zones(request.groups, request.at, *zones, found);
    } else {
        found.warnings.push_back("could not list zones: " + zones.error().message);
    }
    if (!found.faults.empty()) co_return found;
    CO_CHECK_OK(co_await check_offerings(call, request.groups, request.at, found));
    CO_CHECK_OK(co_await check_group_quotas(call, request, found));
    CO_CHECK_OK(co_await check_addresses(call, request, found));
    CO_CHECK_OK(co_await check_training_plans(call, request, found));
    count_interfaces(request, found);
    for (auto& refused : domain::check_pods(request.groups, request.at, request.pods))
        found.faults.push_back(std::move(refused));
    co_return found;
}

}  // namespace instantstart::app
