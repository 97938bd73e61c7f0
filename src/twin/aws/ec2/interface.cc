#include "twin/aws/ec2/interface.h"

#include <array>
#include <cstdio>

#include "twin/aws/ec2/filters.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"vpc-id", "VpcId"},
                                   {"subnet-id", "SubnetId"},
                                   {"network-interface-id", "NetworkInterfaceId"},
                                   {"group-id", "Groups.*.GroupId"},
                                   {"group-name", "Groups.*.GroupName"},
                                   {"status", "Status"},
                                   {"description", "Description"},
                                   {"interface-type", "InterfaceType"},
                                   {"requester-id", "RequesterId"},
                                   {"requester-managed", "RequesterManaged"},
                                   {"availability-zone", "AvailabilityZone"},
                                   {"private-ip-address", "PrivateIpAddress"},
                                   {"addresses.private-ip-address", "PrivateIpAddresses.*.PrivateIpAddress"},
                                   {"attachment.attachment-id", "Attachment.AttachmentId"},
                                   {"attachment.instance-owner-id", "Attachment.InstanceOwnerId"},
                                   {"attachment.status", "Attachment.Status"},
                                   {"owner-id", "OwnerId"}};

std::vector<std::uint32_t> take_addresses(State& state, const Record& subnet, std::size_t count) {
    const Cidr cidr = parse_cidr(base::get_string(subnet.data, "CidrBlock")).value_or(Cidr());
    std::set<std::uint32_t>& taken = state.used[subnet.id];
    std::vector<std::uint32_t> chosen;
    // AWS keeps the first four addresses of a subnet and the last one.
    for (std::uint32_t offset = 4; offset + 1 < cidr.size() && chosen.size() < count; ++offset) {
        if (taken.insert(cidr.base + offset).second) chosen.push_back(cidr.base + offset);
    }
    return chosen;
}

std::string mac_of(std::string_view id) {
    const std::uint64_t hash = stable_hash(id);
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "02:%02x:%02x:%02x:%02x:%02x", static_cast<unsigned>(hash & 255U),
                  static_cast<unsigned>((hash >> 8) & 255U), static_cast<unsigned>((hash >> 16) & 255U),
                  static_cast<unsigned>((hash >> 24) & 255U), static_cast<unsigned>((hash >> 32) & 255U));
    return text.data();
}

Reply describe_interfaces(State& state, const Call& call) {
    Listing listing;
    listing.result = "NetworkInterfaces";
    listing.ids_parameter = "NetworkInterfaceIds";
    listing.not_found_code = "InvalidNetworkInterfaceID.NotFound";
    listing.noun = "networkInterface ID";
    listing.filters = kFilters;
    return describe(state, state.interfaces, call, listing);
}

Reply delete_interface_call(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "NetworkInterfaceId");
    const Record* interface = state.interfaces.find(id);
    if (interface == nullptr) {
        return failure("InvalidNetworkInterfaceID.NotFound",
                       "The networkInterface ID '" + id + "' does not exist");
    }
    if (base::get_bool(interface->data, "RequesterManaged")) {
        return failure("OperationNotPermitted",
                       "You do not have permission to access the specified resource.");
    }
    if (base::get_string(interface->data, "Status") == "in-use") {
        return failure("InvalidParameterValue", "Network interface '" + id + "' is currently in use.");
    }
    remove_interface(state, id);
    return JsonObject();
}

JsonArray private_addresses(const std::vector<std::uint32_t>& addresses) {
    JsonArray list;
    for (std::uint32_t address : addresses) {
        list.push_back({{"Primary", list.empty()}, {"PrivateIpAddress", address_text(address)}});
    }
    return list;
}

JsonArray group_references(const State& state, const std::vector<std::string>& ids) {
    JsonArray list;
    for (const std::string& id : ids) {
        const Record* group = state.groups.find(id);
        list.push_back({{"GroupId", id},
                        {"GroupName", group == nullptr ? "" : base::get_string(group->data, "GroupName")}});
    }
    return list;
}

}  // namespace

std::optional<std::string> make_interface(State& state, const InterfaceSpec& spec) {
    const Record* subnet = state.subnets.find(spec.subnet_id);
    if (subnet == nullptr || free_addresses(state, *subnet) < static_cast<std::int64_t>(spec.addresses))
        return std::nullopt;
    const std::vector<std::uint32_t> addresses = take_addresses(state, *subnet, spec.addresses);
    std::string id = state.world.hex_id("eni-", 17);
    JsonObject data;
    if (!spec.instance_owner.empty()) {
        data["Attachment"] = {{"AttachTime", base::format_time(state.world.now())},
                              {"AttachmentId", state.world.hex_id("eni-attach-", 17)},
                              {"DeleteOnTermination", true},
                              {"DeviceIndex", 1},
                              {"NetworkCardIndex", 0},
                              {"InstanceOwnerId", spec.instance_owner},
                              {"Status", "attached"}};
    }
    data["AvailabilityZone"] = base::get_string(subnet->data, "AvailabilityZone");
    data["Description"] = spec.description;
    data["Groups"] = group_references(state, spec.group_ids);
    data["InterfaceType"] = spec.type;
    data["Ipv6Addresses"] = JsonArray();
    data["MacAddress"] = mac_of(id);
    data["NetworkInterfaceId"] = id;
    data["OwnerId"] = state.world.account();
    data["PrivateIpAddress"] = address_text(addresses.front());
    data["PrivateIpAddresses"] = private_addresses(addresses);
    if (!spec.requester.empty()) data["RequesterId"] = spec.requester;
    data["RequesterManaged"] = !spec.requester.empty();
    data["SourceDestCheck"] = true;
    data["Status"] = spec.instance_owner.empty() ? "available" : "in-use";
    data["SubnetId"] = spec.subnet_id;
    data["TagSet"] = spec.tags;
    data["VpcId"] = base::get_string(subnet->data, "VpcId");
    state.interfaces.add(id, std::move(data), state.world.now());
    return id;
}

void remove_interface(State& state, const std::string& id) {
    const Record* interface = state.interfaces.find(id);
    if (interface == nullptr) return;
    std::set<std::uint32_t>& taken = state.used[base::get_string(interface->data, "SubnetId")];
    for (const JsonValue& entry : base::get_array(interface->data, "PrivateIpAddresses")) {
        if (auto address = parse_address(base::get_string(entry, "PrivateIpAddress"))) taken.erase(*address);
    }
    state.interfaces.erase(id);
}

void add_interface_operations(Operations& operations) {
    operations["DescribeNetworkInterfaces"] = describe_interfaces;
    operations["DeleteNetworkInterface"] = delete_interface_call;
}

}  // namespace instantstart::twin::ec2
