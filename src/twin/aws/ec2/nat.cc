// NAT gateways: slow to come, slow to go, still listed for an hour after.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/interface.h"

namespace instantstart::twin::ec2 {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr FilterPath kFilters[] = {
    {"vpc-id", "VpcId"}, {"subnet-id", "SubnetId"}, {"nat-gateway-id", "NatGatewayId"}, {"state", "State"}};

bool has_internet_gateway(const State& state, std::string_view vpc_id) {
    for (const auto& [id, gateway] : state.gateways) {
        if (base::get_string(gateway.data, "Attachments.0.VpcId") == vpc_id) return true;
    }
    return false;
}

std::optional<ServiceError> check_address(const State& state, const Call& call) {
    const std::string allocation = base::get_string(call.params, "AllocationId");
    if (allocation.empty())
        return failure("MissingParameter", "The request must contain the parameter AllocationId");
    const Record* address = state.addresses.find(allocation);
    if (address == nullptr) {
        return failure("InvalidAllocationID.NotFound",
                       "The allocation ID '" + allocation + "' does not exist");
    }
    if (address->data.contains("AssociationId") || address->hidden.contains("nat")) {
        return failure("Resource.AlreadyAssociated",
                       "Elastic IP address [" + allocation + "] is already associated");
    }
    return std::nullopt;
}

std::optional<ServiceError> check_quota(const State& state, const Record& subnet) {
    const std::string zone = base::get_string(subnet.data, "AvailabilityZone");
    double count = 0;
    for (const auto& [id, nat] : state.nats) {
        const std::string status = base::get_string(nat.data, "State");
        const Record* home = state.subnets.find(base::get_string(nat.data, "SubnetId"));
        const bool here = home != nullptr && base::get_string(home->data, "AvailabilityZone") == zone;
        if (here && status != "deleted" && status != "failed") ++count;
    }
    if (count < *state.quota("NAT gateways per Availability Zone", 5)) return std::nullopt;
    return failure("NatGatewayLimitExceeded",
                   "The maximum number of NAT gateways in this Availability Zone has been reached.");
}

JsonObject created_answer(const Record& nat, const std::string& token) {
    JsonObject answer;
    answer["NatGateway"] = nat.data;
    if (!token.empty()) answer["ClientToken"] = token;
    return answer;
}

Reply create_nat(State& state, const Call& call) {
    const std::string token = base::get_string(call.params, "ClientToken");
    const auto earlier = state.tokens.find("CreateNatGateway/" + token);
    if (!token.empty() && earlier != state.tokens.end()) {
        if (const Record* nat = state.nats.find(earlier->second)) return created_answer(*nat, token);
    }
    const Found subnet = require_subnet(state, base::get_string(call.params, "SubnetId"));
    if (subnet.record == nullptr) return subnet.error;
    const std::string connectivity = base::get_string(call.params, "ConnectivityType", "public");
    if (connectivity == "public") {
        if (auto bad = check_address(state, call)) return *bad;
    }
    if (auto bad = check_tags(call)) return *bad;
    if (auto bad = check_quota(state, *subnet.record)) return *bad;
    const std::string allocation = base::get_string(call.params, "AllocationId");
    const std::string id = state.world.hex_id("nat-", 17);
    JsonObject data;
    data["CreateTime"] = base::format_time(state.world.now());
    data["NatGatewayAddresses"] = JsonArray();
    if (!allocation.empty()) {
        array_of(data, "NatGatewayAddresses")
            .push_back({{"AllocationId", allocation}, {"IsPrimary", true}, {"Status", "associating"}});
        state.addresses.find(allocation)->hidden["nat"] = id;
    }
    data["NatGatewayId"] = id;
    data["State"] = "pending";
    data["SubnetId"] = subnet.record->id;
    data["VpcId"] = base::get_string(subnet.record->data, "VpcId");
    data["ConnectivityType"] = connectivity;
    data["Tags"] = requested_tags(call, "natgateway");
    const Record& nat = state.nats.add(id, std::move(data), state.world.now());
    state.world.after(state.world.about(minutes(2)), "ec2", "nat_ready", {{"id", id}});
    if (!token.empty()) state.tokens["CreateNatGateway/" + token] = id;
    return created_answer(nat, token);
}

Reply describe_nats(State& state, const Call& call) {
    Listing listing;
    listing.result = "NatGateways";
    listing.ids_parameter = "NatGatewayIds";
    listing.not_found_code = "NatGatewayNotFound";
    listing.noun = "Nat Gateway";
    listing.filters_parameter = call.params.contains("Filter") ? "Filter" : "Filters";
    listing.filters = kFilters;
    return describe(state, state.nats, call, listing);
}

Reply delete_nat(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "NatGatewayId");
    Record* nat = state.nats.find(id);
    if (nat == nullptr || base::get_string(nat->data, "State") == "deleted") {
        return failure("NatGatewayNotFound", "The Nat Gateway " + id + " was not found");
    }
    if (base::get_string(nat->data, "State") != "deleting") {
        nat->data["State"] = "deleting";
        state.world.after(state.world.about(minutes(1)), "ec2", "nat_gone", {{"id", id}});
    }
    JsonObject answer;
    answer["NatGatewayId"] = id;
    return answer;
}

