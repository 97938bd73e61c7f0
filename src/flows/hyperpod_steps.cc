#include "flows/hyperpod_steps.h"

#include <algorithm>

#include "flows/bucket_steps.h"
#include "flows/components.h"
#include "flows/network_steps.h"
#include "flows/role_steps.h"

namespace instantstart::flows {

namespace {

void copy(const JsonObject& from, std::string_view key, JsonObject& to, std::string_view name) {
    const auto* value = from.if_contains(key);
    if (value != nullptr && !value->is_null()) to[name] = *value;
}

JsonArray taints_of(const JsonArray& taints) {
    JsonArray list;
    for (const auto& taint : taints) {
        JsonObject row{{"Key", base::get_string(taint, "key")},
                       {"Effect", base::get_string(taint, "effect")}};
        const auto value = base::get_string(taint, "value");
        if (!value.empty()) row["Value"] = value;
        list.push_back(std::move(row));
    }
    return list;
}

void add_kubernetes(const JsonObject& group, JsonObject& specification) {
    JsonObject config;
    if (const auto& labels = base::get_object(group, "labels"); !labels.empty()) config["Labels"] = labels;
    if (const auto& taints = base::get_array(group, "taints"); !taints.empty())
        config["Taints"] = taints_of(taints);
    if (!config.empty()) specification["KubernetesConfig"] = std::move(config);
}

void add_lifecycle(const StepCall& call, const JsonObject& group, JsonObject& specification) {
    const auto script = base::get_string(group, "lifecycle_script");
    const auto slash = script.rfind('/');
    if (script.empty()) {
        const auto& ours = call.result_of("lifecycle_script");
        specification["LifeCycleConfig"] = {{"SourceS3Uri", base::get_string(ours, "uri")},
                                            {"OnCreate", base::get_string(ours, "file")}};
    } else {
        specification["LifeCycleConfig"] = {{"SourceS3Uri", script.substr(0, slash + 1)},
                                            {"OnCreate", script.substr(slash + 1)}};
    }
}

JsonObject network_of(const StepCall& call, const JsonObject& group) {
    const auto subnet = base::get_string(group, "subnet_id");
    const auto made_subnet =
        base::get_string(call.result_of("compute_subnet_" + base::get_string(group, "zone")), "id");
    auto groups = base::get_array(group, "security_group_ids");
    if (groups.empty()) groups.emplace_back(base::get_string(call.result_of("network"), "security_group_id"));
    return {{"SecurityGroupIds", std::move(groups)},
            {"Subnets", JsonArray{JsonValue(subnet.empty() ? made_subnet : subnet)}}};
}

}  // namespace

JsonObject group_specification(const StepCall& call, const JsonObject& group) {
    const auto role = base::get_string(group, "execution_role_arn",
                                       base::get_string(call.result_of("execution_role"), "arn"));
    JsonObject specification{{"InstanceGroupName", base::get_string(group, "name")},
                             {"InstanceCount", base::get_int(group, "count")},
                             {"ExecutionRole", role},
                             {"OverrideVpcConfig", network_of(call, group)}};
    const auto& types = base::get_array(group, "instance_types");
    if (types.empty()) {
        specification["InstanceType"] = base::get_string(group, "instance_type");
    } else {
        specification["InstanceRequirements"] = {{"InstanceTypes", types}};
    }
    copy(group, "min_count", specification, "MinInstanceCount");
    copy(group, "threads_per_core", specification, "ThreadsPerCore");
    copy(group, "deep_health_checks", specification, "OnStartDeepHealthChecks");
    copy(group, "image_id", specification, "ImageId");
    add_lifecycle(call, group, specification);
    add_kubernetes(group, specification);
    if (const auto size = base::get_int(group, "volume_size_gib"); size > 0) {
        JsonObject volume{{"VolumeSizeInGB", size}};
        const auto key = base::get_string(group, "kms_key_arn");
        if (!key.empty()) volume["VolumeKmsKeyId"] = key;
        specification["InstanceStorageConfigs"] =
            JsonArray{JsonObject{{"EbsVolumeConfig", std::move(volume)}}};
    }
    const auto interface = base::get_string(group, "interface_type");
    if (!interface.empty()) specification["NetworkInterface"] = {{"InterfaceType", interface}};
    const auto capacity = base::get_string(group, "capacity.type", "on_demand");
    if (capacity == "spot") specification["CapacityRequirements"] = {{"Spot", JsonObject{}}};
    if (capacity == "training_plan")
        specification["TrainingPlanArn"] = base::get_string(group, "capacity.training_plan_arn");
    return specification;
}

JsonObject specification_of(const JsonObject& details) {
    JsonObject specification{{"InstanceCount", base::get_int(details, "TargetCount")}};
    for (const char* key :
         {"InstanceGroupName", "InstanceType", "LifeCycleConfig", "ExecutionRole", "ThreadsPerCore",
          "InstanceStorageConfigs", "OnStartDeepHealthChecks", "TrainingPlanArn", "OverrideVpcConfig",
          "ScheduledUpdateConfig", "CapacityRequirements", "NetworkInterface"}) {
        copy(details, key, specification, key);
    }
    copy(details, "MinCount", specification, "MinInstanceCount");
    if (specification["TrainingPlanArn"].is_string() &&
        specification["TrainingPlanArn"].as_string().empty()) {
        specification.erase("TrainingPlanArn");
    }
    if (specification["TrainingPlanArn"].is_null()) specification.erase("TrainingPlanArn");
    const auto& types = base::get_array(details, "InstanceRequirements.DesiredInstanceTypes");
    if (!types.empty()) {
        specification["InstanceRequirements"] = {{"InstanceTypes", types}};
        specification.erase("InstanceType");
    }
    JsonObject kubernetes;
    const auto& labels = base::get_object(details, "KubernetesConfig.DesiredLabels");
    const auto& taints = base::get_array(details, "KubernetesConfig.DesiredTaints");
    if (!labels.empty()) kubernetes["Labels"] = labels;
    if (!taints.empty()) kubernetes["Taints"] = taints;
    if (!kubernetes.empty()) specification["KubernetesConfig"] = std::move(kubernetes);
    return specification;
}

namespace {

std::string hyperpod_name(const StepCall& call) {
    return base::get_string(call.params, "hyperpod_name", cluster_of(call));
}

Task<JsonObject> describe(Clusters& env, StepCall call) {
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}};
    auto answer =
        co_await env.aws().call(call.context, "sagemaker", "DescribeCluster", std::move(parameters));
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonObject{};
        co_return std::move(answer).error();
    }
    env.forget(eks_of(call));
    co_return std::move(*answer);
}

