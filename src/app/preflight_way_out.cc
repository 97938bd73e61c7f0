// Preflight of a VPC that others made: whether nodes in a compute subnet of it reach AWS's APIs, images and
// S3. The subnet is served by a route table that leads out by a NAT gateway, else by the VPC's main one.
#include <algorithm>

#include "app/preflight.h"
#include "base/text.h"
#include "domain/names.h"

namespace instantstart::app {

namespace {

JsonObject filter(const std::string& name, const std::string& value) {
    return {{"Name", name}, {"Values", JsonArray{JsonValue(value)}}};
}

// Those that the compute subnets of the VPC are associated with (flows/compute_subnet.cc chooses alike).
bool serves_compute(const JsonValue& table) {
    const auto& tags = base::get_array(table, "Tags");
    if (domain::tag_of(tags, domain::kTagStep).starts_with("routes_private")) return true;
    const auto& routes = base::get_array(table, "Routes");
    return std::any_of(routes.begin(), routes.end(), [](const JsonValue& route) {
        return !base::get_string(route, "NatGatewayId").empty();
    });
}

bool is_main(const JsonValue& table) {
    const auto& associations = base::get_array(table, "Associations");
    return std::any_of(associations.begin(), associations.end(),
                       [](const JsonValue& association) { return base::get_bool(association, "Main"); });
}

// An endpoint of S3 that serves a compute subnet: a gateway is given to the table that we associate, the
// main table must have it already; an interface is reached from the whole VPC.
bool reaches_s3(const JsonValue& endpoint, const std::string& main_table) {
    if (base::to_lower(base::get_string(endpoint, "State")).starts_with("delet")) return false;
    if (base::get_string(endpoint, "VpcEndpointType") != "Gateway" || main_table.empty()) return true;
    const auto& tables = base::get_array(endpoint, "RouteTableIds");
    return std::find(tables.begin(), tables.end(), JsonValue(main_table)) != tables.end();
}

// The main route table, where that is what serves compute subnets; "" where another does.
Task<std::string> main_table_in_use(Call call, std::string vpc, Findings& found) {
    JsonObject parameters{{"Filters", JsonArray{filter("vpc-id", vpc)}}};
    CO_TRY(auto tables, co_await call.services->aws.collect(call.context, "ec2", "DescribeRouteTables",
                                                            std::move(parameters)));
    if (std::any_of(tables.begin(), tables.end(), &serves_compute)) co_return std::string();
    const auto table = std::find_if(tables.begin(), tables.end(), &is_main);
    const auto id = table == tables.end() ? std::string("") : base::get_string(*table, "RouteTableId");
    found.warnings.push_back("no route table of " + vpc + " leads out by a NAT gateway: the main one" +
                             (id.empty() ? id : " (" + id + ")") +
                             " will serve the compute subnet. Where it leads nowhere nodes never come: add a "
                             "NAT gateway and its route, or give the group a subnet_id that leads out");
    co_return id;
}

Task<void> check_s3(Call call, std::string vpc, std::string main_table, Findings& found) {
    const auto service = "com.amazonaws." + call.services->aws.region() + ".s3";
    JsonObject parameters{{"Filters", JsonArray{filter("vpc-id", vpc), filter("service-name", service)}}};
    CO_TRY(auto endpoints, co_await call.services->aws.collect(call.context, "ec2", "DescribeVpcEndpoints",
                                                               std::move(parameters)));
    const bool reached = std::any_of(endpoints.begin(), endpoints.end(), [&main_table](const auto& endpoint) {
        return reaches_s3(endpoint, main_table);
    });
    if (reached) co_return base::ok();
    found.warnings.push_back(
        vpc +
        " has no endpoint of S3 for the compute subnet: lifecycle scripts and images come by the NAT "
        "gateway, at its price by the GB, and not at all where there is none. To make one: aws ec2 "
        "create-vpc-endpoint --vpc-id " +
        vpc + " --service-name " + service + " --route-table-ids " +
        (main_table.empty() ? std::string("(those of the NAT gateways)") : main_table));
    co_return base::ok();
}

Task<void> look(Call call, std::string vpc, Findings& found) {
    CO_TRY(const auto main_table, co_await main_table_in_use(call, vpc, found));
    co_return co_await check_s3(call, vpc, main_table, found);
}

}  // namespace

Task<void> check_way_out(Call call, std::string vpc, Findings& found) {
    if (vpc.empty()) co_return base::ok();
    auto seen = co_await look(call, vpc, found);
    if (!seen && seen.error().kind == base::ErrorKind::cancelled) co_return std::move(seen).error();
    if (!seen) found.warnings.push_back("could not see the ways out of " + vpc + ": " + seen.error().message);
    co_return base::ok();
}

}  // namespace instantstart::app