void free_address(State& state, const std::string& allocation) {
    Record* address = state.addresses.find(allocation);
    if (address == nullptr) return;
    for (const char* member :
         {"AssociationId", "NetworkInterfaceId", "NetworkInterfaceOwnerId", "PrivateIpAddress"})
        address->data.erase(member);
    address->hidden.erase("nat");
}

void fail(State& state, Record& nat, std::string_view code, std::string message) {
    free_address(state, base::get_string(nat.data, "NatGatewayAddresses.0.AllocationId"));
    nat.data["State"] = "failed";
    nat.data["FailureCode"] = code;
    nat.data["FailureMessage"] = message;
    nat.data["DeleteTime"] = base::format_time(state.world.now());
    state.world.after(minutes(60), "ec2", "nat_forgotten", {{"id", nat.id}});
}

void become_ready(State& state, Record& nat) {
    const std::string vpc_id = base::get_string(nat.data, "VpcId");
    const bool is_public = base::get_string(nat.data, "ConnectivityType") == "public";
    if (is_public && !has_internet_gateway(state, vpc_id)) {
        return fail(state, nat, "Gateway.NotAttached",
                    "Network " + vpc_id + " has no Internet gateway attached");
    }
    InterfaceSpec spec;
    spec.subnet_id = base::get_string(nat.data, "SubnetId");
    spec.description = "Interface for NAT Gateway " + nat.id;
    spec.requester = "amazon-elb";
    spec.type = "nat_gateway";
    spec.instance_owner = "amazon-aws";
    const std::optional<std::string> interface_id = make_interface(state, spec);
    if (!interface_id) {
        return fail(state, nat, "InsufficientFreeAddressesInSubnet",
                    "Subnet " + spec.subnet_id + " has insufficient free addresses");
    }
    Record& interface = *state.interfaces.find(*interface_id);
    nat.hidden["interface"] = *interface_id;
    nat.data["State"] = "available";
    JsonObject entry = base::get_object(nat.data, "NatGatewayAddresses.0");
    entry["NetworkInterfaceId"] = *interface_id;
    entry["PrivateIp"] = base::get_string(interface.data, "PrivateIpAddress");
    entry["IsPrimary"] = true;
    entry["Status"] = "succeeded";
    if (Record* address = state.addresses.find(base::get_string(entry, "AllocationId"))) {
        const std::string association = state.world.hex_id("eipassoc-", 17);
        entry["AssociationId"] = association;
        entry["PublicIp"] = base::get_string(address->data, "PublicIp");
        address->data["AssociationId"] = association;
        address->data["NetworkInterfaceId"] = *interface_id;
        address->data["NetworkInterfaceOwnerId"] = state.world.account();
        address->data["PrivateIpAddress"] = base::get_string(interface.data, "PrivateIpAddress");
        interface.data["Association"] = {{"AllocationId", address->id},
                                         {"AssociationId", association},
                                         {"IpOwnerId", state.world.account()},
                                         {"PublicIp", base::get_string(address->data, "PublicIp")}};
    }
    nat.data["NatGatewayAddresses"] = JsonArray{std::move(entry)};
}

}  // namespace

void nat_timer(State& state, const std::string& kind, const JsonObject& payload) {
    const std::string id = base::get_string(payload, "id");
    Record* nat = state.nats.find(id);
    if (nat == nullptr) return;
    const std::string status = base::get_string(nat->data, "State");
    if (kind == "nat_ready" && status == "pending") become_ready(state, *nat);
    if (kind == "nat_gone" && status == "deleting") {
        free_address(state, base::get_string(nat->data, "NatGatewayAddresses.0.AllocationId"));
        remove_interface(state, base::get_string(nat->hidden, "interface"));
        nat->data["State"] = "deleted";
        nat->data["DeleteTime"] = base::format_time(state.world.now());
        state.world.after(minutes(60), "ec2", "nat_forgotten", {{"id", id}});
    }
    if (kind == "nat_forgotten") state.nats.erase(id);
}

void add_nat_operations(Operations& operations) {
    operations["CreateNatGateway"] = create_nat;
    operations["DescribeNatGateways"] = describe_nats;
    operations["DeleteNatGateway"] = delete_nat;
}

}  // namespace instantstart::twin::ec2
