#include <algorithm>

#include "base/text.h"
#include "domain/cidr.h"
#include "flows/ec2_kit.h"
#include "flows/network_steps.h"

namespace instantstart::flows {

namespace {

struct Found {
    Found() = default;
    std::string vpc, group;
    JsonArray control_subnets;  // ids
};

Task<Found> from_eks(Clusters& env, StepCall call) {
    Found found;
    CO_TRY(auto cluster, co_await env.eks(call.context, eks_of(call)));
    const auto& config = base::get_object(cluster, "resourcesVpcConfig");
    found.vpc = base::get_string(config, "vpcId");
    found.control_subnets = base::get_array(config, "subnetIds");
    const auto& groups = base::get_array(config, "securityGroupIds");
    found.group = groups.empty() ? base::get_string(config, "clusterSecurityGroupId")
                                 : std::string(groups.at(0).as_string());
    co_return found;
}

bool leads_out(const JsonValue& table) {
    for (const auto& route : base::get_array(table, "Routes")) {
        if (!base::get_string(route, "NatGatewayId").empty()) return true;
    }
    return false;
}

bool is_ours(const JsonValue& object, const StepCall& call) {
    const auto& tags = base::get_array(object, "Tags");
    return domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
           domain::tag_of(tags, domain::kTagStep).starts_with("routes_private");
}

std::string zone_of_subnet(const JsonArray& subnets, const std::string& id) {
    for (const auto& subnet : subnets) {
        if (base::get_string(subnet, "SubnetId") == id) return base::get_string(subnet, "AvailabilityZone");
    }
    return "";
}

// Which private route table serves a zone: ours by tag, else one of the VPC's that leads out through a NAT
// gateway.
JsonObject tables_by_zone(const JsonArray& tables, const JsonArray& subnets, const StepCall& call) {
    JsonObject by_zone;
    for (const bool ours : {true, false}) {
        for (const auto& table : tables) {
            if (ours ? !is_ours(table, call) : !leads_out(table)) continue;
            const auto id = base::get_string(table, "RouteTableId");
            if (!by_zone.contains("*")) by_zone["*"] = id;
            for (const auto& association : base::get_array(table, "Associations")) {
                const auto zone = zone_of_subnet(subnets, base::get_string(association, "SubnetId"));
                if (!zone.empty() && !by_zone.contains(zone)) by_zone[zone] = id;
            }
        }
        if (!by_zone.empty()) break;
    }
    return by_zone;
}

// All ranges of a VPC, those that are only being associated left out.
JsonArray ranges_of(const JsonValue& vpc) {
    JsonArray cidrs;
    for (const auto& block : base::get_array(vpc, "CidrBlockAssociationSet")) {
        if (base::get_string(block, "CidrBlockState.State", "associated") == "associated")
            cidrs.emplace_back(base::get_string(block, "CidrBlock"));
    }
    if (cidrs.empty()) cidrs.emplace_back(base::get_string(vpc, "CidrBlock"));
    return cidrs;
}

Task<Observation> observe_network(Clusters& env, StepCall call, JsonObject) {
    Found found;
    found.vpc = base::get_string(call.result_of("vpc"), "id");
    found.group = base::get_string(call.result_of("security_group"), "id");
    if (found.vpc.empty()) {
        CO_TRY(found, co_await from_eks(env, call));
    }
    CO_TRY(auto vpcs, co_await ec2_by_id(env, call.context, "vpc", found.vpc));
    if (vpcs.empty()) co_return ops::in_progress("waiting until EC2 shows the VPC");
    JsonArray in_vpc{filter("vpc-id", found.vpc)};
    CO_TRY(auto tables, co_await ec2_list(env, call.context, "route_table", in_vpc));
    CO_TRY(auto subnets, co_await ec2_list(env, call.context, "subnet", in_vpc));
    auto by_zone = tables_by_zone(tables, subnets, call);
    if (by_zone.empty() && !call.result_of("routes_private_0").empty()) {
        co_return ops::in_progress("waiting until EC2 shows the route tables");
    }
    auto cidrs = ranges_of(vpcs.front());
    co_return ops::done({{"vpc_id", found.vpc},
                         {"security_group_id", found.group},
                         {"route_tables", std::move(by_zone)},
                         {"cidrs", std::move(cidrs)}});
}

// --- the compute subnet of a zone

std::string role_of_zone(const JsonObject& args) {
    return "compute_subnet_" + base::get_string(args, "zone");
}

const JsonValue* own_subnet(const JsonArray& subnets, const StepCall& call, const std::string& role) {
    for (const auto& subnet : subnets) {
        const auto& tags = base::get_array(subnet, "Tags");
        if (domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
            domain::tag_of(tags, domain::kTagStep) == role) {
            return &subnet;
        }
    }
    return nullptr;
}

// By which load balancers, node groups and Karpenter find the subnet.
std::map<std::string, std::string> discovery_tags(const StepCall& call) {
    return {{"kubernetes.io/role/internal-elb", "1"},
            {"kubernetes.io/cluster/" + eks_of(call), "shared"},
            {"karpenter.sh/discovery", eks_of(call)}};
}

Task<JsonArray> subnets_of_vpc(Clusters& env, StepCall call) {
    JsonArray in_vpc{filter("vpc-id", base::get_string(call.result_of("network"), "vpc_id"))};
    co_return co_await ec2_list(env, call.context, "subnet", std::move(in_vpc));
}

std::string table_of_zone(const StepCall& call, const std::string& zone) {
    const auto& tables = base::get_object(call.result_of("network"), "route_tables");
    const auto own = tables.find(zone);
    const auto* any = tables.if_contains("*");
    if (own != tables.end() && own->value().is_string()) return std::string(own->value().get_string());
    return any != nullptr && any->is_string() ? std::string(any->get_string()) : "";
}

Task<Observation> observe_compute(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto subnets, co_await subnets_of_vpc(env, call));
    const auto* subnet = own_subnet(subnets, call, role_of_zone(args));
    if (subnet == nullptr) {
        if (is_fresh(env, call)) co_return ops::in_progress("waiting until EC2 shows the subnet");
        co_return ops::absent();
    }
    co_return ops::done({{"id", base::get_string(*subnet, "SubnetId")},
                         {"CidrBlock", base::get_string(*subnet, "CidrBlock")},
                         {"route_table_id", table_of_zone(call, base::get_string(args, "zone"))}});
}

std::vector<domain::Cidr> ranges(const JsonArray& texts) {
    std::vector<domain::Cidr> list;
    for (const auto& text : texts) {
        const auto range = domain::parse_cidr(std::string(text.as_string()));
        if (range) list.push_back(*range);
    }
    return list;
}

bool is_being_widened(const JsonValue& vpc) {
    const auto& blocks = base::get_array(vpc, "CidrBlockAssociationSet");
    return std::any_of(blocks.begin(), blocks.end(), [](const JsonValue& block) {
        return base::get_string(block, "CidrBlockState.State") == "associating";
    });
}

// A VPC that is full gets a secondary range, one that no VPC of the region has, so that they can be peered;
// the next turn finds room in it.
Task<JsonObject> widen(Clusters& env, StepCall call, std::string vpc_id, std::string zone) {
    CO_TRY(auto vpcs, co_await env.aws().collect(call.context, "ec2", "DescribeVpcs", JsonObject{}));
    JsonArray taken;
    for (const auto& vpc : vpcs) {
        for (const auto& block : base::get_array(vpc, "CidrBlockAssociationSet"))
            taken.emplace_back(base::get_string(block, "CidrBlock"));
    }
    const auto range = domain::free_secondary_range(ranges(taken));
    const char* hint = "Give the group a subnet_id, or add a secondary range to the VPC.";
    if (!range) {
        co_return base::conflict_error("no_free_range", "the VPC has no free /20 for a compute subnet in " +
                                                            zone + ", and 100.64.0.0/10 is taken")
            .with_hint(hint);
    }
    JsonObject parameters{{"VpcId", vpc_id}, {"CidrBlock", range->text()}};
    auto answer = co_await mutate(env, call, "ec2", "AssociateVpcCidrBlock", std::move(parameters));
    if (!answer && answer.error().code == "CidrLimitExceeded") {
        co_return std::move(answer)
            .error()
            .wrapped("the VPC has no free /20 and takes no further range")
            .with_hint(hint);
    }
    CO_CHECK_OK(std::move(answer));
    co_return JsonObject{};
}

// The address plan is settled by EC2: two that choose the same range at once get one subnet and one refusal,
// and the refused one chooses again.
Task<JsonObject> act_compute(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto subnets, co_await subnets_of_vpc(env, call));
    const auto role = role_of_zone(args);
    if (const auto* own = own_subnet(subnets, call, role))
        co_return made(env, base::get_string(*own, "SubnetId"));
    JsonArray taken;
    for (const auto& subnet : subnets) taken.emplace_back(base::get_string(subnet, "CidrBlock"));
    const auto vpc_id = base::get_string(call.result_of("network"), "vpc_id");
    const auto zone = base::get_string(args, "zone");
    CO_TRY(auto vpcs, co_await ec2_by_id(env, call.context, "vpc", vpc_id));
    const auto own_ranges =
        vpcs.empty() ? base::get_array(call.result_of("network"), "cidrs") : ranges_of(vpcs.front());
    const auto range = domain::free_compute_range(ranges(own_ranges), ranges(taken));
    // A range that is on its way is waited for: a second one would be for nothing.
    if (!range && !vpcs.empty() && is_being_widened(vpcs.front())) co_return JsonObject{};
    if (!range) co_return co_await widen(env, call, vpc_id, zone);
    const auto name = "instantstart-" + cluster_of(call) + "-compute-" + zone;
    JsonObject parameters{{"VpcId", vpc_id},
                          {"CidrBlock", range->text()},
                          {"AvailabilityZone", zone},
                          {"TagSpecifications", domain::tag_specifications(owner_of(call, role), "subnet",
                                                                           name, discovery_tags(call))}};
    CO_TRY(auto answer, co_await mutate(env, call, "ec2", "CreateSubnet", std::move(parameters)));
    if (base::get_bool(answer, "already")) co_return JsonObject{};
    co_return made(env, base::get_string(answer, "Subnet.SubnetId"));
}

