#include "flows/hyperpod_steps.h"

#include <algorithm>

#include "domain/instance_group.h"
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

}  // namespace

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

JsonObject lifecycle_of(const std::string& script) {
    const auto slash = script.rfind('/');
    return {{"SourceS3Uri", script.substr(0, slash + 1)}, {"OnCreate", script.substr(slash + 1)}};
}

std::string hyperpod_name(const StepCall& call) {
    return base::get_string(call.params, "hyperpod_name", cluster_of(call));
}

std::string hyperpod_lease(const JsonObject& params) {
    return "hyperpod/" + base::get_string(params, "cluster");
}

namespace {

void add_kubernetes(const JsonObject& group, JsonObject& specification) {
    JsonObject config;
    auto labels = base::get_object(group, "labels");
    if (base::get_bool(group, "autoscaled")) labels[domain::kAutoscaledLabel] = "true";
    if (!labels.empty()) config["Labels"] = std::move(labels);
    if (const auto& taints = base::get_array(group, "taints"); !taints.empty())
        config["Taints"] = taints_of(taints);
    if (!config.empty()) specification["KubernetesConfig"] = std::move(config);
}

void add_lifecycle(const StepCall& call, const JsonObject& group, JsonObject& specification) {
    const auto script = base::get_string(group, "lifecycle_script");
    if (!script.empty()) {
        specification["LifeCycleConfig"] = lifecycle_of(script);
        return;
    }
    const auto& ours = call.result_of("lifecycle_script");
    specification["LifeCycleConfig"] = {{"SourceS3Uri", base::get_string(ours, "uri")},
                                        {"OnCreate", base::get_string(ours, "file")}};
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

JsonObject hyperpod_request(const StepCall& call) {
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
    return parameters;
}

// Only the new group is sent: groups that are not listed are left alone.
JsonObject group_request(const StepCall& call, const std::string& name) {
    JsonArray groups;
    for (const auto& group : base::get_array(call.params, "groups")) {
        if (base::get_string(group, "name") == name) {
            groups.push_back(group_specification(call, group.as_object()));
        }
    }
    return {{"ClusterName", hyperpod_name(call)}, {"InstanceGroups", std::move(groups)}};
}

Task<JsonObject> describe_hyperpod(Clusters& env, StepCall call) {
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}};
    auto answer = co_await env.aws().call(call.context, "sagemaker", "DescribeCluster", std::move(parameters),
                                          look(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonObject{};
        co_return std::move(answer).error();
    }
    env.forget(eks_of(call));
    co_return std::move(*answer);
}

const JsonObject* group_in(const JsonObject& hyperpod, std::string_view name) {
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        if (base::get_string(group, "InstanceGroupName") == name) return group.if_object();
    }
    return nullptr;
}

namespace {

Task<Observation> observe_hyperpod(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
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
    JsonObject parameters = hyperpod_request(call);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "CreateCluster", std::move(parameters)));
    co_return made(env, hyperpod_name(call));
}

Task<Observation> observe_group(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto name = base::get_string(args, "group");
    if (group_in(cluster, name) != nullptr) co_return ops::done({});
    if (is_fresh(env, call)) co_return ops::in_progress("waiting until SageMaker shows the group");
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (status != "InService") co_return ops::in_progress("SageMaker says " + status);
    co_return ops::absent();
}

Task<JsonObject> act_group(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters = group_request(call, base::get_string(args, "group"));
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(parameters)));
    co_return made(env, base::get_string(args, "group"));
}

// Why fewer nodes run than are wanted, where HyperPod's events or the training plan say it.
Task<void> explain_waiting(Clusters& env, StepCall call, std::string plan_arn, std::string group,
                           Observation& waiting) {
    if (!plan_arn.empty()) {
        CO_TRY(auto condition, co_await plan_condition(env, call.context, plan_arn, group));
        if (!condition.empty()) {
            waiting.conditions = std::move(condition);
            co_return base::ok();
        }
    }
    CO_TRY(auto event, co_await capacity_event(env, call.context, hyperpod_name(call), group));
    if (!event.empty())
        waiting.conditions = {{"type", "WaitingForCapacity"}, {"group", group}, {"message", event}};
    co_return base::ok();
}

Observation rolled_back(const std::string& group, std::int64_t least) {
    return ops::impossible(
        base::conflict_error("minimum_not_reached", "HyperPod rolled instance group " + group +
                                                        " back: its minimum of " + std::to_string(least) +
                                                        " instances could not be had within three hours")
            .with_hint("Ask again by instance_group.update with a lower min_count, or add a group in another "
                       "zone or of another type."));
}

// Labels and taints reach the nodes some seconds after SageMaker took them.
bool is_on_its_way(const JsonObject& details) {
    for (const char* part : {"Labels", "Taints"}) {
        const auto* desired = base::find_path(details, std::string("KubernetesConfig.Desired") + part);
        const auto* current = base::find_path(details, std::string("KubernetesConfig.Current") + part);
        if (desired != nullptr && current != nullptr && *desired != *current) return true;
    }
    return false;
}

Task<Observation> observe_nodes(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto name = base::get_string(args, "group");
    CO_TRY(auto health, co_await group_health(env, call.context, eks_of(call), cluster, name));
    const auto wanted = base::get_int(health, "wanted");
    const auto* details = group_in(cluster, name);
    const auto least = base::get_int(args, "least");
    if (details != nullptr && wanted < least) co_return rolled_back(name, least);
    const bool exactly = base::get_bool(args, "exactly") && details != nullptr;
    const bool surplus = exactly && base::get_int(health, "present") > wanted;
    const bool changing = exactly && wanted > 0 && is_on_its_way(*details);
    if (base::get_bool(health, "usable") && !surplus && !changing) co_return ops::done({{"nodes", wanted}});
    const double share =
        wanted > 0 ? static_cast<double>(base::get_int(health, "ready")) / static_cast<double>(wanted) : 0;
    auto waiting = ops::in_progress(base::get_string(health, "detail"), std::min(share, 1.0));
    if (base::get_int(health, "running") >= wanted || details == nullptr) co_return waiting;
    const auto plan = base::get_string(*details, "TrainingPlanArn");
    auto explained = co_await explain_waiting(env, call, plan, name, waiting);
    if (!explained && explained.error().kind == base::ErrorKind::cancelled)
        co_return std::move(explained).error();
    // Events explain the waiting, they do not decide it.
    if (!explained) waiting.detail += "; why it waits could not be read: " + explained.error().message;
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

}  // namespace

void add_nodes_step(Steps& steps, const NodesPlan& plan) {
    auto schedule = minutes_of(6, 15);
    schedule.limit = std::chrono::hours(24 * 14);
    steps.add(Row(plan.group + ".nodes", "See the nodes of " + plan.group + " ready",
                  {plan.after, "kubernetes_access"})
                  .does(&observe_nodes, nullptr)
                  .with({{"group", plan.group}, {"least", plan.least}, {"exactly", plan.exactly}})
                  .takes(schedule)
                  .as("check"));
}

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
        NodesPlan nodes(base::get_string(group, "name"), "hyperpod");
        nodes.least = base::get_int(group, "min_count");
        add_nodes_step(steps, nodes);
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
                      .alone(hyperpod_lease(params))
                      .waits(kHyperpodWait)
                      .as("change"));
        NodesPlan nodes(name, "group_" + name);
        nodes.least = base::get_int(group, "min_count");
        add_nodes_step(steps, nodes);
    }
}

}  // namespace instantstart::flows
