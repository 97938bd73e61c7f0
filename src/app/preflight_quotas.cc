// Preflight of quotas: by their names, as Service Quotas lists them.
#include <algorithm>

#include "app/preflight.h"
#include "app/schema.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

void count_group(const JsonObject& group, Usage& usage) {
    auto& by_type = base::find_path(group, "CapacityRequirements.Spot") == nullptr ? usage.other : usage.spot;
    const auto wanted = std::max(base::get_int(group, "TargetCount"), base::get_int(group, "CurrentCount"));
    auto missing = wanted;
    auto first = base::get_string(group, "InstanceType");
    for (const auto& row : base::get_array(group, "InstanceTypeDetails")) {
        const auto count = base::get_int(row, "CurrentCount");
        by_type[base::get_string(row, "InstanceType")] += count;
        missing -= count;
    }
    if (first.empty()) first = base::get_string(group, "InstanceRequirements.DesiredInstanceTypes.0");
    if (first.empty()) first = base::get_string(group, "InstanceTypeDetails.0.InstanceType");
    if (missing > 0) by_type[first] += missing;
    usage.total += wanted;
}

}  // namespace

Task<Usage> hyperpod_usage(Call call) {
    auto& aws = call.services->aws;
    CO_TRY(auto clusters, co_await aws.collect(call.context, "sagemaker", "ListClusters", JsonObject{}));
    Usage usage;
    for (const auto& summary : clusters) {
        JsonObject parameters{{"ClusterName", base::get_string(summary, "ClusterName")}};
        auto cluster = co_await aws.call(call.context, "sagemaker", "DescribeCluster", std::move(parameters));
        if (!cluster) {
            if (cluster.error().kind == base::ErrorKind::not_found) continue;  // gone between the two calls
            co_return std::move(cluster).error();
        }
        for (const auto& group : base::get_array(*cluster, "InstanceGroups"))
            count_group(group.as_object(), usage);
    }
    co_return usage;
}

QuotaRow quota_row(const std::string& name) {
    constexpr std::string_view kEnd = "cluster usage";
    QuotaRow row;
    const auto space = name.find(' ');
    const auto words = base::to_lower(name);
    if (space == std::string::npos || !words.starts_with("ml.") || !words.ends_with(kEnd)) return row;
    const auto middle = words.substr(space, words.size() - space - kEnd.size());
    row.spot = middle.find("spot") != std::string::npos;
    if (row.spot || middle == " for ") row.type = name.substr(0, space);
    return row;
}

TypeQuota type_quota(const QuotaLimits& limits, const Usage& usage, const std::string& type, bool spot) {
    const auto count = [&type](const std::map<std::string, std::int64_t>& by_type) {
        const auto at = by_type.find(type);
        return at == by_type.end() ? 0 : at->second;
    };
    TypeQuota both, own;
    both.name = type + " for cluster usage";
    both.used = count(usage.other);
    for (auto at = limits.lower_bound(type + " "); at != limits.end() && at->first.starts_with(type + " ");
         ++at) {
        if (quota_row(at->first).spot) own.name = at->first;
    }
    own.used = count(usage.spot);
    if (own.name.empty()) both.used += own.used;
    return spot && !own.name.empty() ? own : both;
}

Task<QuotaLimits> quota_limits(Call call, std::string service, Look look) {
    auto& aws = look == Look::fresh ? call.services->clusters.aws() : call.services->aws;
    QuotaLimits limits;
    for (const char* operation :
         {"ListAWSDefaultServiceQuotas", "ListServiceQuotas"}) {  // applied values come second and win
        JsonObject parameters{{"ServiceCode", service}};
        CO_TRY(auto rows,
               co_await aws.collect(call.context, "service-quotas", operation, std::move(parameters)));
        for (const auto& row : rows) {
            const auto* value = base::find_path(row, "Value");
            if (value == nullptr || !value->is_number()) continue;
            auto& limit = limits[base::get_string(row, "QuotaName")];
            limit.value = value->to_number<double>();
            limit.code = base::get_string(row, "QuotaCode");
        }
    }
    co_return limits;
}

