#include "app/cluster_planning.h"

#include <algorithm>

#include "app/prices.h"
#include "app/schema.h"
#include "base/text.h"
#include "domain/cidr.h"
#include "domain/names.h"
#include "flows/request_fields.h"

namespace instantstart::app {

namespace {

constexpr const char* kTestedVersion = "1.33";  // used where EKS does not say which versions it has

int minor_of(const std::string& version) {
    return version.starts_with("1.") && version.size() == 4 ? (version[2] - '0') * 10 + (version[3] - '0')
                                                            : 0;
}

bool supported_by_hyperpod(const std::string& version) {
    return minor_of(version) >= 30 && minor_of(version) <= 35;
}

Task<void> check_new_name(Call call, std::string name) {
    auto legal = domain::check_cluster_name(name, "/name");
    if (!legal) co_return std::move(legal).error();
    auto found = co_await call.services->clusters.find(call.context, name);
    if (!found && found.error().code == "not_ours") co_return std::move(found).error();
    if (found) {
        co_return base::conflict_error("already_exists", "a cluster \"" + name + "\" exists already")
            .with_hint("Choose another name; a failed creation is continued with operation.retry.");
    }
    if (found.error().kind == base::ErrorKind::not_found) co_return base::ok();
    co_return std::move(found).error();
}

// The versions in standard support that HyperPod takes, newest first.
Task<std::vector<std::string>> versions(Call call) {
    JsonObject parameters;
    auto answer = co_await call.services->aws.collect(call.context, "eks", "DescribeClusterVersions",
                                                      std::move(parameters));
    if (!answer) co_return std::move(answer).error();
    std::vector<std::string> list;
    for (const auto& row : *answer) {
        const auto version = base::get_string(row, "clusterVersion");
        const auto status =
            base::get_string(row, "versionStatus", base::get_string(row, "status", "STANDARD_SUPPORT"));
        const bool standard = status == "STANDARD_SUPPORT" || status == "standard-support";
        if (standard && supported_by_hyperpod(version)) list.push_back(version);
    }
    std::sort(list.rbegin(), list.rend());
    co_return list;
}

Task<std::string> choose_version(Call call, std::optional<std::string> wanted, Findings& found) {
    auto list = co_await versions(call);
    if (!list && list.error().kind == base::ErrorKind::cancelled) co_return std::move(list).error();
    if (!list || list->empty()) {
        const auto taken = wanted.value_or(kTestedVersion);
        found.warnings.push_back("EKS did not say which Kubernetes versions it has; taken: " + taken +
                                 (list ? "" : ": " + list.error().message));
        co_return taken;
    }
    if (!wanted) co_return list->front();
    if (std::find(list->begin(), list->end(), *wanted) == list->end()) {
        found.faults.push_back(
            fault("/kubernetes_version", "is not in standard support with HyperPod here", *list, *wanted));
    }
    co_return *wanted;
}

Task<JsonArray> choose_zones(Call call, std::optional<std::vector<std::string>> wanted, Findings& found) {
    CO_TRY(auto zones, co_await list_zones(call));
    std::vector<std::string> fit;
    for (const auto& zone : zones) {
        if (zone.control_plane) fit.push_back(zone.name);
    }
    JsonArray chosen;
    if (!wanted) {
        for (const auto& name : fit) {
            if (chosen.size() < 2) chosen.emplace_back(name);
        }
        if (chosen.size() < 2) {
            found.faults.push_back(
                fault("/network/zones", "this region has fewer than two zones that EKS accepts"));
        }
        co_return chosen;
    }
    std::size_t index = 0;
    for (const auto& name : *wanted) {
        if (std::find(fit.begin(), fit.end(), name) == fit.end()) {
            found.faults.push_back(fault("/network/zones/" + std::to_string(index),
                                         "is no zone for an EKS control plane", fit, name));
        }
        chosen.emplace_back(name);
        ++index;
    }
    if (wanted->size() == 2 && wanted->front() == wanted->back()) {
        found.faults.push_back(fault("/network/zones/1", "must be another zone than the first"));
    }
    co_return chosen;
}

Task<std::vector<domain::Cidr>> taken_ranges(Call call, Findings& found) {
    auto& aws = call.services->aws;
    CO_TRY(auto vpcs, co_await aws.collect(call.context, "ec2", "DescribeVpcs", JsonObject{}));
    std::vector<domain::Cidr> taken;
    const auto take = [&taken](const std::string& text) {
        if (const auto range = domain::parse_cidr(text)) taken.push_back(*range);
    };
    for (const auto& vpc : vpcs) {
        take(base::get_string(vpc, "CidrBlock"));
        for (const auto& block : base::get_array(vpc, "CidrBlockAssociationSet"))
            take(base::get_string(block, "CidrBlock"));
    }
    auto peers = co_await aws.collect(call.context, "ec2", "DescribeVpcPeeringConnections", JsonObject{});
    if (!peers) {
        if (peers.error().kind == base::ErrorKind::cancelled) co_return std::move(peers).error();
        found.warnings.push_back("could not look at VPC peerings: " + peers.error().message);
        co_return taken;
    }
    for (const auto& peer : *peers) {
        for (const char* side : {"AccepterVpcInfo", "RequesterVpcInfo"}) {
            for (const auto& block : base::get_array(peer, std::string(side) + ".CidrBlockSet"))
                take(base::get_string(block, "CidrBlock"));
        }
    }
    co_return taken;
}

Task<std::string> choose_range(Call call, std::optional<std::string> wanted, Findings& found) {
    if (wanted) {
        const auto range = domain::parse_cidr(*wanted);
        if (!range || range->prefix < 16 || range->prefix > 19) {
            found.faults.push_back(
                fault("/network/vpc_cidr", "must be a range of /16 to /19 without host bits"));
            co_return *wanted;
        }
        auto taken = co_await taken_ranges(call, found);
        if (taken && std::any_of(taken->begin(), taken->end(),
                                 [&range](const auto& other) { return other.overlaps(*range); })) {
            found.warnings.push_back(
                *wanted + " overlaps a VPC or peering of this account: the two can never be joined");
        }
        co_return *wanted;
    }
    CO_TRY(auto taken, co_await taken_ranges(call, found));
    const auto range = domain::free_vpc_range(taken);
    if (!range) {
        found.faults.push_back(fault("/network/vpc_cidr", "no 10.N.0.0/16 is free: give a range"));
        co_return std::string();
    }
    co_return range->text();
}

Task<void> check_given_vpc(Call call, NetworkInput network, Findings& found) {
    if (!network.vpc_id || !network.subnet_ids) {
        found.faults.push_back(fault(network.vpc_id ? "/network/subnet_ids" : "/network/vpc_id",
                                     "vpc_id and subnet_ids go together"));
        co_return base::ok();
    }
    JsonArray ids;
    for (const auto& id : *network.subnet_ids) ids.emplace_back(id);
    JsonObject parameters{{"SubnetIds", std::move(ids)}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (!subnets) {
        if (subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
        found.faults.push_back(fault("/network/subnet_ids", "cannot be found: " + subnets.error().message));
        co_return base::ok();
    }
    auto known = co_await list_zones(call);
    if (!known && known.error().kind == base::ErrorKind::cancelled) co_return std::move(known).error();
    if (!known) found.warnings.push_back("could not list zones: " + known.error().message);
    std::vector<std::string> zones;
    for (const auto& subnet : *subnets) {
        const auto* zone =
            known ? domain::find_zone(*known, base::get_string(subnet, "AvailabilityZone")) : nullptr;
        if (zone != nullptr && !zone->control_plane) {
            found.faults.push_back(fault("/network/subnet_ids",
                                         base::get_string(subnet, "SubnetId") + " stands in " + zone->name +
                                             ", which is no zone for an EKS control plane: choose others"));
        }
        zones.push_back(base::get_string(subnet, "AvailabilityZone"));
        if (base::get_string(subnet, "VpcId") != *network.vpc_id) {
            found.faults.push_back(
                fault("/network/subnet_ids", base::get_string(subnet, "SubnetId") + " is of another VPC"));
        }
    }
    std::sort(zones.begin(), zones.end());
    zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
    if (zones.size() < 2)
        found.faults.push_back(fault("/network/subnet_ids", "must stand in at least two zones"));
    co_return co_await check_way_out(call, *network.vpc_id, found);
}

Task<JsonObject> plan_network(Call call, NetworkInput input, Findings& found) {
    JsonObject network;
    if (input.api_cidrs) {
        network["api_cidrs"] = to_json_value(*input.api_cidrs);
        for (std::size_t index = 0; index < input.api_cidrs->size(); ++index) {
            if (!domain::parse_cidr((*input.api_cidrs)[index])) {
                found.faults.push_back(fault("/network/api_cidrs/" + std::to_string(index), "is no range"));
            }
        }
    } else {
        found.warnings.emplace_back(
            "the API endpoint is open to any address (sign-in is still needed): network.api_cidrs limits it");
    }
    if (input.vpc_id || input.subnet_ids) {
        CO_CHECK_OK(co_await check_given_vpc(call, input, found));
        network["vpc_id"] = input.vpc_id.value_or("");
        if (input.subnet_ids) network["subnet_ids"] = to_json_value(*input.subnet_ids);
        co_return network;
    }
    CO_TRY(auto zones, co_await choose_zones(call, input.zones, found));
    CO_TRY(auto range, co_await choose_range(call, input.vpc_cidr, found));
    network["zones"] = std::move(zones);
    network["vpc_cidr"] = range;
    network["nat"] = input.nat.value_or("single");
    co_return network;
}

ClusterNeeds needs_of(const JsonObject& network) {
    ClusterNeeds needs;
    needs.network = base::get_string(network, "vpc_id").empty();
    const auto nat = base::get_string(network, "nat", "none");
    for (const auto& zone : base::get_array(network, "zones")) {
        const bool wanted = nat == "per_zone" || (nat == "single" && needs.nat_zones.empty());
        if (wanted) needs.nat_zones.emplace_back(zone.as_string());
    }
    return needs;
}

Task<void> check_account(Call call, JsonObject network, Findings& found) {
    constexpr std::int64_t kControlPlane = 4;  // EKS keeps two to four interfaces in the subnets
    const auto needs = needs_of(network);
    found.interfaces = kControlPlane + static_cast<std::int64_t>(needs.nat_zones.size());
    found.interfaces_pointer = "/network";
    CO_CHECK_OK(co_await check_cluster_quotas(call, needs, found));
    const std::vector<std::string> roles{"AWSServiceRoleForAmazonEKS"};
    co_return co_await check_service_roles(call, roles, found);
}

}  // namespace

namespace {

// The limits of AWS's tags, less the four that are ours.
void check_tags(const std::map<std::string, std::string>& tags, Findings& found) {
    constexpr std::size_t kMost = 46, kKey = 128, kValue = 256;
    const auto plain = [](const std::string& text) {
        return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    };
    if (tags.size() > kMost)
        found.faults.push_back(fault("/tags", "at most 46: AWS takes 50, and four are ours"));
    for (const auto& [key, value] : tags) {
        const std::string pointer = "/tags/" + key;
        const auto lower = base::to_lower(key);
        if (key.empty() || key.size() > kKey || !plain(key)) {
            found.faults.push_back(fault("/tags", "a key has 1 to 128 characters and no control characters"));
        } else if (lower.starts_with("aws:") || lower.starts_with("instantstart:")) {
            found.faults.push_back(fault(pointer, "keys that begin with aws: or instantstart: are reserved"));
        }
        if (value.size() > kValue || !plain(value)) {
            found.faults.push_back(
                fault(pointer, "a value has at most 256 characters and no control characters"));
        }
    }
}

}  // namespace

void merge(Findings& a, Findings b) {
    a.faults.insert(a.faults.end(), b.faults.begin(), b.faults.end());
    a.warnings.insert(a.warnings.end(), b.warnings.begin(), b.warnings.end());
    a.creates.insert(a.creates.end(), b.creates.begin(), b.creates.end());
    for (auto& row : b.quota) a.quota.push_back(std::move(row));
    for (auto& row : b.addresses) a.addresses.push_back(std::move(row));
    a.interfaces += b.interfaces;
    if (b.interfaces > 0) a.interfaces_pointer = b.interfaces_pointer;
}

Task<JsonObject> plan_cluster(Call call, ClusterInput input, Findings& found) {
    CO_CHECK_OK(co_await check_new_name(call, input.name));
    Target target;
    target.ref.name = target.ref.eks_name = input.name;
    CO_CHECK_OK(co_await check_own_role(call));
    CO_TRY(auto params, co_await base_params(call, target));
    CO_TRY(auto version, co_await choose_version(call, input.kubernetes_version, found));
    CO_TRY(auto network, co_await plan_network(call, input.network.value_or(NetworkInput()), found));
    CO_CHECK_OK(co_await check_account(call, network, found));
    params["kubernetes_version"] = version;
    params["network"] = std::move(network);
    params["s3_service"] = "com.amazonaws." + call.services->aws.region() + ".s3";
    if (input.admin_principals) {
        auto& principals = params["principals"].as_array();
        for (const auto& arn : *input.admin_principals) {
            if (std::find(principals.begin(), principals.end(), JsonValue(arn)) == principals.end())
                principals.emplace_back(arn);
        }
    }
    if (input.permissions_boundary_arn) params["permissions_boundary_arn"] = *input.permissions_boundary_arn;
    if (input.kms_key_arn) {
        check_key_region(call, *input.kms_key_arn, "/kms_key_arn", found);
        params["kms_key_arn"] = *input.kms_key_arn;
    }
    if (input.log_types) params["log_types"] = to_json_value(*input.log_types);
    if (input.tags) {
        check_tags(*input.tags, found);
        params["tags"] = to_json_value(*input.tags);
    }
    co_return params;
}

std::vector<std::string> cluster_creates(const JsonObject& params) {
    const auto& network = base::get_object(params, "network");
    std::vector<std::string> list{"EKS control plane " + base::get_string(params, "cluster") +
                                  " with Kubernetes " + base::get_string(params, "kubernetes_version")};
    const auto vpc = base::get_string(network, "vpc_id");
    if (!vpc.empty()) {
        list.push_back("a security group in " + vpc);
        return list;
    }
    list.push_back("VPC " + base::get_string(network, "vpc_cidr") +
                   " with two public and two control-plane subnets");
    const auto nat = base::get_string(network, "nat", "single");
    if (nat != "none")
        list.push_back(nat == "per_zone" ? "two NAT gateways with their addresses"
                                         : "one NAT gateway with its address");
    return list;
}

namespace {

// What AWS's own models refuse in the requests that the plan leads to, where no rule of ours has spoken of
// the field already.
void add_request_faults(const Plan& plan, Findings& found) {
    for (auto& refused : flows::planned_faults(plan.flow, plan.flow_params)) {
        const auto known =
            std::any_of(found.faults.begin(), found.faults.end(), [&refused](const auto& each) {
                return each.pointer == refused.pointer || each.pointer.starts_with(refused.pointer + "/") ||
                       refused.pointer.starts_with(each.pointer + "/");
            });
        if (!known) found.faults.push_back(std::move(refused));
    }
}

}  // namespace

Task<Plan> finish_plan(Call call, Plan plan, Findings found) {
    CO_CHECK_OK(co_await check_interfaces(call, found));
    add_request_faults(plan, found);
    if (!found.faults.empty()) co_return faults_error(std::move(found.faults));
    plan.creates.insert(plan.creates.end(), found.creates.begin(), found.creates.end());
    if (plan.cost.empty() && !plan.no_change)
        CO_CHECK_OK(co_await put_cost(call, base::get_array(plan.flow_params, "groups"), plan));
    plan.quota = std::move(found.quota);
    plan.addresses = std::move(found.addresses);
    plan.warnings.insert(plan.warnings.end(), found.warnings.begin(), found.warnings.end());
    co_return plan;
}

}  // namespace instantstart::app
