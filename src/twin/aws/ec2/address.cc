// Elastic IP addresses.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"allocation-id", "AllocationId"},
                                   {"association-id", "AssociationId"},
                                   {"domain", "Domain"},
                                   {"network-interface-id", "NetworkInterfaceId"},
                                   {"network-interface-owner-id", "NetworkInterfaceOwnerId"},
                                   {"private-ip-address", "PrivateIpAddress"},
                                   {"public-ip", "PublicIp"}};

std::string new_public_address(State& state) {
    // 198.18.0.0/15 is set aside for tests and never routed.
    const std::uint32_t host = static_cast<std::uint32_t>(stable_hash(state.world.uuid()) % 131000);
    return address_text(0xc6120000U + host + 1);
}

Reply allocate(State& state, const Call& call) {
    if (auto bad = check_tags(call)) return *bad;
    if (static_cast<double>(state.addresses.size()) >= *state.quota("EC2-VPC Elastic IPs", 5)) {
        return failure("AddressLimitExceeded", "The maximum number of addresses has been reached.");
    }
    const std::string id = state.world.hex_id("eipalloc-", 17);
    JsonObject data;
    data["AllocationId"] = id;
    data["PublicIp"] = new_public_address(state);
    data["PublicIpv4Pool"] = "amazon";
    data["NetworkBorderGroup"] = state.world.region();
    data["Domain"] = "vpc";
    JsonObject answer = data;
    data["Tags"] = requested_tags(call, "elastic-ip");
    state.addresses.add(id, std::move(data), state.world.now());
    return answer;
}

Reply release(State& state, const Call& call) {
    std::string id = base::get_string(call.params, "AllocationId");
    const Record* address = state.addresses.find(id);
    if (address == nullptr) {
        return failure("InvalidAllocationID.NotFound", "The allocation ID '" + id + "' does not exist");
    }
    if (address->data.contains("AssociationId")) {
        const std::string ip = base::get_string(address->data, "PublicIp");
        return failure("InvalidIPAddress.InUse", "The address with IP address " + ip +
                                                     " is currently associated and can not be released.");
    }
    state.addresses.erase(id);
    return JsonObject();
}

Reply describe_addresses(State& state, const Call& call) {
    Listing listing;
    listing.result = "Addresses";
    listing.ids_parameter = "AllocationIds";
    listing.not_found_code = "InvalidAllocationID.NotFound";
    listing.noun = "allocation ID";
    listing.filters = kFilters;
    return describe(state, state.addresses, call, listing);
}

}  // namespace

void add_address_operations(Operations& operations) {
    operations["AllocateAddress"] = allocate;
    operations["ReleaseAddress"] = release;
    operations["DescribeAddresses"] = describe_addresses;
}

}  // namespace instantstart::twin::ec2