namespace {

std::string way_out(const QuotaLimit& limit, const Demand& demand) {
    return "ask for more in Service Quotas (aws service-quotas request-service-quota-increase "
           "--service-code " +
           demand.service + " --quota-code " + limit.code + " --desired-value " +
           std::to_string(demand.used + demand.needed) + ")";
}

}  // namespace

void judge(const QuotaLimits& limits, const Demand& demand, Findings& found) {
    const auto at = limits.find(demand.name);
    if (at == limits.end()) {
        found.warnings.push_back("no quota \"" + demand.name + "\" was found");
        return;
    }
    const auto limit = static_cast<std::int64_t>(at->second.value);
    const auto free = std::max<std::int64_t>(0, limit - demand.used);
    found.quota.push_back(JsonObject{{"name", demand.name},
                                     {"limit", limit},
                                     {"used", demand.used},
                                     {"needed", demand.needed},
                                     {"free", free}});
    if (demand.needed <= free) return;
    found.faults.push_back(fault(demand.pointer, "quota \"" + demand.name + "\" has " + std::to_string(free) +
                                                     " free of " + std::to_string(limit) + " (" +
                                                     std::to_string(demand.used) + " in use), " +
                                                     std::to_string(demand.needed) +
                                                     " needed: use less, or " + way_out(at->second, demand)));
}

namespace {

// Limits of a service; none, with a warning, where they cannot be seen.
Task<std::optional<QuotaLimits>> limits_or_warning(Call call, std::string service, Findings& found) {
    auto limits = co_await quota_limits(call, service, Look::fresh);
    if (limits) co_return std::optional<QuotaLimits>(std::move(*limits));
    if (limits.error().kind == base::ErrorKind::cancelled) co_return std::move(limits).error();
    found.warnings.push_back("could not look quotas of " + service + " up: " + limits.error().message);
    co_return std::optional<QuotaLimits>();
}

// How many there are; -1, with a warning, where that cannot be seen.
Task<std::int64_t> counted(Call call, std::string service, std::string operation, std::string list,
                           Findings& found) {
    auto& aws = call.services->aws;
    std::int64_t count = -1;
    if (list.empty()) {
        auto rows = co_await aws.collect(call.context, service, operation, JsonObject{});
        if (rows) co_return static_cast<std::int64_t>(rows->size());
        found.warnings.push_back("could not count by " + service + ":" + operation + ": " +
                                 rows.error().message);
        co_return count;
    }
    auto answer = co_await aws.call(call.context, service, operation, JsonObject{});
    if (answer) co_return static_cast<std::int64_t>(base::get_array(*answer, list).size());
    found.warnings.push_back("could not count by " + service + ":" + operation + ": " +
                             answer.error().message);
    co_return count;
}

struct Countable {
    Countable(Demand demand, std::string counting_service, std::string operation, std::string list)
        : demand(std::move(demand)),
          counting_service(std::move(counting_service)),
          operation(std::move(operation)),
          list(std::move(list)) {}
    Demand demand;
    std::string counting_service, operation, list;
};

Demand demand_of(std::string service, std::string name, std::string pointer, std::int64_t needed) {
    Demand made;
    made.service = std::move(service);
    made.name = std::move(name);
    made.pointer = std::move(pointer);
    made.needed = needed;
    return made;
}

std::vector<Countable> countables(const ClusterNeeds& needs) {
    std::vector<Countable> rows;
    if (needs.network) {
        rows.emplace_back(demand_of("vpc", "VPCs per Region", "/network/vpc_id", 1), "ec2", "DescribeVpcs",
                          "");
        rows.emplace_back(demand_of("vpc", "Internet gateways per Region", "/network/vpc_id", 1), "ec2",
                          "DescribeInternetGateways", "");
    }
    if (!needs.nat_zones.empty()) {
        const auto gateways = static_cast<std::int64_t>(needs.nat_zones.size());
        rows.emplace_back(demand_of("ec2", "EC2-VPC Elastic IPs", "/network/nat", gateways), "ec2",
                          "DescribeAddresses", "");
    }
    rows.emplace_back(demand_of("eks", "Clusters", "/name", 1), "eks", "ListClusters", "");
    rows.emplace_back(demand_of("iam", "Roles per account", "/name", needs.roles), "iam", "ListRoles", "");
    rows.emplace_back(demand_of("iam", "OpenId connect providers per account", "/name", 1), "iam",
                      "ListOpenIDConnectProviders", "OpenIDConnectProviderList");
    return rows;
}

// NAT gateways by zone, of those that count.
Task<std::map<std::string, std::int64_t>> nat_by_zone(Call call) {
    auto& aws = call.services->aws;
    CO_TRY(auto subnets, co_await aws.collect(call.context, "ec2", "DescribeSubnets", JsonObject{}));
    CO_TRY(auto gateways, co_await aws.collect(call.context, "ec2", "DescribeNatGateways", JsonObject{}));
    std::map<std::string, std::string> zones;
    for (const auto& subnet : subnets)
        zones[base::get_string(subnet, "SubnetId")] = base::get_string(subnet, "AvailabilityZone");
    std::map<std::string, std::int64_t> count;
    for (const auto& gateway : gateways) {
        const auto state = base::get_string(gateway, "State");
        if (state == "deleted" || state == "failed") continue;
        ++count[zones[base::get_string(gateway, "SubnetId")]];
    }
    co_return count;
}

Task<void> check_nat(Call call, std::vector<std::string> zones, const QuotaLimits& limits, Findings& found) {
    auto used = co_await nat_by_zone(call);
    if (!used) {
        if (used.error().kind == base::ErrorKind::cancelled) co_return std::move(used).error();
        found.warnings.push_back("could not count NAT gateways: " + used.error().message);
        co_return base::ok();
    }
    for (const auto& zone : zones) {
        auto demand = demand_of("vpc", "NAT gateways per Availability Zone", "/network/nat", 1);
        demand.used = (*used)[zone];
        judge(limits, demand, found);
    }
    co_return base::ok();
}

}  // namespace