Task<Observation> observe_hyperpod(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto cluster, co_await describe(env, call));
    if (cluster.empty()) {
        if (is_fresh(env, call)) co_return ops::in_progress("waiting until SageMaker shows the cluster");
        co_return ops::absent();
    }
    const auto eks_arn = base::get_string(call.result_of("eks"), "arn");
    if (base::get_string(cluster, "Orchestrator.Eks.ClusterArn") != eks_arn) {
        co_return ops::impossible(base::conflict_error("not_ours", "a HyperPod cluster \"" +
                                                                       hyperpod_name(call) +
                                                                       "\" of another EKS cluster exists")
                                      .with_hint("Give the HyperPod cluster another name."));
    }
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (status == "Failed") {
        co_return ops::impossible(
            base::conflict_error("hyperpod_failed",
                                 "SageMaker says Failed: " + base::get_string(cluster, "FailureMessage"))
                .with_hint("Delete it with hyperpod.delete and create it again."));
    }
    if (status == "InService" || status == "Updating")
        co_return ops::done({{"arn", base::get_string(cluster, "ClusterArn")}});
    co_return ops::in_progress("SageMaker says " + status);
}

Task<JsonObject> act_hyperpod(Clusters& env, StepCall call, JsonObject) {
    JsonArray groups;
    for (const auto& group : base::get_array(call.params, "groups"))
        groups.push_back(group_specification(call, group.as_object()));
    const auto recovery = base::get_string(call.params, "node_recovery", "automatic");
    JsonObject parameters{
        {"ClusterName", hyperpod_name(call)},
        {"Orchestrator", {{"Eks", {{"ClusterArn", base::get_string(call.result_of("eks"), "arn")}}}}},
        {"NodeRecovery", recovery == "none" ? "None" : "Automatic"},
        {"NodeProvisioningMode", "Continuous"}};
    if (!groups.empty())
        parameters["VpcConfig"] = base::get_object(groups.front().as_object(), "OverrideVpcConfig");
    parameters["InstanceGroups"] = std::move(groups);
    auto owner = owner_of(call, "hyperpod");
    owner.user["SageMaker"] =
        "true";  // AWS's policy for the training operator asks for it, and it cannot be added by an update
    parameters["Tags"] = domain::tag_list(owner);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "CreateCluster", std::move(parameters)));
    co_return made(env, hyperpod_name(call));
}

const JsonValue* group_in(const JsonObject& cluster, std::string_view name) {
    for (const auto& group : base::get_array(cluster, "InstanceGroups")) {
        if (base::get_string(group, "InstanceGroupName") == name) return &group;
    }
    return nullptr;
}

Task<Observation> observe_group(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe(env, call));
    const auto name = base::get_string(args, "group");
    if (group_in(cluster, name) != nullptr) co_return ops::done({});
    if (is_fresh(env, call)) co_return ops::in_progress("waiting until SageMaker shows the group");
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (status != "InService") co_return ops::in_progress("SageMaker says " + status);
    co_return ops::absent();
}

