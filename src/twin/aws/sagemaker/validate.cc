// What HyperPod refuses before it makes anything.
#include <set>

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/plan.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

constexpr std::size_t kGroupsMax = 100;

std::optional<ServiceError> check_orchestrator(State& state, const Call& call, const Record*& eks) {
    const std::string arn = base::get_string(call.params, "Orchestrator.Eks.ClusterArn");
    if (arn.empty())
        return invalid(
            "The twin simulates HyperPod clusters that are orchestrated by EKS: Orchestrator.Eks.ClusterArn "
            "is required.");
    eks = state.eks().cluster_by_arn(arn);
    if (eks == nullptr) return invalid("EKS cluster " + arn + " could not be found.");
    if (base::get_string(eks->data, "status") != "ACTIVE")
        return invalid("EKS cluster " + arn + " must be in ACTIVE status.");
    const std::string mode = base::get_string(eks->data, "accessConfig.authenticationMode");
    if (mode == "CONFIG_MAP")
        return invalid("EKS cluster " + arn +
                       " must have the authentication mode API or API_AND_CONFIG_MAP, but has " + mode + ".");
    for (const auto& [name, other] : state.clusters) {
        if (base::get_string(other.data, "Orchestrator.Eks.ClusterArn") == arn) {
            return invalid("EKS cluster " + arn + " is already the orchestrator of the HyperPod cluster " +
                           name + ".");
        }
    }
    return std::nullopt;
}

std::optional<ServiceError> check_network(State& state, const JsonObject& vpc_config,
                                          const std::string& vpc_id) {
    const std::vector<std::string> subnets = strings(vpc_config, "Subnets"),
                                   groups = strings(vpc_config, "SecurityGroupIds");
    if (subnets.empty() || groups.empty())
        return invalid(
            "VpcConfig with Subnets and SecurityGroupIds is required for clusters orchestrated by EKS.");
    for (const std::string& id : subnets) {
        const Record* subnet = state.ec2().subnet(id);
        if (subnet == nullptr) return invalid("The subnet ID '" + id + "' does not exist");
        if (base::get_string(subnet->data, "VpcId") != vpc_id)
            return invalid("Subnet " + id + " is not in the VPC of the EKS cluster, " + vpc_id + ".");
    }
    for (const std::string& id : groups) {
        const Record* group = state.ec2().group(id);
        if (group == nullptr) return invalid("The security group '" + id + "' does not exist");
        if (base::get_string(group->data, "VpcId") != vpc_id)
            return invalid("Security group " + id + " is not in the VPC of the EKS cluster, " + vpc_id + ".");
    }
    return std::nullopt;
}

std::optional<ServiceError> check_script(State& state, const Call& call, const JsonObject& group) {
    const std::string uri = base::get_string(group, "LifeCycleConfig.SourceS3Uri");
    std::string script = base::get_string(group, "LifeCycleConfig.OnCreate");
    if (script.empty()) script = base::get_string(group, "LifeCycleConfig.OnInitComplete");
    Service* s3 = state.world.service("s3");
    if (uri.empty() || s3 == nullptr) return std::nullopt;
    const std::string path = uri.substr(std::min(uri.size(), std::string_view("s3://").size()));
    const std::size_t slash = path.find('/');
    Call head = call;
    head.service = "s3";
    head.operation = "HeadObject";
    std::string prefix = slash == std::string::npos ? "" : path.substr(slash + 1);
    if (!prefix.empty() && !prefix.ends_with('/')) prefix += '/';
    head.params = JsonObject{{"Bucket", path.substr(0, slash)}, {"Key", prefix + script}};
    const Reply reply = s3->handle(head);
    if (std::holds_alternative<JsonObject>(reply)) return std::nullopt;
    return invalid("Lifecycle script " + script + " was not found at " + uri + " for the instance group " +
                   base::get_string(group, "InstanceGroupName") + ".");
}

std::optional<ServiceError> check_self_rules(const State& state, const JsonObject& group,
                                             const JsonObject& vpc_config) {
    const domain::InstanceType* type = domain::find_instance_type(base::get_string(group, "InstanceType"));
    if (type == nullptr || type->efa_interfaces == 0) return std::nullopt;
    const JsonObject& own = base::get_object(group, "OverrideVpcConfig");
    for (const std::string& id : strings(own.empty() ? vpc_config : own, "SecurityGroupIds")) {
        if (state.ec2().has_self_rules(id)) return std::nullopt;
    }
    return invalid("The security groups of the instance group " +
                   base::get_string(group, "InstanceGroupName") +
                   " must allow all inbound and outbound traffic to and from the group itself: its instance "
                   "type uses EFA.");
}

