#include <algorithm>

#include "base/text.h"
#include "flows/ec2_kit.h"
#include "flows/removal_steps.h"

namespace instantstart::flows {

namespace {

std::string state_of(const JsonValue& object, const Ec2Kind& row) {
    return row.state.empty() ? "" : base::get_string(object, row.state);
}

Task<Observation> observe_gone(Clusters& env, StepCall call, JsonObject args) {
    const auto& row = ec2_kind(base::get_string(args, "noun"));
    CO_TRY(auto found, co_await ec2_list(env, call.context, row.noun, tag_filters(call, "")));
    bool leaving = false, there = false;
    for (const auto& object : found) {
        const auto state = state_of(object, row);
        if (state == "deleted") continue;
        (state == "deleting" ? leaving : there) = true;
    }
    if (there) co_return ops::absent();
    if (leaving) co_return ops::in_progress("waiting until EC2 has deleted it");
    co_return ops::done({});
}

Task<void> remove_one(Clusters& env, StepCall call, std::string operation, JsonObject parameters) {
    auto answer = co_await env.aws().call(call.context, "ec2", operation, std::move(parameters));
    if (answer || is_absent(answer.error())) co_return base::ok();
    co_return answer.error().wrapped("ec2:" + operation);
}

Task<void> detach_gateway(Clusters& env, StepCall call, JsonValue gateway) {
    for (const auto& attachment : base::get_array(gateway, "Attachments")) {
        JsonObject parameters{{"InternetGatewayId", base::get_string(gateway, "InternetGatewayId")},
                              {"VpcId", base::get_string(attachment, "VpcId")}};
        auto answer =
            co_await env.aws().call(call.context, "ec2", "DetachInternetGateway", std::move(parameters));
        if (!answer && !is_absent(answer.error()) && answer.error().code != "Gateway.NotAttached") {
            co_return std::move(answer).error();
        }
    }
    co_return base::ok();
}

Task<JsonObject> act_gone(Clusters& env, StepCall call, JsonObject args) {
    const auto& row = ec2_kind(base::get_string(args, "noun"));
    CO_TRY(auto found, co_await ec2_list(env, call.context, row.noun, tag_filters(call, "")));
    for (const auto& object : found) {
        const auto state = state_of(object, row);
        if (state == "deleted" || state == "deleting") continue;
        const auto id = base::get_string(object, row.id);
        if (row.noun == "internet_gateway") {
            CO_CHECK_OK(co_await detach_gateway(env, call, object));
        }
        JsonObject parameters{{row.id, id}};
        if (row.noun == "vpc_endpoint") parameters = JsonObject{{"VpcEndpointIds", JsonArray{JsonValue(id)}}};
        CO_CHECK_OK(co_await remove_one(env, call, row.remove, std::move(parameters)));
    }
    co_return JsonObject{};
}

// --- interfaces that EKS, the CNI or SageMaker left

void add_new(JsonArray& all, const JsonArray& some) {
    for (const auto& item : some) {
        const auto id = base::get_string(item, "NetworkInterfaceId");
        const bool known = std::any_of(all.begin(), all.end(), [&id](const JsonValue& other) {
            return base::get_string(other, "NetworkInterfaceId") == id;
        });
        if (!known) all.push_back(item);
    }
}

JsonArray filter_of_all(const char* name, const JsonArray& objects, const char* id) {
    JsonArray values;
    for (const auto& object : objects) values.emplace_back(base::get_string(object, id));
    return JsonArray{JsonObject{{"Name", name}, {"Values", std::move(values)}}};
}

// Where the VPC is the user's: those that keep our subnets and groups in it from being deleted.
Task<JsonArray> interfaces_in_given_vpc(Clusters& env, StepCall call) {
    JsonArray all;
    CO_TRY(auto subnets, co_await ec2_list(env, call.context, "subnet", tag_filters(call, "")));
    if (!subnets.empty()) {
        auto in_subnets = filter_of_all("subnet-id", subnets, "SubnetId");
        CO_TRY(auto some, co_await ec2_list(env, call.context, "network_interface", std::move(in_subnets)));
        add_new(all, some);
    }
    CO_TRY(auto groups, co_await ec2_list(env, call.context, "security_group", tag_filters(call, "")));
    if (!groups.empty()) {
        auto with_groups = filter_of_all("group-id", groups, "GroupId");
        CO_TRY(auto some, co_await ec2_list(env, call.context, "network_interface", std::move(with_groups)));
        add_new(all, some);
    }
    co_return all;
}

Task<JsonArray> interfaces(Clusters& env, StepCall call) {
    CO_TRY(auto vpcs, co_await ec2_list(env, call.context, "vpc", tag_filters(call, "")));
    if (vpcs.empty()) co_return co_await interfaces_in_given_vpc(env, call);
    JsonArray all;
    for (const auto& vpc : vpcs) {
        JsonArray in_vpc{filter("vpc-id", base::get_string(vpc, "VpcId"))};
        CO_TRY(auto some, co_await ec2_list(env, call.context, "network_interface", std::move(in_vpc)));
        add_new(all, some);
    }
    co_return all;
}

bool is_leftover(const JsonValue& interface) {
    if (base::get_string(interface, "Status") != "available" || base::get_bool(interface, "RequesterManaged"))
        return false;
    const auto text = base::get_string(interface, "Description");
    return text.starts_with("aws-K8S-") || text.starts_with("Amazon EKS") ||
           !domain::tag_of(base::get_array(interface, "TagSet"), "cluster.k8s.amazonaws.com/name").empty();
}

Task<Observation> observe_interfaces(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto found, co_await interfaces(env, call));
    if (found.empty()) co_return ops::done({});
    std::vector<std::string> names;
    for (const auto& interface : found) {
        if (is_leftover(interface)) co_return ops::absent();
        names.push_back(base::get_string(interface, "NetworkInterfaceId") + " (" +
                        domain::clean_text(base::get_string(interface, "Description"), 60) + ")");
    }
    co_return ops::in_progress("waiting until AWS removes " + base::join(names, ", "));
}

Task<JsonObject> act_interfaces(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto found, co_await interfaces(env, call));
    for (const auto& interface : found) {
        if (!is_leftover(interface)) continue;
        JsonObject parameters{{"NetworkInterfaceId", base::get_string(interface, "NetworkInterfaceId")}};
        CO_CHECK_OK(co_await remove_one(env, call, "DeleteNetworkInterface", std::move(parameters)));
    }
    co_return JsonObject{};
}

