// Route tables, routes and their associations.
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/state.h"

namespace instantstart::twin::ec2 {

namespace {

constexpr FilterPath kFilters[] = {
    {"vpc-id", "VpcId"},
    {"route-table-id", "RouteTableId"},
    {"association.main", "Associations.*.Main"},
    {"association.subnet-id", "Associations.*.SubnetId"},
    {"association.route-table-association-id", "Associations.*.RouteTableAssociationId"},
    {"association.route-table-id", "Associations.*.RouteTableId"},
    {"route.destination-cidr-block", "Routes.*.DestinationCidrBlock"},
    {"route.gateway-id", "Routes.*.GatewayId"},
    {"route.nat-gateway-id", "Routes.*.NatGatewayId"},
    {"route.state", "Routes.*.State"},
    {"owner-id", "OwnerId"}};

Found require_table(State& state, std::string_view id) {
    return require(state, state.route_tables, id, "InvalidRouteTableID.NotFound", "routeTable ID");
}

// A route whose target is gone is a black hole.
JsonObject render(const State& state, const Record& table) {
    JsonObject shown = table.data;
    for (JsonValue& value : array_of(shown, "Routes")) {
        JsonObject& route = value.as_object();
        const std::string nat = base::get_string(route, "NatGatewayId");
        const std::string gateway = base::get_string(route, "GatewayId");
        const Record* nat_record = state.nats.find(nat);
        const bool nat_gone = !nat.empty() && (nat_record == nullptr ||
                                               base::get_string(nat_record->data, "State") == "deleted");
        const Record* igw = state.gateways.find(gateway);
        const bool igw_gone = gateway.starts_with("igw-") &&
                              (igw == nullptr || base::get_array(igw->data, "Attachments").empty());
        route["State"] = nat_gone || igw_gone ? "blackhole" : "active";
    }
    JsonArray& routes = array_of(shown, "Routes");
    const Record* vpc = state.vpcs.find(base::get_string(table.data, "VpcId"));
    if (vpc == nullptr) return shown;
    JsonArray all;
    for (const JsonValue& range : base::get_array(vpc->data, "CidrBlockAssociationSet")) {
        JsonObject local;
        local["DestinationCidrBlock"] = base::get_string(range, "CidrBlock");
        local["GatewayId"] = "local";
        local["Origin"] = "CreateRouteTable";
        local["State"] = "active";
        all.push_back(std::move(local));
    }
    for (JsonValue& route : routes) all.push_back(std::move(route));
    shown["Routes"] = std::move(all);
    return shown;
}

Reply create_table(State& state, const Call& call) {
    const std::string token = base::get_string(call.params, "ClientToken");
    const auto earlier = state.tokens.find("CreateRouteTable/" + token);
    if (!token.empty() && earlier != state.tokens.end()) {
        if (const Record* table = state.route_tables.find(earlier->second)) {
            JsonObject answer;
            answer["RouteTable"] = render(state, *table);
            answer["ClientToken"] = token;
            return answer;
        }
    }
    const Found vpc = require_vpc(state, base::get_string(call.params, "VpcId"));
    if (vpc.record == nullptr) return vpc.error;
    if (auto bad = check_tags(call)) return *bad;
    const Record& table = make_route_table(state, *vpc.record, requested_tags(call, "route-table"), false);
    JsonObject answer;
    answer["RouteTable"] = render(state, table);
    if (!token.empty()) {
        state.tokens["CreateRouteTable/" + token] = table.id;
        answer["ClientToken"] = token;
    }
    return answer;
}

Reply describe_tables(State& state, const Call& call) {
    Listing listing;
    listing.result = "RouteTables";
    listing.ids_parameter = "RouteTableIds";
    listing.not_found_code = "InvalidRouteTableID.NotFound";
    listing.noun = "routeTable ID";
    listing.filters = kFilters;
    listing.render = [&state](const Record& table) { return render(state, table); };
    return describe(state, state.route_tables, call, listing);
}

Reply delete_table(State& state, const Call& call) {
    const Found table = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (table.record == nullptr) return table.error;
    const std::string id = table.record->id;
    if (!base::get_array(table.record->data, "Associations").empty()) {
        return failure("DependencyViolation",
                       "The routeTable '" + id + "' has dependencies and cannot be deleted.");
    }
    state.route_tables.erase(id);
    return JsonObject();
}

std::string destination_of(const JsonObject& params) {
    for (const char* member :
         {"DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId"}) {
        if (params.contains(member)) return base::get_string(params, member);
    }
    return "";
}

JsonValue* find_route(Record& table, std::string_view destination) {
    for (JsonValue& route : array_of(table.data, "Routes")) {
        if (destination_of(route.get_object()) == destination) return &route;
    }
    return nullptr;
}

// Checks that the target exists and belongs to the table's VPC.
std::optional<ServiceError> check_target(State& state, const Record& table, const JsonObject& params) {
    const std::string vpc_id = base::get_string(table.data, "VpcId");
    const std::string nat_id = base::get_string(params, "NatGatewayId");
    const std::string gateway_id = base::get_string(params, "GatewayId");
    if (nat_id.empty() && gateway_id.empty() && !params.contains("NetworkInterfaceId")) {
        return failure(
            "MissingParameter",
            "The request must contain the parameter gatewayId or natGatewayId or networkInterfaceId");
    }
    if (!nat_id.empty()) {
        const Record* nat = state.nats.find(nat_id);
        if (nat == nullptr)
            return failure("InvalidNatGatewayID.NotFound",
                           "The natGateway ID '" + nat_id + "' does not exist");
        if (base::get_string(nat->data, "State") == "deleted") {
            return failure("InvalidNatGatewayID.NotFound",
                           "The natGateway ID '" + nat_id + "' does not exist");
        }
    }
    if (!gateway_id.empty() && gateway_id.starts_with("igw-")) {
        const Found gateway =
            require(state, state.gateways, gateway_id, "InvalidGatewayID.NotFound", "gateway ID");
        if (gateway.record == nullptr) return gateway.error;
        if (base::get_string(gateway.record->data, "Attachments.0.VpcId") != vpc_id) {
            return failure("InvalidParameterValue", "route table " + table.id + " and network gateway " +
                                                        gateway_id + " belong to different networks");
        }
    }
    return std::nullopt;
}

JsonObject route_of(const JsonObject& params) {
    JsonObject route;
    for (const char* member : {"DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId",
                               "GatewayId", "NatGatewayId", "NetworkInterfaceId"}) {
        if (const JsonValue* value = params.if_contains(member)) route[member] = *value;
    }
    route["Origin"] = "CreateRoute";
    route["State"] = "active";
    return route;
}

Reply create_route(State& state, const Call& call) {
    const Found table = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (table.record == nullptr) return table.error;
    const std::string destination = destination_of(call.params);
    const std::optional<Cidr> cidr = parse_cidr(destination);
    if (call.params.contains("DestinationCidrBlock") && !cidr) {
        return failure(
            "InvalidParameterValue",
            "Value (" + destination +
                ") for parameter destinationCidrBlock is invalid. This is not a valid CIDR block.");
    }
    if (auto bad = check_target(state, *table.record, call.params)) return *bad;
    if (JsonValue* present = find_route(*table.record, destination)) {
        const bool same =
            base::get_string(*present, "NatGatewayId") == base::get_string(call.params, "NatGatewayId") &&
            base::get_string(*present, "GatewayId") == base::get_string(call.params, "GatewayId");
        if (same) return yes();  // AWS answers a repeated call alike
        return failure("RouteAlreadyExists", "The route identified by " + destination + " already exists.");
    }
    array_of(table.record->data, "Routes").push_back(route_of(call.params));
    return yes();
}

Reply replace_route(State& state, const Call& call) {
    const Found table = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (table.record == nullptr) return table.error;
    const std::string destination = destination_of(call.params);
    JsonValue* present = find_route(*table.record, destination);
    if (present == nullptr) {
        return failure("InvalidParameterValue", "There is no route defined for '" + destination +
                                                    "' in the route table. Use CreateRoute instead.");
    }
    if (auto bad = check_target(state, *table.record, call.params)) return *bad;
    *present = route_of(call.params);
    return JsonObject();
}

Reply delete_route(State& state, const Call& call) {
    const Found table = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (table.record == nullptr) return table.error;
    const std::string destination = destination_of(call.params);
    JsonArray& routes = array_of(table.record->data, "Routes");
    const std::size_t removed = remove_where(routes, "DestinationCidrBlock", destination);
    if (removed == 0) {
        return failure("InvalidRoute.NotFound", "no route with destination-cidr-block " + destination +
                                                    " in route table " + table.record->id);
    }
    return JsonObject();
}

JsonObject association(State& state, const std::string& table_id, const std::string& subnet_id) {
    JsonObject entry;
    entry["Main"] = subnet_id.empty();
    entry["RouteTableAssociationId"] = state.world.hex_id("rtbassoc-", 17);
    entry["RouteTableId"] = table_id;
    if (!subnet_id.empty()) entry["SubnetId"] = subnet_id;
    entry["AssociationState"] = {{"State", "associated"}};
    return entry;
}

Reply associate(State& state, const Call& call) {
    const Found table = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (table.record == nullptr) return table.error;
    const std::string subnet_id = base::get_string(call.params, "SubnetId");
    const Found subnet = require_subnet(state, subnet_id);
    if (subnet.record == nullptr) return subnet.error;
    if (base::get_string(subnet.record->data, "VpcId") != base::get_string(table.record->data, "VpcId")) {
        return failure("InvalidParameterValue", "Route table " + table.record->id + " and subnet " +
                                                    subnet_id + " belong to different networks");
    }
    JsonObject answer;
    answer["AssociationState"] = {{"State", "associated"}};
    for (const auto& [id, other] : state.route_tables) {
        for (const JsonValue& entry : base::get_array(other.data, "Associations")) {
            if (base::get_string(entry, "SubnetId") != subnet_id) continue;
            if (id != table.record->id) {
                return failure("Resource.AlreadyAssociated", "the specified association for route table " +
                                                                 table.record->id +
                                                                 " conflicts with an existing association");
            }
            answer["AssociationId"] = base::get_string(entry, "RouteTableAssociationId");
            return answer;
        }
    }
    JsonArray& associations = array_of(table.record->data, "Associations");
    associations.push_back(association(state, table.record->id, subnet_id));
    answer["AssociationId"] = base::get_string(associations.back(), "RouteTableAssociationId");
    return answer;
}

Reply disassociate(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "AssociationId");
    for (auto& [table_id, table] : state.route_tables) {
        JsonArray& associations = array_of(table.data, "Associations");
        for (const JsonValue& entry : associations) {
            if (base::get_string(entry, "RouteTableAssociationId") == id && base::get_bool(entry, "Main")) {
                return failure("InvalidParameterValue",
                               "cannot disassociate the main route table association " + id);
            }
        }
        if (remove_where(associations, "RouteTableAssociationId", id) > 0) return JsonObject();
    }
    return failure("InvalidAssociationID.NotFound", "The association ID '" + id + "' does not exist");
}

Reply replace_association(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "AssociationId");
    const Found target = require_table(state, base::get_string(call.params, "RouteTableId"));
    if (target.record == nullptr) return target.error;
    for (auto& [table_id, table] : state.route_tables) {
        for (const JsonValue& entry : base::get_array(table.data, "Associations")) {
            if (base::get_string(entry, "RouteTableAssociationId") != id) continue;
            JsonObject moved = association(state, target.record->id, base::get_string(entry, "SubnetId"));
            remove_where(array_of(table.data, "Associations"), "RouteTableAssociationId", id);
            JsonObject answer;
            answer["NewAssociationId"] = base::get_string(moved, "RouteTableAssociationId");
            answer["AssociationState"] = {{"State", "associated"}};
            if (base::get_bool(moved, "Main")) table.hidden["main"] = false;
            if (base::get_bool(moved, "Main")) target.record->hidden["main"] = true;
            array_of(target.record->data, "Associations").push_back(std::move(moved));
            return answer;
        }
    }
    return failure("InvalidAssociationID.NotFound", "The association ID '" + id + "' does not exist");
}

}  // namespace

Record& make_route_table(State& state, const Record& vpc, JsonArray tags, bool main) {
    const std::string id = state.world.hex_id("rtb-", 17);
    JsonObject data;
    data["Associations"] = main ? JsonArray{association(state, id, "")} : JsonArray();
    data["PropagatingVgws"] = JsonArray();
    data["RouteTableId"] = id;
    data["Routes"] = JsonArray();  // the local routes follow from the VPC's ranges
    data["Tags"] = std::move(tags);
    data["VpcId"] = vpc.id;
    data["OwnerId"] = state.world.account();
    Record& table = state.route_tables.add(id, std::move(data), state.world.now());
    table.hidden["main"] = main;
    return table;
}

void add_route_operations(Operations& operations) {
    operations["CreateRouteTable"] = create_table;
    operations["DescribeRouteTables"] = describe_tables;
    operations["DeleteRouteTable"] = delete_table;
    operations["CreateRoute"] = create_route;
    operations["ReplaceRoute"] = replace_route;
    operations["DeleteRoute"] = delete_route;
    operations["AssociateRouteTable"] = associate;
    operations["DisassociateRouteTable"] = disassociate;
    operations["ReplaceRouteTableAssociation"] = replace_association;
}

}  // namespace instantstart::twin::ec2