// Instances of a type over all clusters, without the groups that the request replaces. Those of a flexible
// group count by what they are, and what is still missing by the type that is tried first.
std::int64_t in_use(State& state, const std::string& type, const Record* cluster,
                    const std::set<std::string>& replaced) {
    std::int64_t total = 0;
    for (const auto& [key, group] : state.groups) {
        const std::string name = base::get_string(group.data, "InstanceGroupName");
        const bool own =
            cluster != nullptr && base::get_string(group.hidden, "cluster") == cluster_id(*cluster);
        if (own && replaced.contains(name)) continue;
        const std::int64_t target = base::get_int(group.data, "TargetCount");
        if (type.empty() || types_of(group).size() == 1) {
            if (type.empty() || types_of(group).front() == type) total += target;
            continue;
        }
        std::int64_t all = 0, of_type = 0;
        for (const auto& [logical, node] : state.nodes) {
            if (base::get_string(node.hidden, "cluster") != base::get_string(group.hidden, "cluster") ||
                base::get_string(node.data, "InstanceGroupName") != name || !has_instance(node))
                continue;
            ++all;
            if (base::get_string(node.data, "InstanceType") == type) ++of_type;
        }
        total += of_type;
        if (types_of(group).front() == type) total += std::max<std::int64_t>(0, target - all);
    }
    return total;
}

std::vector<std::string> wanted_types(const JsonObject& specification) {
    std::vector<std::string> types = strings(specification, "InstanceRequirements.InstanceTypes");
    if (types.empty()) types = strings(specification, "InstanceRequirements.DesiredInstanceTypes");
    if (types.empty()) types = {base::get_string(specification, "InstanceType")};
    return types;
}

ServiceError limit_exceeded(const std::string& quota, double limit, std::int64_t used, std::int64_t wanted) {
    return failure(
        "ResourceLimitExceeded",
        "The account-level service limit '" + quota + "' is " +
            std::to_string(static_cast<std::int64_t>(limit)) + " Instances, with current utilization of " +
            std::to_string(used) + " Instances and a request delta of " + std::to_string(wanted) +
            " Instances. Please use AWS Service Quotas to request an increase for this quota. If AWS Service "
            "Quotas is not available, contact AWS support to request an increase for this quota.");
}

// Each type's count against its quota; a flexible group takes what its types leave, in their order.
std::optional<ServiceError> check_type_quotas(State& state, const JsonArray& groups, const Record* cluster,
                                              const std::set<std::string>& names) {
    std::map<std::string, std::int64_t> wanted;
    for (const JsonValue& group : groups) {
        const std::vector<std::string> types = wanted_types(group.get_object());
        std::int64_t missing = base::get_int(group, "InstanceCount");
        for (const std::string& type : types) {
            const std::optional<double> limit = state.world.quota(type + " for cluster usage");
            const std::int64_t used = in_use(state, type, cluster, names) + wanted[type];
            const std::int64_t free =
                limit ? std::max<std::int64_t>(0, static_cast<std::int64_t>(*limit) - used) : missing;
            const std::int64_t taken = std::min(free, missing);
            wanted[type] += taken;
            missing -= taken;
        }
        if (missing == 0) continue;
        const std::string quota = types.front() + " for cluster usage";
        return limit_exceeded(quota, state.world.quota(quota).value_or(0),
                              in_use(state, types.front(), cluster, names),
                              base::get_int(group, "InstanceCount"));
    }
    return std::nullopt;
}

std::optional<ServiceError> check_quotas(State& state, const JsonArray& groups, const Record* cluster) {
    std::set<std::string> names;
    std::int64_t all = 0;
    for (const JsonValue& group : groups) {
        names.insert(base::get_string(group, "InstanceGroupName"));
        all += base::get_int(group, "InstanceCount");
    }
    if (auto bad = check_type_quotas(state, groups, cluster, names)) return bad;
    const std::string total = "Total number of instances allowed across SageMaker HyperPod clusters";
    const std::int64_t used = in_use(state, "", cluster, names);
    const std::optional<double> limit = state.world.quota(total);
    if (limit && all > 0 && static_cast<double>(used + all) > *limit)
        return limit_exceeded(total, *limit, used, all);
    const std::string each = "Maximum number instances allowed per SageMaker HyperPod cluster";
    std::int64_t here = all;
    if (cluster != nullptr) {
        for (const Record* group : groups_of(state, *cluster)) {
            if (!names.contains(base::get_string(group->data, "InstanceGroupName")))
                here += base::get_int(group->data, "TargetCount");
        }
    }
    const double most = state.world.quota(each).value_or(512);
    if (all > 0 && static_cast<double>(here) > most) return limit_exceeded(each, most, here - all, all);
    return std::nullopt;
}

