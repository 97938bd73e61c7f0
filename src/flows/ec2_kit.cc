#include "flows/ec2_kit.h"

#include "ops/proof.h"

namespace instantstart::flows {

namespace {

Ec2Kind kind(std::string noun, std::string plural, std::string id, std::string create, std::string answer,
             std::string tag_type, std::string state, std::string remove) {
    Ec2Kind row;
    row.noun = std::move(noun);
    row.describe = "Describe" + plural;
    row.list = std::move(plural);
    row.ids = id + "s";
    row.id = std::move(id);
    row.create = std::move(create);
    row.answer = std::move(answer);
    row.tag_type = std::move(tag_type);
    row.state = std::move(state);
    row.remove = std::move(remove);
    return row;
}

std::map<std::string, Ec2Kind, std::less<>> make_table() {
    std::map<std::string, Ec2Kind, std::less<>> table;
    const auto put = [&table](Ec2Kind row) { table.emplace(row.noun, row); };
    put(kind("vpc", "Vpcs", "VpcId", "CreateVpc", "Vpc", "vpc", "State", "DeleteVpc"));
    put(kind("subnet", "Subnets", "SubnetId", "CreateSubnet", "Subnet", "subnet", "State", "DeleteSubnet"));
    put(kind("internet_gateway", "InternetGateways", "InternetGatewayId", "CreateInternetGateway",
             "InternetGateway", "internet-gateway", "", "DeleteInternetGateway"));
    put(kind("route_table", "RouteTables", "RouteTableId", "CreateRouteTable", "RouteTable", "route-table",
             "", "DeleteRouteTable"));
    put(kind("address", "Addresses", "AllocationId", "AllocateAddress", "", "elastic-ip", "",
             "ReleaseAddress"));
    auto nat = kind("nat_gateway", "NatGateways", "NatGatewayId", "CreateNatGateway", "NatGateway",
                    "natgateway", "State", "DeleteNatGateway");
    nat.filters = "Filter";
    put(nat);
    auto endpoint = kind("vpc_endpoint", "VpcEndpoints", "VpcEndpointId", "CreateVpcEndpoint", "VpcEndpoint",
                         "vpc-endpoint", "State", "DeleteVpcEndpoints");
    put(endpoint);
    auto group = kind("security_group", "SecurityGroups", "GroupId", "CreateSecurityGroup", "",
                      "security-group", "", "DeleteSecurityGroup");
    put(group);
    auto interface = kind("network_interface", "NetworkInterfaces", "NetworkInterfaceId", "", "",
                          "network-interface", "Status", "DeleteNetworkInterface");
    put(interface);
    put(kind("launch_template", "LaunchTemplates", "LaunchTemplateId", "CreateLaunchTemplate",
             "LaunchTemplate", "launch-template", "", "DeleteLaunchTemplate"));
    return table;
}

}  // namespace

const Ec2Kind& ec2_kind(std::string_view noun) {
    static const auto kTable = make_table();
    const auto at = kTable.find(noun);
    CHECK(at != kTable.end());
    return at->second;
}

Task<JsonArray> ec2_list(Clusters& env, Context context, std::string noun, JsonArray filters) {
    const auto& row = ec2_kind(noun);
    JsonObject parameters{{row.filters, std::move(filters)}};
    if (noun == "address") {  // the one without pages
        CO_TRY(auto answer, co_await env.aws().call(context, "ec2", row.describe, std::move(parameters)));
        co_return base::get_array(answer, row.list);
    }
    co_return co_await env.aws().collect(context, "ec2", row.describe, std::move(parameters));
}

Task<JsonArray> ec2_by_id(Clusters& env, Context context, std::string noun, std::string id,
                          aws::CallOptions options) {
    const auto& row = ec2_kind(noun);
    JsonObject parameters{{row.ids, JsonArray{JsonValue(id)}}};
    auto answer = co_await env.aws().call(context, "ec2", row.describe, std::move(parameters), options);
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonArray{};
        co_return std::move(answer).error();
    }
    co_return base::get_array(*answer, row.list);
}