Task<Observation> observe_compute_routes(Clusters& env, StepCall call, JsonObject args) {
    const auto& subnet = call.result_of(role_of_zone(args));
    const auto wanted = base::get_string(subnet, "route_table_id");
    if (wanted.empty()) co_return ops::skipped("the VPC's main route table serves the subnet");
    CO_TRY(auto tables, co_await ec2_by_id(env, call.context, "route_table", wanted));
    if (tables.empty()) co_return ops::in_progress("waiting until EC2 shows the route table");
    for (const auto& association : base::get_array(tables.front(), "Associations")) {
        if (base::get_string(association, "SubnetId") == base::get_string(subnet, "id"))
            co_return ops::done({});
    }
    co_return ops::absent();
}

Task<JsonObject> act_compute_routes(Clusters& env, StepCall call, JsonObject args) {
    const auto& subnet = call.result_of(role_of_zone(args));
    JsonObject parameters{{"RouteTableId", base::get_string(subnet, "route_table_id")},
                          {"SubnetId", base::get_string(subnet, "id")}};
    co_return co_await settle(env, call, "ec2", "AssociateRouteTable", std::move(parameters));
}

// Images and scripts come over the gateway endpoint of S3, past the NAT gateway: its routes must stand in the
// table that serves the subnet, too.
Task<JsonValue> s3_endpoint(Clusters& env, StepCall call) {
    const auto service = "com.amazonaws." + base::get_string(call.params, "region") + ".s3";
    JsonArray filters{filter("vpc-id", base::get_string(call.result_of("network"), "vpc_id")),
                      filter("service-name", service)};
    CO_TRY(auto endpoints, co_await ec2_list(env, call.context, "vpc_endpoint", std::move(filters)));
    for (const auto& endpoint : endpoints) {
        const auto state = base::to_lower(base::get_string(endpoint, "State"));
        if (base::get_string(endpoint, "VpcEndpointType") == "Gateway" && !state.starts_with("delet"))
            co_return endpoint;
    }
    co_return JsonValue();
}

