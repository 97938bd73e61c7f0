#include "app/lustre_planning.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/schema.h"
#include "base/text.h"
#include "domain/lustre.h"
#include "domain/names.h"
#include "flows/step_kit.h"

namespace instantstart::app {

namespace {

using Texts = std::vector<std::string>;

Texts texts(const JsonArray& list) {
    Texts made;
    for (const auto& each : list) made.emplace_back(each.as_string());
    return made;
}

JsonArray array(const Texts& list) {
    JsonArray made;
    for (const auto& each : list) made.emplace_back(each);
    return made;
}

// FSx's description; {} where there is no such file system in this region.
Task<JsonObject> describe(Call call, std::string id) {
    JsonObject parameters{{"FileSystemIds", JsonArray{JsonValue(id)}}};
    auto answer =
        co_await call.services->aws.call(call.context, "fsx", "DescribeFileSystems", std::move(parameters));
    if (!answer) {
        if (flows::has_code(answer.error(), {"FileSystemNotFound"})) co_return JsonObject{};
        co_return std::move(answer).error();
    }
    const auto& list = base::get_array(*answer, "FileSystems");
    co_return list.empty() ? JsonObject{} : list.front().as_object();
}

// Others name these ids, so they exist: EC2 only shows what is new a moment late.
Task<JsonArray> ec2(Call call, std::string operation, std::string ids, Texts wanted) {
    constexpr int kLooks = 4;
    if (wanted.empty()) co_return JsonArray{};
    for (int look = 1;; ++look) {
        JsonObject parameters;
        parameters[ids] = array(wanted);
        auto listed =
            co_await call.services->aws.collect(call.context, "ec2", operation, std::move(parameters));
        const bool unseen = !listed && listed.error().code.ends_with(".NotFound");
        if (!unseen || look == kLooks) co_return listed;
        CO_CHECK_OK(co_await call.services->clock.sleep(std::chrono::seconds(1)));
    }
}

// How nodes of one kind reach the network: an instance group's, or those of EKS.
struct Nodes {
    std::string group;  // "" for the cluster's own group, which EKS node groups have
    Texts subnets, security_groups;
};

std::vector<Nodes> nodes_of(const Target& target) {
    std::vector<Nodes> all;
    for (const auto& group : base::get_array(target.hyperpod, "InstanceGroups")) {
        const auto& own = base::get_object(group, "OverrideVpcConfig");
        const auto& network = own.empty() ? base::get_object(target.hyperpod, "VpcConfig") : own;
        Nodes nodes;
        nodes.group = base::get_string(group, "InstanceGroupName");
        nodes.subnets = texts(base::get_array(network, "Subnets"));
        nodes.security_groups = texts(base::get_array(network, "SecurityGroupIds"));
        all.push_back(std::move(nodes));
    }
    if (!all.empty()) return all;
    Nodes eks;
    eks.security_groups = {base::get_string(target.eks, "resourcesVpcConfig.clusterSecurityGroupId")};
    eks.subnets = texts(base::get_array(target.eks, "resourcesVpcConfig.subnetIds"));
    return {eks};
}

struct Surroundings {
    std::map<std::string, JsonObject> subnets;  // by id
    JsonArray groups;                           // security groups of both sides
    Texts file_groups;
};

Task<Surroundings> look_around(Call call, JsonObject system, std::vector<Nodes> nodes) {
    Surroundings seen;
    auto interfaces = texts(base::get_array(system, "NetworkInterfaceIds"));
    if (!interfaces.empty()) interfaces.resize(1);  // all have the same groups
    CO_TRY(auto cards, co_await ec2(call, "DescribeNetworkInterfaces", "NetworkInterfaceIds", interfaces));
    for (const auto& card : cards) {
        for (const auto& group : base::get_array(card, "Groups"))
            seen.file_groups.push_back(base::get_string(group, "GroupId"));
    }
    std::set<std::string> subnets, groups(seen.file_groups.begin(), seen.file_groups.end());
    for (const auto& subnet : base::get_array(system, "SubnetIds")) subnets.emplace(subnet.as_string());
    for (const auto& each : nodes) {
        subnets.insert(each.subnets.begin(), each.subnets.end());
        groups.insert(each.security_groups.begin(), each.security_groups.end());
    }
    CO_TRY(auto rows,
           co_await ec2(call, "DescribeSubnets", "SubnetIds", Texts(subnets.begin(), subnets.end())));
    for (const auto& row : rows) seen.subnets[base::get_string(row, "SubnetId")] = row.as_object();
    CO_TRY(seen.groups,
           co_await ec2(call, "DescribeSecurityGroups", "GroupIds", Texts(groups.begin(), groups.end())));
    co_return seen;
}

std::string zone_of(const Surroundings& seen, const std::string& subnet) {
    const auto found = seen.subnets.find(subnet);
    return found == seen.subnets.end() ? "" : base::get_string(found->second, "AvailabilityZone");
}

// Reads from another zone are slow and charged: one group at least must stand beside the file system.
void check_zone(const Surroundings& seen, const std::string& zone, const std::vector<Nodes>& nodes,
                Findings& found) {
    std::set<std::string> zones;
    Texts elsewhere;
    for (const auto& each : nodes) {
        const bool beside = std::any_of(each.subnets.begin(), each.subnets.end(),
                                        [&](const auto& subnet) { return zone_of(seen, subnet) == zone; });
        for (const auto& subnet : each.subnets) zones.insert(zone_of(seen, subnet));
        if (!beside && !each.group.empty()) elsewhere.push_back(each.group);
    }
    if (!zones.contains(zone)) {
        found.faults.push_back(fault(
            "/file_system_id", "is in " + zone + ", the cluster's groups are in " +
                                   base::join(Texts(zones.begin(), zones.end()), ", ") + ": add a group in " +
                                   zone + ", or choose a file system beside the groups"));
    } else if (!elsewhere.empty()) {
        found.warnings.push_back("the file system is in " + zone + ": pods on " +
                                 base::join(elsewhere, ", ") +
                                 " reach it across zones, which is slower and charged");
    }
}

bool is_own(const Surroundings& seen, const std::string& group, const std::string& cluster) {
    return std::any_of(seen.groups.begin(), seen.groups.end(), [&](const JsonValue& each) {
        const auto* tags = base::find_path(each, "Tags");
        return base::get_string(each, "GroupId") == group && tags != nullptr &&
               domain::tag_of(*tags, domain::kTagCluster) == cluster;
    });
}

std::string ports_text(const domain::LustreRule& rule) {
    return rule.from == rule.to ? std::to_string(rule.from)
                                : std::to_string(rule.from) + " to " + std::to_string(rule.to);
}

// What our own groups lack is added; others' groups are theirs to open.
JsonArray check_ports(const Surroundings& seen, const JsonObject& system, const std::vector<Nodes>& nodes,
                      const std::string& cluster, Findings& found) {
    const auto range = [&seen](const Texts& subnets) {
        const auto known = subnets.empty() ? seen.subnets.end() : seen.subnets.find(subnets.front());
        return known == seen.subnets.end() ? std::string() : base::get_string(known->second, "CidrBlock");
    };
    domain::LustreSide files;
    files.groups = seen.file_groups;
    files.cidr = range(texts(base::get_array(system, "SubnetIds")));
    JsonArray rules;
    std::set<std::string> said;
    for (const auto& each : nodes) {
        domain::LustreSide side;
        side.groups = each.security_groups;
        side.cidr = range(each.subnets);
        for (const auto& rule : domain::missing_lustre_rules(seen.groups, files, side)) {
            const auto text = "security group " + rule.group + " must let in TCP " + ports_text(rule) +
                              " from " + rule.peer;
            if (!said.insert(text).second) continue;
            if (is_own(seen, rule.group, cluster)) {
                rules.push_back(JsonObject{{"group", rule.group}, {"peer", rule.peer}});
            } else {
                found.faults.push_back(fault("/file_system_id", text + ": add that rule, then ask again"));
            }
        }
    }
    return rules;
}

void check_system(const JsonObject& system, const Target& target, Findings& found) {
    const auto at = "/file_system_id";
    if (system.empty()) {
        found.faults.push_back(fault(at, "names no file system of this account in this region"));
        return;
    }
    const auto kind = base::get_string(system, "FileSystemType");
    if (kind != "LUSTRE")
        found.faults.push_back(fault(at, "is a file system of type " + kind + ", not LUSTRE"));
    const auto state = base::get_string(system, "Lifecycle");
    if (state != "AVAILABLE" && state != "UPDATING" && state != "CREATING")
        found.faults.push_back(fault(at, "is " + state + ": it cannot be mounted"));
    const auto vpc = base::get_string(system, "VpcId");
    const auto own = base::get_string(target.eks, "resourcesVpcConfig.vpcId");
    if (vpc != own)
        found.faults.push_back(fault(at, "is in VPC " + vpc + ", the cluster in " + own +
                                             ": choose a file system of the cluster's VPC"));
}

}  // namespace

Task<void> put_lustre_storage(Call call, Target target, StorageInput input, JsonObject& params,
                              Findings& found) {
    if (input.bucket) found.faults.push_back(fault("/bucket", "goes with kind s3"));
    if (!input.file_system_id) {
        found.faults.push_back(fault("/file_system_id", "is needed with kind fsx_lustre"));
        co_return base::ok();
    }
    CO_TRY(auto system, co_await describe(call, *input.file_system_id));
    check_system(system, target, found);
    if (!found.faults.empty()) co_return base::ok();
    const auto nodes = nodes_of(target);
    CO_TRY(auto seen, co_await look_around(call, system, nodes));
    const auto subnets = texts(base::get_array(system, "SubnetIds"));
    check_zone(seen, subnets.empty() ? "" : zone_of(seen, subnets.front()), nodes, found);
    auto rules = check_ports(seen, system, nodes, target.ref.name, found);
    params["storage"] = JsonObject{{"name", input.name},
                                   {"kind", input.kind},
                                   {"file_system_id", *input.file_system_id},
                                   {"dns_name", base::get_string(system, "DNSName")},
                                   {"mount_name", base::get_string(system, "LustreConfiguration.MountName")},
                                   {"capacity_gib", base::get_int(system, "StorageCapacity")},
                                   {"namespace", input.namespace_},
                                   {"rules", std::move(rules)}};
    co_return base::ok();
}

}  // namespace instantstart::app
