// Subnets: ranges inside their VPC, free addresses, what keeps them from deletion.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"vpc-id", "VpcId"},
                                   {"subnet-id", "SubnetId"},
                                   {"state", "State"},
                                   {"cidr-block", "CidrBlock"},
                                   {"cidr", "CidrBlock"},
                                   {"cidrBlock", "CidrBlock"},
                                   {"availability-zone", "AvailabilityZone"},
                                   {"availabilityZone", "AvailabilityZone"},
                                   {"availability-zone-id", "AvailabilityZoneId"},
                                   {"available-ip-address-count", "AvailableIpAddressCount"},
                                   {"default-for-az", "DefaultForAz"},
                                   {"map-public-ip-on-launch", "MapPublicIpOnLaunch"},
                                   {"owner-id", "OwnerId"},
                                   {"subnet-arn", "SubnetArn"}};

JsonObject render(const State& state, const Record& subnet) {
    JsonObject shown = subnet.data;
    shown["AvailableIpAddressCount"] = free_addresses(state, subnet);
    return shown;
}

bool inside_vpc(const Record& vpc, const Cidr& cidr) {
    for (const JsonValue& range : base::get_array(vpc.data, "CidrBlockAssociationSet")) {
        const std::optional<Cidr> outer = parse_cidr(base::get_string(range, "CidrBlock"));
        if (outer && outer->contains(cidr)) return true;
    }
    return false;
}

// The wanted zone; without one AWS picks. Null where it does not exist.
const Zone* wanted_zone(const Call& call, const std::vector<Zone>& zones) {
    std::string wanted = base::get_string(call.params, "AvailabilityZone");
    if (wanted.empty()) wanted = base::get_string(call.params, "AvailabilityZoneId");
    if (wanted.empty()) return &zones.front();
    return find_zone(zones, wanted);
}

Reply create_subnet(State& state, const Call& call) {
    const Found vpc = require_vpc(state, base::get_string(call.params, "VpcId"));
    if (vpc.record == nullptr) return vpc.error;
    const std::string text = base::get_string(call.params, "CidrBlock");
    const std::optional<Cidr> cidr = parse_cidr(text);
    if (!cidr)
        return failure(
            "InvalidParameterValue",
            "Value (" + text + ") for parameter cidrBlock is invalid. This is not a valid CIDR block.");
    if (cidr->prefix < 16 || cidr->prefix > 28 || !inside_vpc(*vpc.record, *cidr)) {
        return failure("InvalidSubnet.Range", "The CIDR '" + text + "' is invalid.");
    }
    const std::vector<Zone> zones = state.zones();
    const Zone* zone = wanted_zone(call, zones);
    if (zone == nullptr || !zone->opted_in) {
        const std::string name = base::get_string(call.params, "AvailabilityZone",
                                                  base::get_string(call.params, "AvailabilityZoneId"));
        std::string names;
        for (const Zone& entry : zones) {
            if (entry.opted_in) names += (names.empty() ? "" : ", ") + entry.name;
        }
        return failure("InvalidParameterValue",
                       "Value (" + name +
                           ") for parameter availabilityZone is invalid. Subnets can currently only be "
                           "created in the following availability zones: " +
                           names + ".");
    }
    if (auto bad = check_tags(call)) return *bad;
    std::size_t in_vpc = 0;
    for (const auto& [id, other] : state.subnets) {
        if (base::get_string(other.data, "VpcId") != vpc.record->id) continue;
        ++in_vpc;
        if (parse_cidr(base::get_string(other.data, "CidrBlock"))->overlaps(*cidr)) {
            return failure("InvalidSubnet.Conflict", "The CIDR '" + text + "' conflicts with another subnet");
        }
    }
    if (static_cast<double>(in_vpc) >= *state.quota("Subnets per VPC", 200)) {
        return failure("SubnetLimitExceeded", "The maximum number of subnets has been reached.");
    }
    const Record& subnet =
        make_subnet(state, *vpc.record, *cidr, *zone, requested_tags(call, "subnet"), false);
    JsonObject answer;
    answer["Subnet"] = render(state, subnet);
    return answer;
}

