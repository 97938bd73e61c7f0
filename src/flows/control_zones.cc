// The control plane's subnets, and what to do where EKS has no room in a zone: it refuses with the zones that
// it has room in, and a subnet in one of those takes the place of the refused one.
#include <algorithm>

#include "domain/cidr.h"
#include "flows/ec2_kit.h"
#include "flows/eks_steps.h"

namespace instantstart::flows {

namespace {

constexpr std::size_t kPair = 2;

std::string role_of(std::size_t index, bool moved) {
    return "subnet_control_" + std::to_string(index) + (moved ? "_moved" : "");
}

struct Placed {
    Placed() = default;
    std::string id, zone;
};

Task<Placed> moved_subnet(Clusters& env, StepCall call, std::size_t index) {
    CO_TRY(auto found,
           co_await ec2_list(env, call.context, "subnet", tag_filters(call, role_of(index, true))));
    Placed placed;
    if (found.empty()) co_return placed;
    placed.id = base::get_string(found.front(), "SubnetId");
    placed.zone = base::get_string(found.front(), "AvailabilityZone");
    co_return placed;
}

std::string zone_at(const StepCall& call, std::size_t index) {
    const auto& zones = base::get_array(call.params, "network.zones");
    return index < zones.size() && zones[index].is_string() ? std::string(zones[index].as_string()) : "";
}

// The private routes, where they are there already; without them the VPC's own table serves, and the control
// plane's interfaces need no way out.
Task<void> give_routes(Clusters& env, StepCall call, std::size_t index, std::string subnet) {
    for (const auto& role : {"routes_private_" + std::to_string(index), std::string("routes_private_0")}) {
        CO_TRY(auto tables, co_await ec2_list(env, call.context, "route_table", tag_filters(call, role)));
        if (tables.empty()) continue;
        JsonObject parameters{{"RouteTableId", base::get_string(tables.front(), "RouteTableId")},
                              {"SubnetId", subnet}};
        auto answer = co_await mutate(env, call, "ec2", "AssociateRouteTable", std::move(parameters));
        if (!answer && answer.error().kind == base::ErrorKind::cancelled) co_return std::move(answer).error();
        break;
    }
    co_return base::ok();
}

// Once it is listed, and so known to EKS and to whoever looks for it by its tags.
Task<std::string> shown_subnet(Clusters& env, StepCall call, std::size_t index) {
    const auto until = env.clock().monotonic() + std::chrono::seconds(15);
    base::Duration pause = std::chrono::milliseconds(500);
    while (env.clock().monotonic() < until) {
        CO_TRY(auto placed, co_await moved_subnet(env, call, index));
        if (!placed.id.empty()) co_return std::move(placed.id);
        CO_CHECK_OK(co_await env.clock().sleep(pause));
        pause *= 2;
    }
    co_return base::Error(base::ErrorKind::unavailable, "not_yet_shown",
                          "EC2 has a subnet that it does not show yet");
}

Task<std::string> make_moved(Clusters& env, StepCall call, std::size_t index, std::string zone) {
    const auto range = domain::parse_cidr(base::get_string(call.params, "network.vpc_cidr"));
    if (!range) co_return base::internal_error("the VPC's range is not known");
    const auto role = role_of(index, true);
    const std::map<std::string, std::string> further{{"kubernetes.io/role/internal-elb", "1"}};
    const auto name = "instantstart-" + cluster_of(call) + "-control_" + std::to_string(index);
    JsonObject parameters{
        {"VpcId", base::get_string(call.result_of("vpc"), "id")},
        {"CidrBlock", domain::service_subnet(*range, static_cast<std::uint32_t>(4 + index)).text()},
        {"AvailabilityZone", zone},
        {"TagSpecifications", domain::tag_specifications(owner_of(call, role), "subnet", name, further)}};
    CO_CHECK_OK(co_await mutate(env, call, "ec2", "CreateSubnet", std::move(parameters)));
    CO_TRY(auto subnet, co_await shown_subnet(env, call, index));
    CO_CHECK_OK(co_await give_routes(env, std::move(call), index, subnet));
    co_return subnet;
}

}  // namespace

Task<JsonArray> control_subnets(Clusters& env, StepCall call, JsonObject just_moved) {
    JsonArray ids;
    const bool given = !base::get_string(call.params, "network.vpc_id").empty();
    for (std::size_t index = 0; index < 16; ++index) {
        auto id = base::get_string(call.result_of(role_of(index, false)), "id");
        if (const auto fresh = base::get_string(just_moved, std::to_string(index)); !fresh.empty()) {
            id = fresh;
        } else if (!given && index < kPair) {
            CO_TRY(auto moved, co_await moved_subnet(env, call, index));
            if (!moved.id.empty()) id = moved.id;
        }
        if (!id.empty()) ids.emplace_back(id);
    }
    co_return ids;
}

std::vector<std::string> pair_of_valid_zones(const std::vector<std::string>& now,
                                             const std::vector<std::string>& valid) {
    auto pair = now;
    for (auto& zone : pair) {
        if (std::find(valid.begin(), valid.end(), zone) != valid.end()) continue;
        const auto free = std::find_if(valid.begin(), valid.end(), [&pair](const std::string& choice) {
            return std::find(pair.begin(), pair.end(), choice) == pair.end();
        });
        if (free == valid.end()) return {};
        zone = *free;
    }
    return pair;
}

Task<JsonObject> move_control_subnets(Clusters& env, StepCall call, base::Error refusal) {
    std::vector<std::string> valid;
    for (const auto& zone : base::get_array(refusal.extra, "aws_error.validZones")) {
        if (zone.is_string()) valid.emplace_back(zone.as_string());
    }
    std::sort(valid.begin(), valid.end());
    std::vector<std::string> now;
    std::vector<bool> moved_before;  // by an act that was cut short
    for (std::size_t index = 0; index < kPair; ++index) {
        CO_TRY(auto moved, co_await moved_subnet(env, call, index));
        moved_before.push_back(!moved.id.empty());
        now.push_back(moved.id.empty() ? zone_at(call, index) : moved.zone);
    }
    const auto pair = pair_of_valid_zones(now, valid);
    if (now.front().empty() || pair.empty()) {
        co_return std::move(refusal).with_hint(
            "Choose subnets, or network.zones, in two of the zones that EKS names.");
    }
    JsonObject moved_ids;
    for (std::size_t index = 0; index < kPair; ++index) {
        if (pair[index] == now[index]) continue;
        if (moved_before[index]) co_return refusal;  // and refused again
        CO_TRY(auto id, co_await make_moved(env, call, index, pair[index]));
        moved_ids[std::to_string(index)] = id;
    }
    co_return moved_ids;
}

}  // namespace instantstart::flows
