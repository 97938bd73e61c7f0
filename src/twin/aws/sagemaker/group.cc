// Instance groups: from the request's shape to the answer's.
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

constexpr const char* kCopied[] = {
    "InstanceType",           "LifeCycleConfig",         "ExecutionRole",
    "InstanceStorageConfigs", "OnStartDeepHealthChecks", "TrainingPlanArn",
    "OverrideVpcConfig",      "ScheduledUpdateConfig",   "CapacityRequirements",
    "NetworkInterface"};

JsonObject kubernetes_config(const JsonObject& specification) {
    JsonObject config;
    const JsonObject& given = base::get_object(specification, "KubernetesConfig");
    for (const char* prefix : {"Current", "Desired"}) {
        if (given.contains("Labels"))
            config[std::string(prefix) + "Labels"] = base::get_object(given, "Labels");
        if (given.contains("Taints"))
            config[std::string(prefix) + "Taints"] = base::get_array(given, "Taints");
    }
    return config;
}

}  // namespace

void put_group(State& state, const Record& cluster, const JsonObject& specification) {
    const std::string name = base::get_string(specification, "InstanceGroupName"),
                      key = cluster_id(cluster) + "/" + name;
    const Record* earlier = state.groups.find(key);
    const std::string status = earlier == nullptr       ? "Creating"
                               : is_continuous(cluster) ? status_of(*earlier)
                                                        : "Updating";
    JsonObject data;
    data["InstanceGroupName"] = name;
    for (const char* member : kCopied) {
        if (const JsonValue* value = specification.if_contains(member)) data[member] = *value;
    }
    if (const JsonObject* types = specification.if_contains("InstanceRequirements")
                                      ? &base::get_object(specification, "InstanceRequirements")
                                      : nullptr) {
        const JsonArray& list = base::get_array(*types, "InstanceTypes");
        data["InstanceRequirements"] = {{"CurrentInstanceTypes", list}, {"DesiredInstanceTypes", list}};
        if (!list.empty()) data["InstanceType"] = list.front();
    }
    data["ThreadsPerCore"] = base::get_int(specification, "ThreadsPerCore", 1);
    data["TargetCount"] = base::get_int(specification, "InstanceCount");
    if (specification.contains("MinInstanceCount"))
        data["MinCount"] = base::get_int(specification, "MinInstanceCount");
    if (specification.contains("KubernetesConfig"))
        data["KubernetesConfig"] = kubernetes_config(specification);
    data["CurrentImageId"] = "default";
    data["DesiredImageId"] = base::get_string(specification, "ImageId", "default");
    data["ImageVersionStatus"] = "UpToDate";
    data["Status"] = status;
    const TimePoint created = earlier == nullptr ? state.world.now() : earlier->created;
    Record& group = state.groups.add(key, std::move(data), created);
    group.hidden["cluster"] = cluster_id(cluster);
    group.hidden["settled"] = status == "InService";
}

JsonObject group_answer(State& state, const Record& cluster, const Record& group) {
    JsonObject shown = group.data;
    const std::string name = base::get_string(shown, "InstanceGroupName");
    const std::int64_t have = running_count(state, cluster, name),
                       target = base::get_int(shown, "TargetCount");
    shown["CurrentCount"] = have;
    if (shown.contains("InstanceRequirements")) {
        shown["InstanceTypeDetails"] =
            JsonArray{JsonObject{{"InstanceType", base::get_string(shown, "InstanceType")},
                                 {"CurrentCount", have},
                                 {"ThreadsPerCore", base::get_int(shown, "ThreadsPerCore")}}};
        shown.erase("InstanceType");
    }
    if (is_continuous(cluster)) {
        shown["ActiveOperations"] = have == target ? JsonObject() : JsonObject{{"Scaling", 1}};
    }
    return shown;
}

}  // namespace instantstart::twin::sagemaker
