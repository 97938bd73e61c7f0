// What HyperPod refuses before it makes anything.
#include <set>

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

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

std::optional<ServiceError> check_counts(const JsonObject& group, bool continuous) {
    const std::string name = base::get_string(group, "InstanceGroupName");
    const std::int64_t count = base::get_int(group, "InstanceCount"),
                       least = base::get_int(group, "MinInstanceCount");
    if (least > count)
        return invalid("MinInstanceCount must not exceed InstanceCount in the instance group " + name + ".");
    if (group.contains("InstanceType") == group.contains("InstanceRequirements")) {
        return invalid(
            "Exactly one of InstanceType and InstanceRequirements must be given for the instance group " +
            name + ".");
    }
    const bool spot = base::find_path(group, "CapacityRequirements.Spot") != nullptr;
    if (!continuous && (least > 0 || spot || group.contains("InstanceRequirements"))) {
        return invalid("The instance group " + name + " needs NodeProvisioningMode Continuous.");
    }
    if (spot && group.contains("TrainingPlanArn"))
        return invalid("Spot capacity and a training plan exclude each other in the instance group " + name +
                       ".");
    const bool deep = !base::get_array(group, "OnStartDeepHealthChecks").empty();
    if (deep && !base::get_array(group, "KubernetesConfig.Taints").empty()) {
        return invalid("Custom taints are not supported with deep health checks in the instance group " +
                       name + ".");
    }
    return std::nullopt;
}

// Instances of a type over all clusters, without the groups that the request replaces.
std::int64_t in_use(State& state, const std::string& type, const Record* cluster,
                    const std::set<std::string>& replaced) {
    std::int64_t total = 0;
    for (const auto& [key, group] : state.groups) {
        const bool own =
            cluster != nullptr && base::get_string(group.hidden, "cluster") == cluster_id(*cluster);
        if (own && replaced.contains(base::get_string(group.data, "InstanceGroupName"))) continue;
        if (type.empty() || base::get_string(group.data, "InstanceType") == type)
            total += base::get_int(group.data, "TargetCount");
    }
    return total;
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

std::optional<ServiceError> check_quotas(State& state, const JsonArray& groups, const Record* cluster) {
    std::set<std::string> names;
    std::map<std::string, std::int64_t> wanted;
    std::int64_t all = 0;
    for (const JsonValue& group : groups) {
        names.insert(base::get_string(group, "InstanceGroupName"));
        const std::string type = base::get_string(
            group, "InstanceType", base::get_string(group, "InstanceRequirements.InstanceTypes.0"));
        wanted[type] += base::get_int(group, "InstanceCount");
        all += base::get_int(group, "InstanceCount");
    }
    for (const auto& [type, count] : wanted) {
        const std::string quota = type + " for cluster usage";
        const std::optional<double> limit = state.world.quota(quota);
        const std::int64_t used = in_use(state, type, cluster, names);
        if (limit && count > 0 && static_cast<double>(used + count) > *limit)
            return limit_exceeded(quota, *limit, used, count);
    }
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
    if (auto bad = check_counts(group, continuous)) return bad;
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
        for (const char* member : {"InstanceType", "OverrideVpcConfig", "CapacityRequirements"}) {
            const JsonValue* before = earlier->data.if_contains(member);
            const JsonValue* after = group.if_contains(member);
            if (before != nullptr && after != nullptr && *before != *after) {
                return invalid(std::string(member) + " of the instance group " +
                               base::get_string(group, "InstanceGroupName") + " cannot be changed.");
            }
        }
    }
    if (auto bad = check_role(state, base::get_string(group, "ExecutionRole"), "sagemaker.amazonaws.com"))
        return bad;
    if (auto bad = check_self_rules(state, group, vpc_config)) return bad;
    return check_script(state, call, group);
}

}  // namespace

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
    const bool scaling = base::get_string(call.params, "AutoScaling.Mode") == "Enable";
    if (scaling && !continuous) return invalid("AutoScaling needs NodeProvisioningMode Continuous.");
    if (scaling && !call.params.contains("ClusterRole")) return invalid("AutoScaling needs ClusterRole.");
    if (call.params.contains("ClusterRole")) {
        if (auto bad = check_role(state, base::get_string(call.params, "ClusterRole"),
                                  "hyperpod.sagemaker.amazonaws.com"))
            return bad;
    }
    return check_groups(state, call, base::get_array(call.params, "InstanceGroups"), vpc_config, nullptr,
                        continuous);
}

}  // namespace instantstart::twin::sagemaker
