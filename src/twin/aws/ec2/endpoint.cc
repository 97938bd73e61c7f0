// VPC endpoints: gateway endpoints are routes, interface endpoints are interfaces.
#include "base/text.h"
#include "twin/aws/ec2/filters.h"
#include "twin/aws/ec2/interface.h"

namespace instantstart::twin::ec2 {

namespace {

using std::chrono::minutes;

constexpr FilterPath kFilters[] = {{"vpc-id", "VpcId"},
                                   {"service-name", "ServiceName"},
                                   {"vpc-endpoint-id", "VpcEndpointId"},
                                   {"vpc-endpoint-state", "State"},
                                   {"vpc-endpoint-type", "VpcEndpointType"}};
constexpr FilterPath kListFilters[] = {{"prefix-list-id", "PrefixListId"},
                                       {"prefix-list-name", "PrefixListName"}};

constexpr std::string_view kServices[] = {"s3",
                                          "dynamodb",
                                          "ec2",
                                          "ecr.api",
                                          "ecr.dkr",
                                          "eks",
                                          "eks-auth",
                                          "fsx",
                                          "logs",
                                          "monitoring",
                                          "sagemaker.api",
                                          "sagemaker.runtime",
                                          "ssm",
                                          "ssmmessages",
                                          "ec2messages",
                                          "sts",
                                          "elasticloadbalancing"};

std::string prefix_list_id(const State& state, std::string_view service) {
    const std::uint64_t hash = stable_hash(state.world.region() + std::string(service));
    std::string digits = base::hex(std::string(reinterpret_cast<const char*>(&hash), 4));
    return "pl-" + digits;
}

JsonArray prefix_lists(const State& state) {
    JsonArray lists;
    for (const char* service : {"s3", "dynamodb"}) {
        JsonObject list;
        list["PrefixListId"] = prefix_list_id(state, service);
        list["PrefixListName"] = "com.amazonaws." + state.world.region() + "." + service;
        list["Cidrs"] = service == std::string_view("s3") ? JsonArray{"52.218.128.0/17", "3.5.76.0/22"}
                                                          : JsonArray{"52.94.10.0/24"};
        lists.push_back(std::move(list));
    }
    return lists;
}

void add_gateway_routes(State& state, const Record& endpoint) {
    for (const std::string& table_id : strings(endpoint.data, "RouteTableIds")) {
        Record* table = state.route_tables.find(table_id);
        if (table == nullptr) continue;
        JsonObject route;
        const std::string service = base::get_string(endpoint.data, "ServiceName");
        route["DestinationPrefixListId"] = prefix_list_id(state, service.substr(service.rfind('.') + 1));
        route["GatewayId"] = endpoint.id;
        route["Origin"] = "CreateRoute";
        route["State"] = "active";
        array_of(table->data, "Routes").push_back(std::move(route));
    }
}

void remove_gateway_routes(State& state, const Record& endpoint) {
    for (auto& [id, table] : state.route_tables)
        remove_where(array_of(table.data, "Routes"), "GatewayId", endpoint.id);
}

std::optional<ServiceError> add_interfaces(State& state, Record& endpoint,
                                           const std::vector<std::string>& subnets,
                                           const std::vector<std::string>& groups) {
    for (const std::string& subnet_id : subnets) {
        InterfaceSpec spec;
        spec.subnet_id = subnet_id;
        spec.group_ids = groups;
        spec.description = "VPC Endpoint Interface " + endpoint.id;
        spec.requester = "amazon-vpce";
        spec.type = "vpc_endpoint";
        spec.instance_owner = "amazon-aws";
        const std::optional<std::string> interface_id = make_interface(state, spec);
        if (!interface_id) {
            return failure("InsufficientFreeAddressesInSubnet",
                           "The subnet '" + subnet_id + "' does not have enough free addresses");
        }
        array_of(endpoint.data, "NetworkInterfaceIds").emplace_back(*interface_id);
    }
    return std::nullopt;
}

std::optional<ServiceError> check_parts(State& state, const Call& call, const std::string& vpc_id,
                                        const std::string& service) {
    const std::string prefix = "com.amazonaws." + state.world.region() + ".";
    bool known = false;
    for (std::string_view offered : kServices) known = known || service == prefix + std::string(offered);
    if (!known)
        return failure("InvalidServiceName", "The Vpc Endpoint Service '" + service + "' does not exist");
    for (const std::string& id : strings(call.params, "SubnetIds")) {
        const Found subnet = require_subnet(state, id);
        if (subnet.record == nullptr) return subnet.error;
    }
    for (const std::string& id : strings(call.params, "SecurityGroupIds")) {
        const Found group = require_group(state, id);
        if (group.record == nullptr) return group.error;
    }
    for (const std::string& id : strings(call.params, "RouteTableIds")) {
        const Found table =
            require(state, state.route_tables, id, "InvalidRouteTableId.NotFound", "routeTable ID");
        if (table.record == nullptr) return table.error;
        for (const auto& [other_id, other] : state.endpoints) {
            if (base::get_string(other.data, "ServiceName") == service &&
                contains(strings(other.data, "RouteTableIds"), id)) {
                return failure("RouteAlreadyExists",
                               "route table " + id + " already has a route with destination-prefix-list-id " +
                                   prefix_list_id(state, service.substr(service.rfind('.') + 1)));
            }
        }
    }
    if (base::get_string(call.params, "VpcEndpointType", "Gateway") != "Interface") return std::nullopt;
    for (const auto& [id, other] : state.endpoints) {
        if (base::get_string(other.data, "VpcId") == vpc_id &&
            base::get_string(other.data, "ServiceName") == service &&
            base::get_bool(other.data, "PrivateDnsEnabled") &&
            base::get_bool(call.params, "PrivateDnsEnabled", true)) {
            return failure(
                "InvalidParameter",
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for " +
                    service + " in the VPC " + vpc_id);
        }
    }
    return std::nullopt;
}

JsonObject endpoint_data(State& state, const Call& call, const std::string& id) {
    const bool interface = base::get_string(call.params, "VpcEndpointType", "Gateway") == "Interface";
    JsonObject data;
    data["VpcEndpointId"] = id;
    data["VpcEndpointType"] = interface ? "Interface" : "Gateway";
    data["VpcId"] = base::get_string(call.params, "VpcId");
    data["ServiceName"] = base::get_string(call.params, "ServiceName");
    data["State"] = interface ? "pending" : "available";
    data["PolicyDocument"] =
        base::get_string(call.params, "PolicyDocument",
                         R"({"Version":"2008-10-17","Statement":[{"Effect":"Allow","Principal":"*",)"
                         R"("Action":"*","Resource":"*"}]})");
    data["RouteTableIds"] = base::get_array(call.params, "RouteTableIds");
    data["SubnetIds"] = base::get_array(call.params, "SubnetIds");
    data["Groups"] = JsonArray();
    data["PrivateDnsEnabled"] = interface && base::get_bool(call.params, "PrivateDnsEnabled", true);
    data["RequesterManaged"] = false;
    data["NetworkInterfaceIds"] = JsonArray();
    data["DnsEntries"] = JsonArray();
    data["CreationTimestamp"] = base::format_time(state.world.now());
    data["Tags"] = requested_tags(call, "vpc-endpoint");
    data["OwnerId"] = state.world.account();
    return data;
}

std::string default_group(const State& state, std::string_view vpc_id) {
    for (const auto& [id, group] : state.groups) {
        if (base::get_string(group.data, "VpcId") == vpc_id &&
            base::get_string(group.data, "GroupName") == "default")
            return id;
    }
    return "";
}

JsonObject created_answer(const Record& endpoint, const std::string& token) {
    JsonObject answer;
    answer["VpcEndpoint"] = endpoint.data;
    if (!token.empty()) answer["ClientToken"] = token;
    return answer;
}

Reply create_endpoint(State& state, const Call& call) {
    const std::string token = base::get_string(call.params, "ClientToken");
    const auto earlier = state.tokens.find("CreateVpcEndpoint/" + token);
    if (!token.empty() && earlier != state.tokens.end()) {
        if (const Record* endpoint = state.endpoints.find(earlier->second))
            return created_answer(*endpoint, token);
    }
    const std::string vpc_id = base::get_string(call.params, "VpcId");
    const Found vpc = require_vpc(state, vpc_id);
    if (vpc.record == nullptr) return vpc.error;
    if (auto bad = check_parts(state, call, vpc_id, base::get_string(call.params, "ServiceName")))
        return *bad;
    if (auto bad = check_tags(call)) return *bad;
    const std::string id = state.world.hex_id("vpce-", 17);
    Record& endpoint = state.endpoints.add(id, endpoint_data(state, call, id), state.world.now());
    if (base::get_string(endpoint.data, "VpcEndpointType") == "Gateway") {
        add_gateway_routes(state, endpoint);
    } else {
        std::vector<std::string> groups = strings(call.params, "SecurityGroupIds");
        if (groups.empty()) groups.push_back(default_group(state, vpc_id));
        for (const std::string& group : groups) {
            array_of(endpoint.data, "Groups")
                .push_back({{"GroupId", group},
                            {"GroupName", base::get_string(state.groups.find(group)->data, "GroupName")}});
        }
        if (auto bad = add_interfaces(state, endpoint, strings(call.params, "SubnetIds"), groups)) {
            for (const std::string& made : strings(endpoint.data, "NetworkInterfaceIds"))
                remove_interface(state, made);
            state.endpoints.erase(id);
            return *bad;
        }
        state.world.after(state.world.about(minutes(1)), "ec2", "endpoint_ready", {{"id", id}});
    }
    if (!token.empty()) state.tokens["CreateVpcEndpoint/" + token] = id;
    return created_answer(endpoint, token);
}

// Only what gateway endpoints need: the route tables that have their routes.
Reply modify_endpoint(State& state, const Call& call) {
    const std::string id = base::get_string(call.params, "VpcEndpointId");
    const Found found =
        require(state, state.endpoints, id, "InvalidVpcEndpointId.NotFound", "Vpc Endpoint Id");
    if (found.record == nullptr) return found.error;
    const std::vector<std::string> add = strings(call.params, "AddRouteTableIds"),
                                   remove = strings(call.params, "RemoveRouteTableIds");
    const bool gateway = base::get_string(found.record->data, "VpcEndpointType") == "Gateway";
    if (!gateway && !(add.empty() && remove.empty())) {
        return failure("InvalidParameter",
                       "Route table IDs are only supported for Gateway type VPC Endpoints.");
    }
    for (const std::string& table_id : add) {
        const Found table =
            require(state, state.route_tables, table_id, "InvalidRouteTableId.NotFound", "routeTable ID");
        if (table.record == nullptr) return table.error;
    }
    JsonArray tables;
    for (const std::string& table_id : strings(found.record->data, "RouteTableIds")) {
        if (!contains(remove, table_id) && !contains(add, table_id)) tables.emplace_back(table_id);
    }
    for (const std::string& table_id : add) tables.emplace_back(table_id);
    remove_gateway_routes(state, *found.record);
    found.record->data["RouteTableIds"] = std::move(tables);
    if (gateway) add_gateway_routes(state, *found.record);
    return yes();
}

Reply describe_endpoints(State& state, const Call& call) {
    Listing listing;
    listing.result = "VpcEndpoints";
    listing.ids_parameter = "VpcEndpointIds";
    listing.not_found_code = "InvalidVpcEndpointId.NotFound";
    listing.noun = "Vpc Endpoint Id";
    listing.filters = kFilters;
    return describe(state, state.endpoints, call, listing);
}

void drop_endpoint(State& state, const std::string& id) {
    const Record* endpoint = state.endpoints.find(id);
    if (endpoint == nullptr) return;
    for (const std::string& interface_id : strings(endpoint->data, "NetworkInterfaceIds"))
        remove_interface(state, interface_id);
    remove_gateway_routes(state, *endpoint);
    state.endpoints.erase(id);
}

Reply delete_endpoints(State& state, const Call& call) {
    JsonObject answer;
    JsonArray unsuccessful;
    for (const std::string& id : strings(call.params, "VpcEndpointIds")) {
        Record* endpoint = state.endpoints.find(id);
        if (endpoint == nullptr) {
            JsonObject item;
            item["ResourceId"] = id;
            item["Error"] = {{"Code", "InvalidVpcEndpoint.NotFound"},
                             {"Message", "The Vpc Endpoint Id '" + id + "' does not exist"}};
            unsuccessful.push_back(std::move(item));
        } else if (base::get_string(endpoint->data, "VpcEndpointType") == "Gateway") {
            drop_endpoint(state, id);
        } else if (base::get_string(endpoint->data, "State") != "deleting") {
            endpoint->data["State"] = "deleting";
            state.world.after(state.world.about(minutes(1)), "ec2", "endpoint_gone", {{"id", id}});
        }
    }
    answer["Unsuccessful"] = std::move(unsuccessful);
    return answer;
}

Reply describe_services(State& state, const Call&) {
    JsonObject answer;
    for (std::string_view service : kServices)
        array_of(answer, "ServiceNames")
            .emplace_back("com.amazonaws." + state.world.region() + "." + std::string(service));
    answer["ServiceDetails"] = JsonArray();
    return answer;
}

Reply describe_prefix_lists(State& state, const Call& call) {
    Listing listing;
    listing.result = "PrefixLists";
    listing.filters = kListFilters;
    return describe_values(call, prefix_lists(state), listing);
}

Reply describe_managed_lists(State& state, const Call& call) {
    JsonArray lists;
    for (const JsonValue& list : prefix_lists(state)) {
        JsonObject entry;
        entry["PrefixListId"] = base::get_string(list, "PrefixListId");
        entry["PrefixListName"] = base::get_string(list, "PrefixListName");
        entry["AddressFamily"] = "IPv4";
        entry["State"] = "create-complete";
        entry["OwnerId"] = "AWS";
        entry["PrefixListArn"] = "arn:aws:ec2:" + state.world.region() + ":aws:prefix-list/" +
                                 base::get_string(list, "PrefixListId");
        lists.push_back(std::move(entry));
    }
    Listing listing;
    listing.result = "PrefixLists";
    listing.filters = kListFilters;
    return describe_values(call, lists, listing);
}

}  // namespace

void endpoint_timer(State& state, const std::string& kind, const JsonObject& payload) {
    const std::string id = base::get_string(payload, "id");
    Record* endpoint = state.endpoints.find(id);
    if (endpoint == nullptr) return;
    if (kind == "endpoint_ready" && base::get_string(endpoint->data, "State") == "pending")
        endpoint->data["State"] = "available";
    if (kind == "endpoint_gone") drop_endpoint(state, id);
}

void add_endpoint_operations(Operations& operations) {
    operations["CreateVpcEndpoint"] = create_endpoint;
    operations["DescribeVpcEndpoints"] = describe_endpoints;
    operations["ModifyVpcEndpoint"] = modify_endpoint;
    operations["DeleteVpcEndpoints"] = delete_endpoints;
    operations["DescribeVpcEndpointServices"] = describe_services;
    operations["DescribePrefixLists"] = describe_prefix_lists;
    operations["DescribeManagedPrefixLists"] = describe_managed_lists;
}

}  // namespace instantstart::twin::ec2