Task<void> check_cluster_quotas(Call call, ClusterNeeds needs, Findings& found) {
    std::map<std::string, std::optional<QuotaLimits>> limits;
    for (auto& row : countables(needs)) {
        const auto service = row.demand.service;
        if (!limits.contains(service)) {
            CO_TRY(limits[service], co_await limits_or_warning(call, service, found));
        }
        if (!limits[service]) continue;
        CO_TRY(row.demand.used, co_await counted(call, row.counting_service, row.operation, row.list, found));
        if (row.demand.used >= 0) judge(*limits[service], row.demand, found);
    }
    if (!needs.nat_zones.empty() && limits["vpc"]) {
        CO_CHECK_OK(co_await check_nat(call, needs.nat_zones, *limits["vpc"], found));
    }
    co_return base::ok();
}

Task<void> check_interfaces(Call call, Findings& found) {
    if (found.interfaces == 0) co_return base::ok();
    CO_TRY(auto limits, co_await limits_or_warning(call, "vpc", found));
    if (!limits) co_return base::ok();
    auto demand =
        demand_of("vpc", "Network interfaces per Region", found.interfaces_pointer, found.interfaces);
    CO_TRY(demand.used, co_await counted(call, "ec2", "DescribeNetworkInterfaces", "", found));
    if (demand.used >= 0) judge(*limits, demand, found);
    co_return base::ok();
}

Task<void> check_service_roles(Call call, std::vector<std::string> names, Findings& found) {
    for (const auto& name : names) {
        JsonObject parameters{{"RoleName", name}};
        auto role = co_await call.services->aws.call(call.context, "iam", "GetRole", std::move(parameters));
        if (role) continue;
        if (role.error().kind == base::ErrorKind::cancelled) co_return std::move(role).error();
        if (role.error().kind == base::ErrorKind::not_found || role.error().code == "NoSuchEntity") {
            found.creates.push_back("service-linked role " + name +
                                    " (made by AWS, kept for other clusters)");
        } else {
            found.warnings.push_back("could not look for the service-linked role " + name + ": " +
                                     role.error().message);
        }
    }
    co_return base::ok();
}

namespace {

std::string at_of(const std::string& at, std::size_t index) {
    return at.empty() ? "" : at + "/" + std::to_string(index);
}

std::int64_t now_in(const JsonObject& hyperpod) {
    std::int64_t count = 0;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups"))
        count += std::max(base::get_int(group, "TargetCount"), base::get_int(group, "CurrentCount"));
    return count;
}

// What groups take of their types' quotas, in their order.
using Demands = std::map<std::string, Demand>;  // by quota, with the pointer of the last group that takes

struct Taker {
    Taker(const QuotaLimits& limits, const Usage& usage, Findings& found)
        : limits(limits), usage(usage), found(found) {}
    const QuotaLimits& limits;
    const Usage& usage;
    Findings& found;
    Demands demands;

