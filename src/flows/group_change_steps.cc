#include "flows/group_change_steps.h"

#include "domain/instance_group.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::flows {

namespace {

void copy(const JsonObject& from, std::string_view path, JsonObject& to, std::string_view name) {
    const auto* value = base::find_path(from, path);
    if (value != nullptr && !value->is_null()) to[name] = *value;
}

// Where the description names no taints and labels, the request names none either.
void put_kubernetes(JsonObject labels, JsonArray taints, JsonObject& specification) {
    JsonObject config;
    if (!labels.empty()) config["Labels"] = std::move(labels);
    if (!taints.empty()) config["Taints"] = std::move(taints);
    if (config.empty()) {
        specification.erase("KubernetesConfig");
    } else {
        specification["KubernetesConfig"] = std::move(config);
    }
}

}  // namespace

JsonObject specification_of(const JsonObject& details) {
    JsonObject specification{{"InstanceCount", base::get_int(details, "TargetCount")}};
    for (const char* key :
         {"InstanceGroupName", "InstanceType", "LifeCycleConfig", "ExecutionRole", "ThreadsPerCore",
          "InstanceStorageConfigs", "OnStartDeepHealthChecks", "OverrideVpcConfig", "ScheduledUpdateConfig",
          "CapacityRequirements", "NetworkInterface"}) {
        copy(details, key, specification, key);
    }
    copy(details, "MinCount", specification, "MinInstanceCount");
    const auto plan = base::get_string(details, "TrainingPlanArn");
    if (!plan.empty()) specification["TrainingPlanArn"] = plan;
    // A custom image that is not sent back becomes AWS's own; "default" is no change.
    const auto image = base::get_string(details, "DesiredImageId");
    if (image.starts_with("ami-")) specification["ImageId"] = image;
    const auto& types = base::get_array(details, "InstanceRequirements.DesiredInstanceTypes");
    if (!types.empty()) {
        specification["InstanceRequirements"] = {{"InstanceTypes", types}};
        specification.erase("InstanceType");
    }
    put_kubernetes(base::get_object(details, "KubernetesConfig.DesiredLabels"),
                   base::get_array(details, "KubernetesConfig.DesiredTaints"), specification);
    return specification;
}

namespace {

void change_counts(const JsonObject& changes, JsonObject& specification) {
    copy(changes, "count", specification, "InstanceCount");
    copy(changes, "min_count", specification, "MinInstanceCount");
}

void change_checks(const JsonObject& changes, JsonObject& specification) {
    const auto* checks = changes.if_contains("deep_health_checks");
    if (checks == nullptr || !checks->is_array()) return;
    if (checks->as_array().empty()) {
        specification.erase("OnStartDeepHealthChecks");
    } else {
        specification["OnStartDeepHealthChecks"] = *checks;
    }
}

void change_plan(const JsonObject& changes, JsonObject& specification) {
    if (!changes.contains("training_plan_arn")) return;
    const auto plan = base::get_string(changes, "training_plan_arn");
    if (plan.empty()) {
        specification.erase("TrainingPlanArn");
    } else {
        specification["TrainingPlanArn"] = plan;
    }
}

void change_script(const JsonObject& changes, JsonObject& specification) {
    const auto script = base::get_string(changes, "lifecycle_script");
    if (!script.empty()) specification["LifeCycleConfig"] = lifecycle_of(script);
}

// Our own mark among the labels goes by `autoscaled` alone.
JsonObject changed_labels(const JsonObject& changes, const JsonObject& before) {
    const auto* labels = changes.if_contains("labels");
    JsonObject wanted = labels != nullptr && labels->is_object() ? labels->get_object() : before;
    const bool marked = base::get_bool(changes, "autoscaled", before.contains(domain::kAutoscaledLabel));
    wanted.erase(domain::kAutoscaledLabel);
    if (marked) wanted[domain::kAutoscaledLabel] = "true";
    return wanted;
}

void change_kubernetes(const JsonObject& changes, JsonObject& specification) {
    const auto* taints = changes.if_contains("taints");
    const bool labels = changes.contains("labels") || changes.contains("autoscaled");
    if (!labels && taints == nullptr) return;
    JsonObject config = base::get_object(specification, "KubernetesConfig");
    // Named and empty, so that what was there goes.
    if (labels) config["Labels"] = changed_labels(changes, base::get_object(config, "Labels"));
    if (taints != nullptr) config["Taints"] = taints_of(base::get_array(changes, "taints"));
    specification["KubernetesConfig"] = std::move(config);
}

// Absent and empty are the same.
JsonObject without_empty(JsonObject specification) {
    put_kubernetes(base::get_object(specification, "KubernetesConfig.Labels"),
                   base::get_array(specification, "KubernetesConfig.Taints"), specification);
    if (base::get_int(specification, "MinInstanceCount") == 0) specification.erase("MinInstanceCount");
    return specification;
}

}  // namespace