// EC2 lists a new interface a moment late: the look at the interfaces may have missed one that is in the way
// now. What can be deleted goes; the refusal stands, and the step comes again.
Task<void> clear_way(Clusters& env, StepCall call, base::Error refusal) {
    if (refusal.code == "DependencyViolation") {
        auto cleared = co_await act_interfaces(env, std::move(call), {});
        if (!cleared) co_return std::move(cleared).error();
    }
    co_return refusal;
}

Task<JsonObject> act_subnets(Clusters& env, StepCall call, JsonObject args) {
    auto removed = co_await act_gone(env, call, std::move(args));
    if (!removed) CO_CHECK_OK(co_await clear_way(env, std::move(call), removed.error()));
    co_return removed;
}

// --- security groups: rules that name another group go first, or neither group can

Task<JsonArray> our_groups(Clusters& env, StepCall call) {
    CO_TRY(auto groups, co_await ec2_list(env, call.context, "security_group", tag_filters(call, "")));
    CO_TRY(auto vpcs, co_await ec2_list(env, call.context, "vpc", tag_filters(call, "")));
    for (const auto& vpc : vpcs) {
        JsonArray in_vpc{filter("vpc-id", base::get_string(vpc, "VpcId"))};
        CO_TRY(auto all, co_await ec2_list(env, call.context, "security_group", std::move(in_vpc)));
        for (const auto& group : all) {
            const auto& tags = base::get_array(group, "Tags");
            const bool of_balancer = domain::tag_of(tags, "elbv2.k8s.aws/cluster") == eks_of(call);
            if (of_balancer && domain::tag_of(tags, domain::kTagCluster).empty()) groups.push_back(group);
        }
    }
    co_return groups;
}

// The permissions of a group that name another group than itself.
JsonArray cross_permissions(const JsonValue& group, std::string_view own) {
    JsonArray cross;
    for (const auto& permission : base::get_array(group, "IpPermissions")) {
        JsonArray pairs;
        for (const auto& pair : base::get_array(permission, "UserIdGroupPairs")) {
            const auto other = base::get_string(pair, "GroupId");
            if (!other.empty() && other != own) pairs.push_back(JsonObject{{"GroupId", other}});
        }
        if (pairs.empty()) continue;
        JsonObject row{{"IpProtocol", base::get_string(permission, "IpProtocol")},
                       {"UserIdGroupPairs", std::move(pairs)}};
        for (const char* port : {"FromPort", "ToPort"}) {
            if (const auto* value = permission.as_object().if_contains(port)) row[port] = *value;
        }
        cross.push_back(std::move(row));
    }
    return cross;
}