Reply describe_subnets(State& state, const Call& call) {
    Listing listing;
    listing.result = "Subnets";
    listing.ids_parameter = "SubnetIds";
    listing.not_found_code = "InvalidSubnetID.NotFound";
    listing.noun = "subnet ID";
    listing.filters = kFilters;
    listing.render = [&state](const Record& subnet) { return render(state, subnet); };
    return describe(state, state.subnets, call, listing);
}

Reply delete_subnet(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "SubnetId");
    const Found found = require_subnet(state, id);
    if (found.record == nullptr) return found.error;
    for (const auto& [interface_id, interface] : state.interfaces) {
        if (base::get_string(interface.data, "SubnetId") == id) {
            return failure("DependencyViolation",
                           "The subnet '" + id + "' has dependencies and cannot be deleted.");
        }
    }
    for (auto& [table_id, table] : state.route_tables)
        remove_where(array_of(table.data, "Associations"), "SubnetId", id);
    state.used.erase(id);
    state.subnets.erase(id);
    return JsonObject();
}

Reply modify_subnet_attribute(State& state, const Call& call) {
    const Found found = require_subnet(state, base::get_string(call.params, "SubnetId"));
    if (found.record == nullptr) return found.error;
    for (const char* member : {"MapPublicIpOnLaunch", "AssignIpv6AddressOnCreation", "EnableDns64"}) {
        if (call.params.contains(member))
            found.record->data[member] = base::get_bool(call.params, std::string(member) + ".Value");
    }
    return JsonObject();
}

}  // namespace

std::int64_t free_addresses(const State& state, const Record& subnet) {
    const std::optional<Cidr> cidr = parse_cidr(base::get_string(subnet.data, "CidrBlock"));
    const auto taken = state.used.find(subnet.id);
    const std::int64_t used = taken == state.used.end() ? 0 : static_cast<std::int64_t>(taken->second.size());
    return static_cast<std::int64_t>(cidr->size()) - 5 - used;
}

Record& make_subnet(State& state, const Record& vpc, const Cidr& cidr, const Zone& zone, JsonArray tags,
                    bool is_default) {
    const std::string id = state.world.hex_id("subnet-", 17);
    JsonObject data;
    data["AvailabilityZoneId"] = zone.id;
    data["OwnerId"] = state.world.account();
    data["AssignIpv6AddressOnCreation"] = false;
    data["Ipv6CidrBlockAssociationSet"] = JsonArray();
    data["Tags"] = std::move(tags);
    data["SubnetArn"] = state.arn("subnet/" + id);
    data["EnableDns64"] = false;
    data["Ipv6Native"] = false;
    data["PrivateDnsNameOptionsOnLaunch"] = {{"HostnameType", "ip-name"},
                                             {"EnableResourceNameDnsARecord", false},
                                             {"EnableResourceNameDnsAAAARecord", false}};
    data["SubnetId"] = id;
    data["State"] = "available";
    data["VpcId"] = vpc.id;
    data["CidrBlock"] = cidr.text();
    data["AvailabilityZone"] = zone.name;
    data["DefaultForAz"] = is_default;
    data["MapPublicIpOnLaunch"] = is_default;
    data["MapCustomerOwnedIpOnLaunch"] = false;
    return state.subnets.add(id, std::move(data), state.world.now());
}

void add_subnet_operations(Operations& operations) {
    operations["CreateSubnet"] = create_subnet;
    operations["DescribeSubnets"] = describe_subnets;
    operations["DeleteSubnet"] = delete_subnet;
    operations["ModifySubnetAttribute"] = modify_subnet_attribute;
}

}  // namespace instantstart::twin::ec2