Task<Observation> observe_s3_route(Clusters& env, StepCall call, JsonObject args) {
    const auto table = base::get_string(call.result_of(role_of_zone(args)), "route_table_id");
    if (table.empty()) co_return ops::skipped("the VPC's main route table serves the subnet, as it is");
    CO_TRY(auto endpoint, co_await s3_endpoint(env, call));
    if (endpoint.is_null())
        co_return ops::skipped("the VPC has no gateway endpoint of S3: other ways out must do");
    for (const auto& id : base::get_array(endpoint, "RouteTableIds")) {
        if (id == JsonValue(table)) co_return ops::done({});
    }
    co_return ops::absent();
}

Task<JsonObject> act_s3_route(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto endpoint, co_await s3_endpoint(env, call));
    const auto table = base::get_string(call.result_of(role_of_zone(args)), "route_table_id");
    JsonObject parameters{{"VpcEndpointId", base::get_string(endpoint, "VpcEndpointId")},
                          {"AddRouteTableIds", JsonArray{JsonValue(table)}}};
    co_return co_await settle(env, call, "ec2", "ModifyVpcEndpoint", std::move(parameters));
}

}  // namespace

void add_find_network(Steps& steps) {
    auto needs = steps.those_of({"vpc", "security_group", "routes_private_0", "routes_private_1",
                                 "subnet_control_0_routes", "subnet_control_1_routes"});
    if (needs.empty()) needs = steps.those_of({"eks"});
    steps.add(Row("network", "Find the cluster's network", std::move(needs))
                  .does(&observe_network, nullptr)
                  .as("check"));
}

std::string add_compute_subnet(Steps& steps, const JsonObject& params, const std::string& zone) {
    const auto id = "compute_subnet_" + zone;
    if (steps.has(id)) return id + "_s3";
    const JsonObject args{{"zone", zone}};
    steps.add(Row(id, "Provide a /20 compute subnet in " + zone, {"network"})
                  .does(&observe_compute, &act_compute)
                  .with(args)
                  .alone("addresses/" + base::get_string(params, "cluster")));
    steps.add(Row(id + "_routes", "Associate private routes with the compute subnet", {id})
                  .does(&observe_compute_routes, &act_compute_routes)
                  .with(args));
    auto needs = steps.those_of({"s3_endpoint"});
    needs.push_back(id + "_routes");
    steps.add(Row(id + "_s3", "Reach S3 from the compute subnet", std::move(needs))
                  .does(&observe_s3_route, &act_s3_route)
                  .with(args));
    return id + "_s3";
}

}  // namespace instantstart::flows
