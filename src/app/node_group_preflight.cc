#include "app/node_group_preflight.h"

#include <algorithm>
#include <array>
#include <optional>

#include "app/prices.h"
#include "app/schema.h"
#include "domain/instance_type.h"

namespace instantstart::app {

namespace {

const domain::InstanceType* known_type(const std::string& name) {
    return domain::find_instance_type("ml." + name);
}

// --- addresses

// Of one node: the CNI takes all that an interface holds, and keeps a second interface ready once pods run;
// with EFA each further card has one. 0 where nothing is known of the types.
std::int64_t addresses_of_node(const NodeGroupDemand& demand) {
    std::int64_t most = 0;
    for (const auto& name : demand.types) {
        const auto* type = known_type(name);
        if (type == nullptr || type->ipv4_per_interface == 0) continue;
        const auto further = demand.efa ? std::max<std::int64_t>(0, type->network_cards - 1) : 0;
        most = std::max(most, 2 * type->ipv4_per_interface + further);
    }
    return most;
}

Task<Room> room_of(Call call, NodeGroupDemand demand, std::string cluster, Findings& found) {
    if (demand.subnet.empty()) co_return co_await room_in_zone(call, cluster, demand.zone, found);
    Room room;
    room.subnet = demand.subnet;
    JsonObject parameters{{"SubnetIds", JsonArray{JsonValue(demand.subnet)}}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (!subnets && subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
    if (subnets && !subnets->empty())
        room.free = base::get_int(subnets->front(), "AvailableIpAddressCount", room.free);
    if (!subnets)
        found.warnings.push_back("could not look at " + demand.subnet + ": " + subnets.error().message);
    co_return room;
}

Task<void> check_room(Call call, NodeGroupDemand demand, std::string cluster, Findings& found) {
    const auto each = addresses_of_node(demand), needed = each * demand.count;
    if (each == 0) {
        found.warnings.push_back("how many addresses nodes of " + demand.types.front() +
                                 " take is not known here");
        co_return base::ok();
    }
    CO_TRY(const auto room, co_await room_of(call, demand, cluster, found));
    const auto figures = std::to_string(each) + " a node of " + demand.name + ": two interfaces";
    found.addresses.push_back(JsonObject{{"subnet", room.subnet},
                                         {"zone", demand.zone},
                                         {"free", room.free},
                                         {"needed", needed},
                                         {"figures", figures}});
    if (needed <= room.free) co_return base::ok();
    const auto text = room.subnet + " has " + std::to_string(room.free) + " free addresses, " +
                      std::to_string(needed) + " may be needed (" + figures + ")";
    // With one interface each the nodes start, but have room for fewer pods.
    if (needed / 2 > room.free) {
        found.faults.push_back(fault("/count", text + ": choose a lower count or another zone"));
    } else {
        found.warnings.push_back(text + ": there would be room for fewer pods");
    }
    co_return base::ok();
}

// --- quotas

struct Family {
    std::string_view letters;          // with which the types begin
    std::string_view on_demand, spot;  // quota codes, in vCPUs
};
// The longer beginnings first.
constexpr auto kFamilies = std::to_array<Family>({
    {"trn", "L-2C3B7624", "L-6B0D517C"},
    {"inf", "L-1945791B", "L-B5D1601B"},
    {"p5", "L-417A185B", "L-C4BD4855"},
    {"p", "L-417A185B", "L-7212CCBC"},
    {"g", "L-DB2E81BA", "L-3819A6DF"},
    {"vt", "L-DB2E81BA", "L-3819A6DF"},
    {"a", "L-1216C47A", "L-34B43A08"},
    {"c", "L-1216C47A", "L-34B43A08"},
    {"i", "L-1216C47A", "L-34B43A08"},
    {"m", "L-1216C47A", "L-34B43A08"},
    {"r", "L-1216C47A", "L-34B43A08"},
    {"t", "L-1216C47A", "L-34B43A08"},
});

// "" where EC2's quotas are not known to cover the type.
std::string vcpu_quota(const std::string& type, const std::string& capacity) {
    const auto row = std::find_if(kFamilies.begin(), kFamilies.end(),
                                  [&type](const Family& family) { return type.starts_with(family.letters); });
    if (row == kFamilies.end()) return "";
    return std::string(capacity == "spot" ? row->spot : row->on_demand);
}

Task<std::optional<QuotaLimits>> limits_of(Call call, std::string service, Findings& found) {
    auto limits = co_await quota_limits(call, service, Look::fresh);
    if (limits) co_return std::optional<QuotaLimits>(std::move(*limits));
    if (limits.error().kind == base::ErrorKind::cancelled) co_return std::move(limits).error();
    found.warnings.push_back("could not look quotas of " + service + " up: " + limits.error().message);
    co_return std::optional<QuotaLimits>();
}

// Against the limit alone: what else runs in EC2 is not counted here.
void judge_vcpus(const QuotaLimits& limits, const NodeGroupDemand& demand, Findings& found) {
    std::int64_t vcpus = 0;
    std::string code;
    for (const auto& name : demand.types) {
        const auto* type = known_type(name);
        if (type == nullptr || type->vcpus * demand.count <= vcpus) continue;
        vcpus = type->vcpus * demand.count;
        code = vcpu_quota(name, demand.capacity);
    }
    const auto row = std::find_if(limits.begin(), limits.end(),
                                  [&code](const auto& each) { return each.second.code == code; });
    if (code.empty() || row == limits.end()) return;
    const auto limit = static_cast<std::int64_t>(row->second.value);
    found.quota.push_back(JsonObject{{"name", row->first + " (vCPUs)"}, {"limit", limit}, {"needed", vcpus}});
    if (vcpus <= limit) return;
    found.faults.push_back(
        fault("/count", "quota \"" + row->first + "\" is " + std::to_string(limit) + " vCPUs, " +
                            std::to_string(vcpus) +
                            " needed: use less, or ask for more in Service Quotas (aws service-quotas "
                            "request-service-quota-increase --service-code ec2 --quota-code " +
                            code + " --desired-value " + std::to_string(vcpus) + ")"));
}

Task<void> check_group_count(Call call, std::string eks_name, Findings& found) {
    JsonObject parameters{{"clusterName", eks_name}};
    CO_TRY(auto groups,
           co_await call.services->aws.collect(call.context, "eks", "ListNodegroups", std::move(parameters)));
    CO_TRY(auto limits, co_await limits_of(call, "eks", found));
    if (!limits) co_return base::ok();
    Demand one;
    one.service = "eks";
    one.name = "Managed node groups per cluster";
    one.pointer = "/name";
    one.used = static_cast<std::int64_t>(groups.size());
    one.needed = 1;
    judge(*limits, one, found);
    co_return base::ok();
}

}  // namespace

Task<void> check_node_group(Call call, flows::ClusterRef cluster, NodeGroupDemand demand, Findings& found) {
    if (demand.subnet.empty()) {
        CO_CHECK_OK(co_await check_group_count(call, cluster.eks_name, found));
    }
    if (demand.count <= 0) co_return base::ok();
    CO_CHECK_OK(co_await check_room(call, demand, cluster.name, found));
    CO_TRY(auto limits, co_await limits_of(call, "ec2", found));
    if (limits) judge_vcpus(*limits, demand, found);
    std::int64_t interfaces = 2;
    for (const auto& name : demand.types) {
        const auto* type = known_type(name);
        if (demand.efa && type != nullptr) interfaces = std::max(interfaces, type->network_cards);
    }
    found.interfaces += interfaces * demand.count;
    found.interfaces_pointer = "/count";
    co_return base::ok();
}

Task<void> put_node_group_cost(Call call, NodeGroupDemand whole, Plan& plan) {
    JsonArray types;
    for (const auto& type : whole.types) types.emplace_back(type);
    JsonArray rows{JsonObject{{"name", whole.name},
                              {"instance_types", std::move(types)},
                              {"count", whole.count},
                              {"capacity", {{"type", whole.capacity}}}}};
    co_return co_await put_cost(call, std::move(rows), plan);
}

}  // namespace instantstart::app