    Demand& row_of(const domain::InstanceGroup& group, const std::string& type, const std::string& pointer) {
        const auto quota = type_quota(limits, usage, type, group.capacity && group.capacity->type == "spot");
        auto& row = demands[quota.name];
        row = demand_of("sagemaker", quota.name, pointer, row.needed);
        row.used = quota.used;
        return row;
    }
    // What is left of a quota; all that is wanted where it is not known.
    std::int64_t free_of(const Demand& demand, std::int64_t wanted) const {
        const auto at = limits.find(demand.name);
        if (at == limits.end()) return wanted;
        const auto limit = static_cast<std::int64_t>(at->second.value);
        return std::max<std::int64_t>(0, limit - demand.used - demand.needed);
    }
    void take(const domain::InstanceGroup& group, const std::string& pointer);
};

// HyperPod tries the types in their order, and a type without quota is passed over as one without capacity.
void Taker::take(const domain::InstanceGroup& group, const std::string& pointer) {
    const auto types = group.types();
    if (types.size() == 1) {
        row_of(group, types.front(), pointer).needed += group.count;
        return;
    }
    auto missing = group.count;
    std::vector<std::string> short_of;
    for (const auto& type : types) {
        auto& row = row_of(group, type, pointer);
        const auto free = free_of(row, group.count);
        if (free < group.count) short_of.push_back("\"" + row.name + "\" has " + std::to_string(free));
        const auto taken = std::min(free, missing);
        row.needed += taken;
        missing -= taken;
    }
    if (short_of.empty()) return;
    const auto figures =
        "free for its " + std::to_string(group.count) + " instances: " + base::join(short_of, ", ");
    if (missing == 0) {
        found.warnings.push_back("instance group " + group.name + " cannot have all of each of its types, " +
                                 figures);
        return;
    }
    auto first = row_of(group, types.front(), pointer);
    first.needed += missing;
    const auto at = limits.find(first.name);
    found.faults.push_back(fault(pointer, "the quotas of its types have too little " + figures +
                                              ": use less, name another type, or " +
                                              way_out(at->second, first)));
}

void judge_groups(const GroupRequest& request, const Usage& usage, const QuotaLimits& limits,
                  Findings& found) {
    Taker taker(limits, usage, found);
    std::int64_t all = 0;
    std::string pointer;
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        const auto& group = request.groups[index];
        if (group.types().empty()) continue;
        pointer = at_of(request.at, index) + "/count";
        all += group.count;
        taker.take(group, pointer);
        if (group.volume_size_gib) {
            judge(limits,
                  demand_of("sagemaker",
                            "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
                            at_of(request.at, index) + "/volume_size_gib", *group.volume_size_gib),
                  found);
        }
    }
    for (const auto& [name, demand] : taker.demands) judge(limits, demand, found);
    auto in_cluster = demand_of(
        "sagemaker", "Maximum number instances allowed per SageMaker HyperPod cluster", pointer, all);
    in_cluster.used = now_in(request.hyperpod);
    judge(limits, in_cluster, found);
    auto everywhere = demand_of(
        "sagemaker", "Total number of instances allowed across SageMaker HyperPod clusters", pointer, all);
    everywhere.used = usage.total;
    judge(limits, everywhere, found);
}

}  // namespace

Task<void> check_group_quotas(Call call, GroupRequest request, Findings& found) {
    if (request.groups.empty()) co_return base::ok();
    CO_TRY(auto limits, co_await limits_or_warning(call, "sagemaker", found));
    if (!limits) co_return base::ok();
    auto usage = co_await hyperpod_usage(call);
    if (!usage) {
        if (usage.error().kind == base::ErrorKind::cancelled) co_return std::move(usage).error();
        found.warnings.push_back("could not see what HyperPod clusters use: " + usage.error().message);
        co_return base::ok();
    }
    judge_groups(request, *usage, *limits, found);
    co_return base::ok();
}

}  // namespace instantstart::app
