#include "flows/network_steps.h"

#include "domain/cidr.h"
#include "flows/ec2_kit.h"
#include "ops/proof.h"

namespace instantstart::flows {

namespace {

// --- the VPC's attributes: both of DNS

Task<bool> has_dns(Clusters& env, StepCall call, std::string vpc, std::string attribute, std::string member) {
    JsonObject parameters{{"VpcId", vpc}, {"Attribute", attribute}};
    CO_TRY(auto answer,
           co_await env.aws().call(call.context, "ec2", "DescribeVpcAttribute", std::move(parameters)));
    co_return base::get_bool(answer, member + ".Value");
}

Task<Observation> observe_dns(Clusters& env, StepCall call, JsonObject) {
    const auto vpc = base::get_string(call.result_of("vpc"), "id");
    CO_TRY(const bool support, co_await has_dns(env, call, vpc, "enableDnsSupport", "EnableDnsSupport"));
    CO_TRY(const bool names, co_await has_dns(env, call, vpc, "enableDnsHostnames", "EnableDnsHostnames"));
    if (support && names) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_dns(Clusters& env, StepCall call, JsonObject) {
    const auto vpc = base::get_string(call.result_of("vpc"), "id");
    for (const char* attribute : {"EnableDnsSupport", "EnableDnsHostnames"}) {
        JsonObject parameters{{"VpcId", vpc}, {attribute, {{"Value", true}}}};
        CO_CHECK_OK(co_await mutate(env, call, "ec2", "ModifyVpcAttribute", std::move(parameters)));
    }
    co_return ops::proven({}, {});
}

// --- internet gateway attachment

Task<Observation> observe_attachment(Clusters& env, StepCall call, JsonObject) {
    const auto gateway = base::get_string(call.result_of("internet_gateway"), "id");
    CO_TRY(auto found, co_await ec2_by_id(env, call.context, "internet_gateway", gateway));
    if (found.empty()) co_return ops::in_progress("waiting until EC2 shows the gateway");
    if (base::get_array(found.front(), "Attachments").empty()) co_return ops::absent();
    co_return ops::done({});
}

Task<JsonObject> act_attachment(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"InternetGatewayId", base::get_string(call.result_of("internet_gateway"), "id")},
                          {"VpcId", base::get_string(call.result_of("vpc"), "id")}};
    co_return co_await settle(env, call, "ec2", "AttachInternetGateway", std::move(parameters));
}

// --- routes and associations

Task<JsonObject> route_table(Clusters& env, StepCall call, std::string id) {
    CO_TRY(auto found, co_await ec2_by_id(env, call.context, "route_table", id));
    co_return found.empty() ? JsonObject{} : found.front().as_object();
}

Task<Observation> observe_route(Clusters& env, StepCall call, JsonObject args) {
    const auto wanted = resolved(args, call);
    CO_TRY(auto table, co_await route_table(env, call, base::get_string(wanted, "RouteTableId")));
    for (const auto& route : base::get_array(table, "Routes")) {
        if (base::get_string(route, "DestinationCidrBlock") ==
            base::get_string(wanted, "DestinationCidrBlock")) {
            co_return ops::done({});
        }
    }
    co_return ops::absent();
}

Task<JsonObject> act_route(Clusters& env, StepCall call, JsonObject args) {
    auto parameters = resolved(args, call);
    co_return co_await settle(env, call, "ec2", "CreateRoute", std::move(parameters));
}

Task<Observation> observe_association(Clusters& env, StepCall call, JsonObject args) {
    const auto wanted = resolved(args, call);
    CO_TRY(auto table, co_await route_table(env, call, base::get_string(wanted, "RouteTableId")));
    for (const auto& association : base::get_array(table, "Associations")) {
        if (base::get_string(association, "SubnetId") == base::get_string(wanted, "SubnetId"))
            co_return ops::done({});
    }
    co_return ops::absent();
}

Task<JsonObject> act_association(Clusters& env, StepCall call, JsonObject args) {
    auto parameters = resolved(args, call);
    co_return co_await settle(env, call, "ec2", "AssociateRouteTable", std::move(parameters));
}

void add_route(Steps& steps, std::string id, std::string title, std::vector<std::string> needs,
               std::string table, std::string target_key, std::string target) {
    steps.add(
        Row(std::move(id), std::move(title), std::move(needs))
            .does(&observe_route, &act_route)
            .with({{"RouteTableId", table}, {"DestinationCidrBlock", "0.0.0.0/0"}, {target_key, target}}));
}

void add_association(Steps& steps, std::string id, std::string title, std::vector<std::string> needs,
                     std::string table, std::string subnet) {
    steps.add(Row(std::move(id), std::move(title), std::move(needs))
                  .does(&observe_association, &act_association)
                  .with({{"RouteTableId", table}, {"SubnetId", subnet}}));
}

// --- security group rules: everything to and from itself, and out to anywhere

bool has_rule(const JsonArray& permissions, const std::string& group, const std::string& range) {
    for (const auto& permission : permissions) {
        if (base::get_string(permission, "IpProtocol") != "-1") continue;
        for (const auto& pair : base::get_array(permission, "UserIdGroupPairs")) {
            if (!group.empty() && base::get_string(pair, "GroupId") == group) return true;
        }
        for (const auto& entry : base::get_array(permission, "IpRanges")) {
            if (!range.empty() && base::get_string(entry, "CidrIp") == range) return true;
        }
    }
    return false;
}

// args: group (whose rule), peer (group or ""), range, direction.
Task<Observation> observe_rule(Clusters& env, StepCall call, JsonObject args) {
    const auto rule = resolved(args, call);
    CO_TRY(auto found,
           co_await ec2_by_id(env, call.context, "security_group", base::get_string(rule, "group")));
    if (found.empty()) co_return ops::in_progress("waiting until EC2 shows the security group");
    const bool egress = base::get_string(rule, "direction") == "egress";
    const auto& permissions =
        base::get_array(found.front(), egress ? "IpPermissionsEgress" : "IpPermissions");
    if (has_rule(permissions, base::get_string(rule, "peer"), base::get_string(rule, "range")))
        co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_rule(Clusters& env, StepCall call, JsonObject args) {
    const auto rule = resolved(args, call);
    JsonObject permission{{"IpProtocol", "-1"}};
    const auto peer = base::get_string(rule, "peer");
    if (!peer.empty()) permission["UserIdGroupPairs"] = JsonArray{JsonObject{{"GroupId", peer}}};
    const auto range = base::get_string(rule, "range");
    if (!range.empty()) permission["IpRanges"] = JsonArray{JsonObject{{"CidrIp", range}}};
    JsonObject parameters{{"GroupId", base::get_string(rule, "group")},
                          {"IpPermissions", JsonArray{std::move(permission)}}};
    const bool egress = base::get_string(rule, "direction") == "egress";
    co_return co_await settle(env, call, "ec2",
                              egress ? "AuthorizeSecurityGroupEgress" : "AuthorizeSecurityGroupIngress",
                              std::move(parameters));
}

void add_rules_of_group(Steps& steps) {
    const auto row = [&steps](std::string id, std::string title, JsonObject args) {
        steps.add(Row(std::move(id), std::move(title), {"security_group"})
                      .does(&observe_rule, &act_rule)
                      .with(std::move(args)));
    };
    const char* own = "@security_group.id";
    row("group_ingress_self", "Allow traffic from the group itself",
        {{"group", own}, {"peer", own}, {"direction", "ingress"}});
    row("group_egress_self", "Allow traffic to the group itself",
        {{"group", own}, {"peer", own}, {"direction", "egress"}});
    row("group_egress_any", "Allow traffic out",
        {{"group", own}, {"range", "0.0.0.0/0"}, {"direction", "egress"}});
}

// --- the table of a new VPC

std::string numbered(std::string_view name, std::size_t index) {
    return std::string(name) + "_" + std::to_string(index);
}

void add_subnets(Steps& steps, const JsonObject& network, const std::string& cluster) {
    const auto vpc_range = domain::parse_cidr(base::get_string(network, "vpc_cidr"));
    CHECK(vpc_range.has_value());
    const auto& zones = base::get_array(network, "zones");
    for (std::size_t index = 0; index < 2; ++index) {
        const auto zone = std::string(zones.at(index).as_string());
        for (const bool is_public : {true, false}) {
            const std::string kind = is_public ? "public" : "control";
            Ec2Resource subnet(
                "subnet", numbered("subnet_" + kind, index),
                "Create " + std::string(is_public ? "public" : "control-plane") + " subnet in " + zone,
                {"vpc"});
            const auto which = static_cast<std::uint32_t>(index + (is_public ? 0 : 2));
            subnet.parameters = {{"VpcId", "@vpc.id"},
                                 {"CidrBlock", domain::service_subnet(*vpc_range, which).text()},
                                 {"AvailabilityZone", zone}};
            subnet.name = numbered("instantstart-" + cluster + "-" + kind, index);
            subnet.tags = {{is_public ? "kubernetes.io/role/elb" : "kubernetes.io/role/internal-elb", "1"}};
            subnet.natural_key = true;
            steps.add(ec2_row(std::move(subnet)));
        }
    }
}

void add_public_routes(Steps& steps, const std::string& name) {
    Ec2Resource gateway("internet_gateway", "internet_gateway", "Create internet gateway", {});
    gateway.name = name;
    steps.add(ec2_row(std::move(gateway)));
    steps.add(Row("internet_gateway_attached", "Attach internet gateway", {"internet_gateway", "vpc"})
                  .does(&observe_attachment, &act_attachment));
    Ec2Resource table("route_table", "routes_public", "Create public route table", {"vpc"});
    table.parameters = {{"VpcId", "@vpc.id"}};
    table.name = name + "-public";
    table.token = true;
    steps.add(ec2_row(std::move(table)));
    add_route(steps, "route_public", "Route to the internet", {"routes_public", "internet_gateway_attached"},
              "@routes_public.id", "GatewayId", "@internet_gateway.id");
    for (std::size_t index = 0; index < 2; ++index) {
        const auto subnet = numbered("subnet_public", index);
        add_association(steps, subnet + "_routes", "Associate public routes", {"routes_public", subnet},
                        "@routes_public.id", "@" + subnet + ".id");
    }
}

void add_nat(Steps& steps, std::size_t index, const std::string& name) {
    Ec2Resource address("address", numbered("nat_address", index), "Allocate address for NAT", {});
    address.parameters = {{"Domain", "vpc"}};
    address.name = numbered(name + "-nat", index);
    steps.add(ec2_row(std::move(address)));
    Ec2Resource nat("nat_gateway", numbered("nat_gateway", index), "Create NAT gateway",
                    {numbered("nat_address", index), numbered("subnet_public", index),
                     "internet_gateway_attached", "route_public"});
    nat.parameters = {{"SubnetId", "@" + numbered("subnet_public", index) + ".id"},
                      {"AllocationId", "@" + numbered("nat_address", index) + ".id"}};
    nat.name = numbered(name, index);
    nat.token = true;
    nat.schedule = minutes_of(2, 5);
    steps.add(ec2_row(std::move(nat)));
}

void add_private_routes(Steps& steps, const std::string& nat, const std::string& name) {
    const std::size_t tables = nat == "per_zone" ? 2 : 1;
    JsonArray table_ids;
    std::vector<std::string> table_steps{"vpc"};
    for (std::size_t index = 0; index < tables; ++index) {
        const auto id = numbered("routes_private", index);
        Ec2Resource table("route_table", id, "Create private route table", {"vpc"});
        table.parameters = {{"VpcId", "@vpc.id"}};
        table.name = numbered(name + "-private", index);
        table.token = true;
        steps.add(ec2_row(std::move(table)));
        table_ids.emplace_back("@" + id + ".id");
        table_steps.push_back(id);
        if (nat == "none") continue;
        add_nat(steps, index, name);
        const auto gateway = numbered("nat_gateway", index);
        add_route(steps, numbered("route_private", index), "Route out through NAT", {id, gateway},
                  "@" + id + ".id", "NatGatewayId", "@" + gateway + ".id");
    }
    for (std::size_t index = 0; index < 2; ++index) {
        const auto subnet = numbered("subnet_control", index);
        const auto table = numbered("routes_private", index < tables ? index : 0);
        add_association(steps, subnet + "_routes", "Associate private routes", {table, subnet},
                        "@" + table + ".id", "@" + subnet + ".id");
    }
    Ec2Resource endpoint("vpc_endpoint", "s3_endpoint", "Create S3 gateway endpoint", std::move(table_steps));
    endpoint.parameters = {{"VpcId", "@vpc.id"},
                           {"VpcEndpointType", "Gateway"},
                           {"ServiceName", "$s3_service"},
                           {"RouteTableIds", std::move(table_ids)}};
    endpoint.name = name + "-s3";
    endpoint.token = true;
    steps.add(ec2_row(std::move(endpoint)));
}

void add_security_group(Steps& steps, const std::string& cluster) {
    Ec2Resource group("security_group", "security_group", "Create security group", {"vpc"});
    group.parameters = {{"VpcId", "@vpc.id"},
                        {"GroupName", "instantstart-" + cluster},
                        {"Description", "InstantStart: nodes and control plane of " + cluster}};
    group.name = "instantstart-" + cluster;
    group.natural_key = true;
    steps.add(ec2_row(std::move(group)));
    add_rules_of_group(steps);
}

}  // namespace

void add_network(Steps& steps, const JsonObject& params) {
    const auto& network = base::get_object(params, "network");
    const auto cluster = base::get_string(params, "cluster");
    const auto name = "instantstart-" + cluster;
    const auto given = base::get_string(network, "vpc_id");
    if (!given.empty()) {
        steps.known("vpc", "Use VPC " + given, {{"id", given}, {"given", true}});
        std::size_t index = 0;
        for (const auto& subnet : base::get_array(network, "subnet_ids")) {
            steps.known(numbered("subnet_control", index), "Use subnet " + std::string(subnet.as_string()),
                        {{"id", subnet}});
            ++index;
        }
        add_security_group(steps, cluster);
        return;
    }
    Ec2Resource vpc("vpc", "vpc", "Create VPC " + base::get_string(network, "vpc_cidr"), {});
    vpc.parameters = {{"CidrBlock", base::get_string(network, "vpc_cidr")}};
    vpc.name = name;
    steps.add(ec2_row(std::move(vpc)));
    steps.add(Row("vpc_dns", "Enable DNS support and host names", {"vpc"}).does(&observe_dns, &act_dns));
    add_subnets(steps, network, cluster);
    add_public_routes(steps, name);
    add_private_routes(steps, base::get_string(network, "nat", "single"), name);
    add_security_group(steps, cluster);
}

void add_cross_rules(Steps& steps) {
    const auto row = [&steps](std::string id, std::string title, JsonObject args) {
        steps.add(Row(std::move(id), std::move(title), {"security_group", "eks"})
                      .does(&observe_rule, &act_rule)
                      .with(std::move(args)));
    };
    const char* own = "@security_group.id";
    const char* eks = "@eks.cluster_security_group_id";
    row("group_ingress_eks", "Allow traffic from the control plane's group",
        {{"group", own}, {"peer", eks}, {"direction", "ingress"}});
    row("eks_group_ingress", "Allow traffic to the control plane's group",
        {{"group", eks}, {"peer", own}, {"direction", "ingress"}});
}

}  // namespace instantstart::flows