// Ours, and those of the VPC that let ours in.
Task<JsonArray> groups_with_cross_rules(Clusters& env, StepCall call) {
    CO_TRY(auto ours, co_await ec2_list(env, call.context, "security_group", tag_filters(call, "")));
    JsonArray with_rules;
    for (const auto& group : ours) {
        const auto id = base::get_string(group, "GroupId");
        if (!cross_permissions(group, id).empty()) with_rules.push_back(group);
        JsonArray by_rule{filter("ip-permission.group-id", id)};
        CO_TRY(auto others, co_await ec2_list(env, call.context, "security_group", std::move(by_rule)));
        for (const auto& other : others) {
            const auto other_id = base::get_string(other, "GroupId");
            if (other_id != id && !cross_permissions(other, other_id).empty()) with_rules.push_back(other);
        }
    }
    co_return with_rules;
}

Task<Observation> observe_cross_rules(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto groups, co_await groups_with_cross_rules(env, call));
    if (groups.empty()) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_cross_rules(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto groups, co_await groups_with_cross_rules(env, call));
    for (const auto& group : groups) {
        const auto id = base::get_string(group, "GroupId");
        JsonObject parameters{{"GroupId", id}, {"IpPermissions", cross_permissions(group, id)}};
        CO_CHECK_OK(co_await remove_one(env, call, "RevokeSecurityGroupIngress", std::move(parameters)));
    }
    co_return JsonObject{};
}

Task<Observation> observe_groups(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto groups, co_await our_groups(env, call));
    if (groups.empty()) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_groups(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto groups, co_await our_groups(env, call));
    for (const auto& group : groups) {
        JsonObject parameters{{"GroupId", base::get_string(group, "GroupId")}};
        auto removed = co_await remove_one(env, call, "DeleteSecurityGroup", std::move(parameters));
        if (!removed) CO_CHECK_OK(co_await clear_way(env, call, removed.error()));
    }
    co_return JsonObject{};
}

void gone(Steps& steps, std::string noun, std::string id, std::string title, std::vector<std::string> needs,
          double minutes) {
    steps.add(Row(std::move(id), std::move(title), std::move(needs))
                  .does(&observe_gone, &act_gone)
                  .with({{"noun", std::move(noun)}})
                  .takes(minutes_of(minutes, minutes > 0.5 ? 5 : 3))
                  .as("delete"));
}

}  // namespace

void add_network_gone(Steps& steps) {
    steps.add(Row("cross_rules_revoked", "Revoke the rules between security groups", {"hyperpod_removed"})
                  .does(&observe_cross_rules, &act_cross_rules)
                  .as("delete"));
    gone(steps, "nat_gateway", "nat_gateways_removed", "Delete NAT gateways",
         {"hyperpod_removed", "eks_removed"}, 1);
    gone(steps, "launch_template", "launch_templates_removed", "Delete launch templates", {"eks_removed"},
         0.05);
    gone(steps, "address", "addresses_released", "Release addresses", {"nat_gateways_removed"}, 0.05);
    gone(steps, "vpc_endpoint", "endpoints_removed", "Delete VPC endpoints",
         {"hyperpod_removed", "eks_removed"}, 0.1);
    auto schedule = minutes_of(0.5, 15);
    schedule.limit = std::chrono::minutes(30);
    steps.add(Row("interfaces_removed", "Delete network interfaces that were left",
                  {"hyperpod_removed", "eks_removed", "nat_gateways_removed", "endpoints_removed"})
                  .does(&observe_interfaces, &act_interfaces)
                  .takes(schedule)
                  .as("delete"));
    gone(steps, "internet_gateway", "internet_gateway_removed", "Delete internet gateway",
         {"addresses_released", "interfaces_removed"}, 0.05);
    steps.add(Row("subnets_removed", "Delete subnets", {"interfaces_removed"})
                  .does(&observe_gone, &act_subnets)
                  .with({{"noun", "subnet"}})
                  .takes(minutes_of(0.05, 3))
                  .as("delete"));
    gone(steps, "route_table", "route_tables_removed", "Delete route tables", {"subnets_removed"}, 0.05);
    steps.add(Row("security_groups_removed", "Delete security groups",
                  {"interfaces_removed", "cross_rules_revoked"})
                  .does(&observe_groups, &act_groups)
                  .as("delete"));
    gone(steps, "vpc", "vpc_removed", "Delete VPC",
         {"internet_gateway_removed", "route_tables_removed", "security_groups_removed"}, 0.05);
}

}  // namespace instantstart::flows