namespace {

bool is_live(const JsonValue& object, const Ec2Kind& row) {
    if (row.state.empty()) return true;
    const auto state = base::get_string(object, row.state);
    return state != "deleted" && state != "deleting" && state != "failed";
}

Observation of_resource(const JsonObject& object, const Ec2Kind& row) {
    const auto state = row.state.empty() ? "available" : base::get_string(object, row.state, "available");
    if (state == "pending") {
        return ops::in_progress(row.tag_type + " is " + state);
    }
    JsonObject result{{"id", base::get_string(object, row.id)}};
    for (const char* key : {"CidrBlock", "AvailabilityZone", "VpcId"}) {
        if (const auto* value = object.if_contains(key)) result[key] = *value;
    }
    return ops::done(std::move(result));
}

Task<Observation> observe_resource(Clusters& env, StepCall call, JsonObject args) {
    const auto& row = ec2_kind(base::get_string(args, "noun"));
    const auto id = base::get_string(call.memory, "id");
    JsonArray found;
    if (!id.empty()) {
        CO_TRY(found, co_await ec2_by_id(env, call.context, row.noun, id, look(call)));
    } else {
        auto filters = tag_filters(call, base::get_string(args, "role", call.step_id));
        CO_TRY(found, co_await ec2_list(env, call.context, row.noun, std::move(filters)));
    }
    for (const auto& object : found) {
        if (is_live(object, row)) co_return of_resource(object.as_object(), row);
    }
    if (!found.empty() && !id.empty() && base::get_string(found.front(), row.state) == "failed") {
        auto why = base::get_string(found.front(), "FailureMessage", "AWS gives no reason");
        co_return ops::impossible(
            base::Error(base::ErrorKind::conflict, "resource_failed", row.tag_type + " failed: " + why));
    }
    if (!id.empty() && is_fresh(env, call)) co_return ops::in_progress("waiting until EC2 shows " + id);
    co_return ops::absent();
}

Task<JsonObject> act_resource(Clusters& env, StepCall call, JsonObject args) {
    const auto& row = ec2_kind(base::get_string(args, "noun"));
    auto parameters = resolved(base::get_object(args, "parameters"), call);
    std::map<std::string, std::string> further;
    for (const auto& [key, value] : base::get_object(args, "tags")) {
        further[key] = std::string(base::get_string(JsonObject{{"v", value}}, "v"));
    }
    const auto role = base::get_string(args, "role", call.step_id);
    const auto owner = owner_of(call, role);
    parameters["TagSpecifications"] =
        domain::tag_specifications(owner, row.tag_type, base::get_string(args, "name"), further);
    if (base::get_bool(args, "token")) parameters["ClientToken"] = call.client_token;
    auto answer = co_await env.aws().call(call.context, "ec2", row.create, std::move(parameters));
    if (!answer) {
        if (is_duplicate(answer.error())) co_return JsonObject{};
        co_return answer.error().wrapped("ec2:" + row.create);
    }
    const auto& object = row.answer.empty() ? *answer : base::get_object(*answer, row.answer);
    auto memory = made(env, base::get_string(object, row.id));
    auto seen = of_resource(object, row);
    if (seen.presence != Presence::done) co_return memory;
    co_return ops::proven(std::move(memory), std::move(seen.result));
}

}  // namespace

Row ec2_row(Ec2Resource resource) {
    JsonObject tags;
    for (const auto& [key, value] : resource.tags) tags[key] = value;
    Row row(resource.id, std::move(resource.title), std::move(resource.needs));
    row.observe = &observe_resource;
    row.act = &act_resource;
    row.args = {{"noun", resource.noun},
                {"parameters", std::move(resource.parameters)},
                {"tags", std::move(tags)},
                {"name", resource.name},
                {"role", resource.role.empty() ? resource.id : resource.role},
                {"token", resource.token}};
    row.schedule = resource.schedule;
    row.repeat = resource.token || resource.natural_key ? Repeat::repeatable : Repeat::look_first;
    return row;
}

}  // namespace instantstart::flows
