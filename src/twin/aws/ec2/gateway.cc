// Internet gateways.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {{"internet-gateway-id", "InternetGatewayId"},
                                   {"attachment.vpc-id", "Attachments.*.VpcId"},
                                   {"attachment.state", "Attachments.*.State"},
                                   {"owner-id", "OwnerId"}};

Found require_gateway(State& state, const Call& call) {
    return require(state, state.gateways, base::get_string(call.params, "InternetGatewayId"),
                   "InvalidInternetGatewayID.NotFound", "internetGateway ID");
}

Reply create_gateway(State& state, const Call& call) {
    if (auto bad = check_tags(call)) return *bad;
    if (static_cast<double>(state.gateways.size()) >= *state.quota("Internet gateways per Region", 5)) {
        return failure("InternetGatewayLimitExceeded",
                       "The maximum number of internet gateways has been reached.");
    }
    const std::string id = state.world.hex_id("igw-", 17);
    JsonObject data;
    data["Attachments"] = JsonArray();
    data["InternetGatewayId"] = id;
    data["OwnerId"] = state.world.account();
    data["Tags"] = requested_tags(call, "internet-gateway");
    JsonObject answer;
    answer["InternetGateway"] = state.gateways.add(id, std::move(data), state.world.now()).data;
    return answer;
}

Reply attach(State& state, const Call& call) {
    const Found gateway = require_gateway(state, call);
    if (gateway.record == nullptr) return gateway.error;
    const std::string vpc_id = base::get_string(call.params, "VpcId");
    const Found vpc = require_vpc(state, vpc_id);
    if (vpc.record == nullptr) return vpc.error;
    if (!base::get_array(gateway.record->data, "Attachments").empty()) {
        return failure("Resource.AlreadyAssociated",
                       "resource " + gateway.record->id + " is already attached to network " +
                           base::get_string(gateway.record->data, "Attachments.0.VpcId"));
    }
    for (const auto& [id, other] : state.gateways) {
        if (base::get_string(other.data, "Attachments.0.VpcId") == vpc_id) {
            return failure("InvalidParameterValue",
                           "Network " + vpc_id + " already has an internet gateway attached");
        }
    }
    attach_gateway(state, *gateway.record, vpc_id);
    return JsonObject();
}

Reply detach(State& state, const Call& call) {
    const Found gateway = require_gateway(state, call);
    if (gateway.record == nullptr) return gateway.error;
    const std::string vpc_id = base::get_string(call.params, "VpcId");
    if (base::get_string(gateway.record->data, "Attachments.0.VpcId") != vpc_id) {
        return failure("Gateway.NotAttached",
                       "resource " + gateway.record->id + " is not attached to network " + vpc_id);
    }
    for (const auto& [id, interface] : state.interfaces) {
        if (base::get_string(interface.data, "VpcId") == vpc_id && interface.data.contains("Association")) {
            return failure("DependencyViolation",
                           "Network " + vpc_id +
                               " has some mapped public address(es). Please unmap those public address(es) "
                               "before detaching the gateway.");
        }
    }
    array_of(gateway.record->data, "Attachments").clear();
    return JsonObject();
}

Reply remove(State& state, const Call& call) {
    const Found gateway = require_gateway(state, call);
    if (gateway.record == nullptr) return gateway.error;
    const std::string id = gateway.record->id;
    if (!base::get_array(gateway.record->data, "Attachments").empty()) {
        return failure("DependencyViolation",
                       "The internetGateway '" + id + "' has dependencies and cannot be deleted.");
    }
    state.gateways.erase(id);
    return JsonObject();
}

Reply describe_gateways(State& state, const Call& call) {
    Listing listing;
    listing.result = "InternetGateways";
    listing.ids_parameter = "InternetGatewayIds";
    listing.not_found_code = "InvalidInternetGatewayID.NotFound";
    listing.noun = "internetGateway ID";
    listing.filters = kFilters;
    return describe(state, state.gateways, call, listing);
}

Reply describe_egress_only(State&, const Call&) {
    JsonObject answer;
    answer["EgressOnlyInternetGateways"] = JsonArray();
    return answer;
}

}  // namespace

void attach_gateway(State&, Record& gateway, const std::string& vpc_id) {
    JsonObject attachment;
    attachment["State"] = "available";
    attachment["VpcId"] = vpc_id;
    array_of(gateway.data, "Attachments").push_back(std::move(attachment));
}

void add_gateway_operations(Operations& operations) {
    operations["CreateInternetGateway"] = create_gateway;
    operations["AttachInternetGateway"] = attach;
    operations["DetachInternetGateway"] = detach;
    operations["DeleteInternetGateway"] = remove;
    operations["DescribeInternetGateways"] = describe_gateways;
    operations["DescribeEgressOnlyInternetGateways"] = describe_egress_only;
}

}  // namespace instantstart::twin::ec2