// Only the new group is sent: groups that are not listed are left alone.
Task<JsonObject> act_group(Clusters& env, StepCall call, JsonObject args) {
    JsonArray groups;
    for (const auto& group : base::get_array(call.params, "groups")) {
        if (base::get_string(group, "name") == base::get_string(args, "group")) {
            groups.push_back(group_specification(call, group.as_object()));
        }
    }
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}, {"InstanceGroups", std::move(groups)}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(parameters)));
    co_return made(env, base::get_string(args, "group"));
}

Task<Observation> observe_nodes(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe(env, call));
    const auto name = base::get_string(args, "group");
    CO_TRY(auto health, co_await group_health(env, call.context, eks_of(call), cluster, name));
    const auto wanted = base::get_int(health, "wanted");
    if (base::get_bool(health, "usable")) co_return ops::done({{"nodes", wanted}});
    const double share =
        wanted > 0 ? static_cast<double>(base::get_int(health, "ready")) / static_cast<double>(wanted) : 0;
    auto waiting = ops::in_progress(base::get_string(health, "detail"), share);
    if (base::get_int(health, "running") < wanted) {
        CO_TRY(auto event, co_await capacity_event(env, call.context, hyperpod_name(call), name));
        if (!event.empty()) {
            waiting.conditions = {{"type", "WaitingForCapacity"}, {"group", name}, {"message", event}};
        }
    }
    co_return waiting;
}

void add_execution_role(Steps& steps) {
    RolePlan role("execution_role", "HyperPod nodes", "nodes");
    role.service = "sagemaker.amazonaws.com";
    role.managed = {"AmazonSageMakerClusterInstanceRolePolicy"};
    role.inline_kind = "execution";
    role.inline_name = "eks-nodes";
    add_role(steps, role);
}

std::vector<std::string> add_what_groups_need(Steps& steps, const JsonObject& params) {
    std::vector<std::string> needs{"network"};
    bool own_role = false;
    for (const auto& group : base::get_array(params, "groups")) {
        if (base::get_string(group, "subnet_id").empty()) {
            needs.push_back(add_compute_subnet(steps, params, base::get_string(group, "zone")));
        }
        own_role = own_role || base::get_string(group, "execution_role_arn").empty();
    }
    if (own_role) {
        add_execution_role(steps);
        needs.emplace_back("execution_role_policies");
    }
    add_lifecycle_script(steps);
    needs.emplace_back("lifecycle_script");
    // Recovery and device plugins must stand before the first node; nodes need their way out and their
    // endpoints.
    for (const auto& id :
         steps.those_of({"eks", "hyperpod_rbac", "health_monitoring_agent", "nvidia_device_plugin",
                         "efa_device_plugin", "neuron_device_plugin", "vpc_cni", "kube_proxy", "s3_endpoint",
                         "route_private_0", "route_private_1", "group_ingress_self", "group_egress_self",
                         "group_egress_any", "group_ingress_eks", "eks_group_ingress"})) {
        needs.push_back(id);
    }
    std::sort(needs.begin(), needs.end());
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    return needs;
}

void add_nodes_step(Steps& steps, const std::string& group, const std::string& after) {
    auto schedule = minutes_of(6, 15);
    schedule.limit = std::chrono::hours(24 * 14);
    steps.add(Row(group + ".nodes", "See the nodes of " + group + " ready", {after, "kubernetes_access"})
                  .does(&observe_nodes, nullptr)
                  .with({{"group", group}})
                  .takes(schedule)
                  .as("check"));
}

}  // namespace

std::vector<std::string> node_steps(const JsonObject& params) {
    std::vector<std::string> ids;
    for (const auto& group : base::get_array(params, "groups"))
        ids.push_back(base::get_string(group, "name") + ".nodes");
    return ids;
}

void add_hyperpod(Steps& steps, const JsonObject& params) {
    auto needs = add_what_groups_need(steps, params);
    steps.add(Row("hyperpod", "Create HyperPod cluster", std::move(needs))
                  .does(&observe_hyperpod, &act_hyperpod)
                  .takes(minutes_of(3, 15))
                  .iam());
    for (const auto& group : base::get_array(params, "groups")) {
        add_nodes_step(steps, base::get_string(group, "name"), "hyperpod");
    }
}

void add_group(Steps& steps, const JsonObject& params) {
    auto needs = add_what_groups_need(steps, params);
    for (const auto& group : base::get_array(params, "groups")) {
        const auto name = base::get_string(group, "name");
        steps.add(Row("group_" + name, "Add instance group " + name, needs)
                      .does(&observe_group, &act_group)
                      .with({{"group", name}})
                      .takes(minutes_of(0.5, 15))
                      .iam()
                      .alone("hyperpod/" + base::get_string(params, "cluster"))
                      .as("change"));
        add_nodes_step(steps, name, "group_" + name);
    }
}

}  // namespace instantstart::flows