std::optional<ServiceError> check_group(State& state, const Call& call, const JsonObject& group,
                                        const JsonObject& vpc_config, const Record* cluster,
                                        bool continuous) {
    if (auto bad = check_group_rules(group, continuous)) return bad;
    const JsonObject& own = base::get_object(group, "OverrideVpcConfig");
    const std::string first =
        strings(vpc_config, "Subnets").empty() ? "" : strings(vpc_config, "Subnets").front();
    const Record* subnet = state.ec2().subnet(first);
    if (!own.empty() && subnet != nullptr) {
        if (auto bad = check_network(state, own, base::get_string(subnet->data, "VpcId"))) return bad;
    }
    const Record* earlier = cluster == nullptr
                                ? nullptr
                                : find_group(state, *cluster, base::get_string(group, "InstanceGroupName"));
    if (earlier != nullptr) {
        if (auto bad = check_fixed(*earlier, group)) return bad;
    }
    if (auto bad = check_plan(state, group, vpc_config, cluster)) return bad;
    if (auto bad = check_role(state, base::get_string(group, "ExecutionRole"), "sagemaker.amazonaws.com"))
        return bad;
    if (auto bad = check_self_rules(state, group, vpc_config)) return bad;
    return check_script(state, call, group);
}

}  // namespace

std::optional<ServiceError> check_role(const State& state, const std::string& role,
                                       std::string_view service) {
    IamView& iam = state.world.iam();
    if (iam.role_exists(role) && contains(iam.trusted_services(role), service) && iam.role_usable(role))
        return std::nullopt;
    return invalid("Unable to assume the role " + role +
                   ". Please ensure that the role exists and that its trust relationship policy allows the "
                   "action 'sts:AssumeRole' for the service principal '" +
                   std::string(service) + "'.");
}

bool has_quota(State& state, const std::string& type) {
    const std::optional<double> limit = state.world.quota(type + " for cluster usage");
    if (!limit) return true;
    std::int64_t count = 0;
    for (const auto& [logical, node] : state.nodes) {
        if (has_instance(node) && base::get_string(node.data, "InstanceType") == type) ++count;
    }
    return static_cast<double>(count) < *limit;
}

std::optional<ServiceError> check_groups(State& state, const Call& call, const JsonArray& groups,
                                         const JsonObject& vpc_config, const Record* cluster,
                                         bool continuous) {
    std::set<std::string> names;
    for (const JsonValue& group : groups) {
        const std::string name = base::get_string(group, "InstanceGroupName");
        if (!names.insert(name).second)
            return invalid("The instance group name " + name + " is used more than once.");
        if (auto bad = check_group(state, call, group.get_object(), vpc_config, cluster, continuous))
            return bad;
    }
    std::set<std::string> all = names;
    if (cluster != nullptr) {
        for (const Record* group : groups_of(state, *cluster))
            all.insert(base::get_string(group->data, "InstanceGroupName"));
    }
    if (all.size() > kGroupsMax) return invalid("A cluster can have at most 100 instance groups.");
    return check_quotas(state, groups, cluster);
}

std::optional<ServiceError> check_create(State& state, const Call& call) {
    const std::string name = base::get_string(call.params, "ClusterName");
    if (state.clusters.find(name) != nullptr)
        return failure("ResourceInUse", "Cluster with name " + name + " already exists.");
    const Record* eks = nullptr;
    if (auto bad = check_orchestrator(state, call, eks)) return bad;
    const JsonObject& vpc_config = base::get_object(call.params, "VpcConfig");
    if (auto bad = check_network(state, vpc_config, base::get_string(eks->data, "resourcesVpcConfig.vpcId")))
        return bad;
    const bool continuous = base::get_string(call.params, "NodeProvisioningMode") == "Continuous";
    JsonObject wanted = call.params;
    if (!wanted.contains("NodeRecovery")) wanted["NodeRecovery"] = "Automatic";
    if (auto bad = check_scaling(state, wanted, continuous, true)) return bad;
    return check_groups(state, call, base::get_array(call.params, "InstanceGroups"), vpc_config, nullptr,
                        continuous);
}

}  // namespace instantstart::twin::sagemaker
