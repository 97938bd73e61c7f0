// Regions and availability zones.
#include <array>

#include "base/text.h"
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"zone-name", "ZoneName"},       {"zone-id", "ZoneId"},
                                   {"zone-type", "ZoneType"},       {"state", "State"},
                                   {"region-name", "RegionName"},   {"group-name", "GroupName"},
                                   {"opt-in-status", "OptInStatus"}};
constexpr FilterPath kRegionFilters[] = {
    {"region-name", "RegionName"}, {"opt-in-status", "OptInStatus"}, {"endpoint", "Endpoint"}};
constexpr FilterPath kNoFilters[] = {{"", ""}};

constexpr std::string_view kRegions[] = {"us-east-1",    "us-east-2",      "us-west-1",      "us-west-2",
                                         "ca-central-1", "eu-central-1",   "eu-north-1",     "eu-west-1",
                                         "eu-west-2",    "eu-west-3",      "ap-northeast-1", "ap-northeast-2",
                                         "ap-south-1",   "ap-southeast-1", "ap-southeast-2", "sa-east-1"};

// "us-west-2" → "usw2", "ap-northeast-1" → "apne1".
std::string zone_prefix(std::string_view region) {
    const std::vector<std::string> parts = base::split(region, '-');
    std::string prefix;
    for (const std::string& part : parts) {
        if (part.starts_with("north") && part.size() > 5)
            prefix += std::string("n") + part[5];
        else if (part.starts_with("south") && part.size() > 5)
            prefix += std::string("s") + part[5];
        else if (part.size() <= 2)
            prefix += part;
        else
            prefix += part[0];
    }
    return prefix;
}

Reply describe_zones(State& state, const Call& call) {
    const std::vector<Zone> zones = state.zones();
    std::vector<std::string> wanted = strings(call.params, "ZoneNames");
    for (const std::string& id : strings(call.params, "ZoneIds")) wanted.push_back(id);
    for (const std::string& name : wanted) {
        if (find_zone(zones, name) == nullptr)
            return failure("InvalidParameterValue", "Invalid availability zone: [" + name + "]");
    }
    const bool all = base::get_bool(call.params, "AllAvailabilityZones");
    JsonArray list;
    for (const Zone& zone : zones) {
        if (!wanted.empty() && !contains(wanted, zone.name) && !contains(wanted, zone.id)) continue;
        if (!zone.opted_in && !all) continue;
        JsonObject entry;
        entry["State"] = "available";
        entry["OptInStatus"] = zone.type == "availability-zone"
                                   ? "opt-in-not-required"
                                   : (zone.opted_in ? "opted-in" : "not-opted-in");
        entry["Messages"] = JsonArray();
        entry["RegionName"] = state.world.region();
        entry["ZoneName"] = zone.name;
        entry["ZoneId"] = zone.id;
        entry["GroupName"] = zone.type == "availability-zone" ? state.world.region() + "-zg-1"
                                                              : zone.name.substr(0, zone.name.size() - 1);
        entry["NetworkBorderGroup"] = zone.type == "availability-zone"
                                          ? state.world.region()
                                          : zone.name.substr(0, zone.name.size() - 1);
        entry["ZoneType"] = zone.type;
        if (!zone.parent.empty()) {
            entry["ParentZoneName"] = zone.parent;
            entry["ParentZoneId"] = find_zone(zones, zone.parent)->id;
        }
        list.push_back(std::move(entry));
    }
    Listing listing;
    listing.result = "AvailabilityZones";
    listing.filters = kFilters;
    return describe_values(call, list, listing);
}

Reply describe_regions(State& state, const Call& call) {
    const std::vector<std::string> wanted = strings(call.params, "RegionNames");
    std::vector<std::string> names(std::begin(kRegions), std::end(kRegions));
    if (!contains(names, state.world.region())) names.push_back(state.world.region());
    for (const std::string& name : wanted) {
        if (!contains(names, name))
            return failure("InvalidParameterValue", "Invalid region names: [" + name + "]");
    }
    JsonArray list;
    for (const std::string& name : names) {
        if (!wanted.empty() && !contains(wanted, name)) continue;
        list.push_back({{"RegionName", name},
                        {"Endpoint", "ec2." + name + ".amazonaws.com"},
                        {"OptInStatus", "opt-in-not-required"}});
    }
    Listing listing;
    listing.result = "Regions";
    listing.filters = kRegionFilters;
    return describe_values(call, list, listing);
}

Reply describe_account_attributes(State& state, const Call& call) {
    const std::vector<std::string> wanted = strings(call.params, "AttributeNames");
    std::string default_vpc = "none";
    for (const auto& [id, vpc] : state.vpcs) {
        if (base::get_bool(vpc.data, "IsDefault")) default_vpc = id;
    }
    auto whole = [](double value) { return std::to_string(static_cast<std::int64_t>(value)); };
    const std::pair<std::string, std::string> attributes[] = {
        {"supported-platforms", "VPC"},
        {"default-vpc", default_vpc},
        {"max-instances", "20"},
        {"vpc-max-security-groups-per-interface", "5"},
        {"max-elastic-ips", "5"},
        {"vpc-max-elastic-ips", whole(*state.quota("EC2-VPC Elastic IPs", 5))}};
    JsonArray list;
    for (const auto& [name, value] : attributes) {
        if (!wanted.empty() && !contains(wanted, name)) continue;
        JsonObject entry;
        entry["AttributeName"] = name;
        entry["AttributeValues"] = JsonArray{JsonObject{{"AttributeValue", value}}};
        list.push_back(std::move(entry));
    }
    Listing listing;
    listing.result = "AccountAttributes";
    listing.filters = kNoFilters;
    return describe_values(call, list, listing);
}

}  // namespace

std::vector<Zone> zones_of(std::string_view region) {
    const std::string name(region), prefix = zone_prefix(region);
    auto zone = [&name, &prefix](char letter, int number) {
        Zone made;
        made.name = name + letter;
        made.id = prefix + "-az" + std::to_string(number);
        made.type = "availability-zone";
        return made;
    };
    if (region != "us-west-2") return {zone('a', 2), zone('b', 3), zone('c', 1)};
    std::vector<Zone> zones = {zone('a', 2), zone('b', 1), zone('c', 3), zone('d', 4)};
    Zone local;
    local.name = "us-west-2-lax-1a";
    local.id = "usw2-lax1-az1";
    local.type = "local-zone";
    local.parent = "us-west-2a";
    zones.push_back(local);
    return zones;
}

const Zone* find_zone(const std::vector<Zone>& zones, std::string_view name_or_id) {
    for (const Zone& zone : zones) {
        if (zone.name == name_or_id || zone.id == name_or_id) return &zone;
    }
    return nullptr;
}

void add_region_operations(Operations& operations) {
    operations["DescribeAvailabilityZones"] = describe_zones;
    operations["DescribeRegions"] = describe_regions;
    operations["DescribeAccountAttributes"] = describe_account_attributes;
}

}  // namespace instantstart::twin::ec2