JsonObject changed_specification(const JsonObject& details, const JsonObject& changes) {
    auto specification = specification_of(details);
    change_counts(changes, specification);
    change_checks(changes, specification);
    change_plan(changes, specification);
    change_script(changes, specification);
    change_kubernetes(changes, specification);
    return specification;
}

bool is_as_asked(const JsonObject& details, const JsonObject& changes) {
    return without_empty(changed_specification(details, changes)) == without_empty(specification_of(details));
}

JsonObject change_request(const StepCall& call, const JsonObject& details) {
    const auto& changes = base::get_object(call.params, "changes");
    return {{"ClusterName", hyperpod_name(call)},
            {"InstanceGroups", JsonArray{changed_specification(details, changes)}}};
}

namespace {

Observation group_is_gone(const std::string& name) {
    return ops::impossible(
        base::Error(base::ErrorKind::not_found, "not_found", "instance group \"" + name + "\" is gone")
            .with_hint("Somebody deleted it meanwhile; instance_group.add makes it anew."));
}

// What keeps SageMaker from taking an update now; "" where nothing does.
std::string busy_with(const JsonObject& cluster, const JsonObject& details) {
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (status != "InService" && status != "Failed") return "SageMaker says " + status;
    if (base::get_string(details, "Status") == "SystemUpdating") return "the group's software is updated";
    return "";
}

Task<Observation> observe_change(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto name = base::get_string(args, "group");
    const auto* details = group_in(cluster, name);
    if (details == nullptr) co_return group_is_gone(name);
    if (base::get_string(*details, "Status") == "Deleting") co_return group_is_gone(name);
    if (is_as_asked(*details, base::get_object(call.params, "changes"))) co_return ops::done({});
    if (is_fresh(env, call)) co_return ops::in_progress("waiting until SageMaker shows the change");
    const auto busy = busy_with(cluster, *details);
    if (!busy.empty()) co_return ops::in_progress(busy);
    co_return ops::absent();
}

Task<JsonObject> act_change(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto name = base::get_string(args, "group");
    const auto* details = group_in(cluster, name);
    if (details == nullptr) co_return JsonObject{};
    auto request = change_request(call, *details);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(request)));
    co_return made(env, name);
}

Task<Observation> observe_removal(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto* details = group_in(cluster, base::get_string(args, "group"));
    if (details == nullptr) co_return ops::done({});
    const bool deleting = base::get_string(*details, "Status") == "Deleting";
    if (deleting || is_fresh(env, call)) co_return ops::in_progress("SageMaker deletes the group");
    const auto busy = busy_with(cluster, *details);
    if (!busy.empty()) co_return ops::in_progress(busy);
    co_return ops::absent();
}

Task<JsonObject> act_removal(Clusters& env, StepCall call, JsonObject args) {
    const auto name = base::get_string(args, "group");
    JsonObject request{{"ClusterName", hyperpod_name(call)},
                       {"InstanceGroupsToDelete", JsonArray{JsonValue(name)}}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(request)));
    co_return made(env, name);
}

Task<Observation> observe_gone(Clusters& env, StepCall call, JsonObject args) {
    const auto group = base::get_string(args, "group");
    CO_TRY(const auto left, co_await nodes_left(env, call.context, eks_of(call), hyperpod_name(call), group));
    if (left == 0) co_return ops::done({});
    co_return ops::in_progress(std::to_string(left) + " nodes are still there");
}

}  // namespace

void add_group_change(Steps& steps, const JsonObject& params) {
    const auto name = base::get_string(params, "group");
    steps.add(Row("change_" + name, "Change instance group " + name, {"eks"})
                  .does(&observe_change, &act_change)
                  .with({{"group", name}})
                  .takes(minutes_of(0.5, 15))
                  .alone(hyperpod_lease(params))
                  .waits(kHyperpodWait)
                  .as("change"));
    NodesPlan nodes(name, "change_" + name);
    nodes.least = base::get_int(params, "changes.min_count");
    nodes.exactly = true;
    add_nodes_step(steps, nodes);
}

void add_group_removal(Steps& steps, const JsonObject& params) {
    const auto name = base::get_string(params, "group");
    steps.add(Row("delete_" + name, "Delete instance group " + name, {"eks"})
                  .does(&observe_removal, &act_removal)
                  .with({{"group", name}})
                  .takes(minutes_of(3, 15))
                  .alone(hyperpod_lease(params))
                  .waits(kHyperpodWait)
                  .as("delete"));
    steps.add(
        Row(name + ".gone", "See the nodes of " + name + " gone", {"delete_" + name, "kubernetes_access"})
            .does(&observe_gone, nullptr)
            .with({{"group", name}})
            .takes(minutes_of(1, 15))
            .as("check"));
}

}  // namespace instantstart::flows
