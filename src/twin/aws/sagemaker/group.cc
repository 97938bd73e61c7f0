// Instance groups: from the request's shape to the answer's.
#include <algorithm>

#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/plan.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

constexpr const char* kCopied[] = {
    "InstanceType",           "LifeCycleConfig",         "ExecutionRole",
    "InstanceStorageConfigs", "OnStartDeepHealthChecks", "TrainingPlanArn",
    "OverrideVpcConfig",      "ScheduledUpdateConfig",   "CapacityRequirements",
    "NetworkInterface"};
// What the twin keeps of a group where its specification is written anew.
constexpr const char* kKept[] = {"CurrentImageId", "SoftwareUpdateStatus", "ActiveSoftwareUpdateConfig"};

// Desired is what was asked for; current is what the nodes have, which follows.
JsonObject kubernetes_config(const JsonObject& specification, const Record* earlier) {
    JsonObject config;
    const JsonObject& given = base::get_object(specification, "KubernetesConfig");
    const JsonObject none;
    const JsonObject& before =
        earlier == nullptr ? none : base::get_object(earlier->data, "KubernetesConfig");
    for (const char* part : {"Labels", "Taints"}) {
        const std::string current = std::string("Current") + part, desired = std::string("Desired") + part;
        const JsonValue* wanted = given.if_contains(part);
        if (wanted != nullptr) config[desired] = *wanted;
        const JsonValue* present = earlier == nullptr ? wanted : before.if_contains(current);
        if (present != nullptr) config[current] = *present;
    }
    return config;
}

void put_types(JsonObject& data, const JsonObject& specification, const Record* earlier) {
    if (!specification.contains("InstanceRequirements")) return;
    const JsonArray& list = base::get_array(specification, "InstanceRequirements.InstanceTypes");
    JsonArray current = list;
    if (earlier != nullptr && earlier->data.contains("InstanceRequirements"))
        current = base::get_array(earlier->data, "InstanceRequirements.CurrentInstanceTypes");
    data["InstanceRequirements"] = {{"CurrentInstanceTypes", current}, {"DesiredInstanceTypes", list}};
    if (!list.empty()) data["InstanceType"] = list.front();
}

void put_images(JsonObject& data, const JsonObject& specification, const Record* earlier) {
    data["CurrentImageId"] = base::get_string(specification, "ImageId", "default");
    if (earlier != nullptr) {
        for (const char* member : kKept) {
            if (const JsonValue* value = earlier->data.if_contains(member)) data[member] = *value;
        }
    }
    data["DesiredImageId"] = base::get_string(specification, "ImageId", "default");
}

std::string sorted_text(const JsonArray& list) {
    std::vector<std::string> texts;
    for (const JsonValue& value : list) texts.push_back(base::to_text(value));
    std::sort(texts.begin(), texts.end());
    std::string all;
    for (const std::string& text : texts) all += text + " ";
    return all;
}

// The fixed fields as texts that can be compared, in either shape.
using Fixed = std::vector<std::pair<const char*, std::string>>;
Fixed fixed_of(const JsonObject& group) {
    const bool flexible = group.contains("InstanceRequirements");
    return {
        {"InstanceType", flexible ? "InstanceRequirements" : base::get_string(group, "InstanceType")},
        {"OverrideVpcConfig", sorted_text(base::get_array(group, "OverrideVpcConfig.Subnets")) + "/ " +
                                  sorted_text(base::get_array(group, "OverrideVpcConfig.SecurityGroupIds"))},
        {"CapacityRequirements",
         base::find_path(group, "CapacityRequirements.Spot") != nullptr ? "Spot" : "OnDemand"},
        {"InstanceStorageConfigs", sorted_text(base::get_array(group, "InstanceStorageConfigs"))},
        {"NetworkInterface", base::get_string(group, "NetworkInterface.InterfaceType", "efa")}};
}

JsonArray type_details(State& state, const Record& cluster, const Record& group) {
    std::map<std::string, std::int64_t> counts;
    for (const Record* node : nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName"))) {
        if (has_instance(*node) && node_status(*node) != "Pending")
            ++counts[base::get_string(node->data, "InstanceType")];
    }
    JsonArray details;
    for (const std::string& type : types_of(group)) {
        details.push_back({{"InstanceType", type},
                           {"CurrentCount", counts[type]},
                           {"ThreadsPerCore", base::get_int(group.data, "ThreadsPerCore", 1)}});
    }
    return details;
}

bool any_faulty(State& state, const Record& cluster, const std::string& group) {
    for (const Record* node : nodes_of(state, cluster, group)) {
        if (node->hidden.contains("fault") || node_status(*node) == "Failure") return true;
    }
    return false;
}

std::int64_t on_desired_image(State& state, const Record& cluster, const Record& group) {
    std::int64_t count = 0;
    for (const Record* node : nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName"))) {
        if (has_instance(*node) && base::get_string(node->hidden, "image") == desired_image(group)) ++count;
    }
    return count;
}

}  // namespace

std::vector<std::string> types_of(const Record& group) {
    std::vector<std::string> types = strings(group.data, "InstanceRequirements.DesiredInstanceTypes");
    if (types.empty()) types = {base::get_string(group.data, "InstanceType")};
    return types;
}

bool is_spot(const Record& group) {
    return base::find_path(group.data, "CapacityRequirements.Spot") != nullptr;
}

std::string desired_image(const Record& group) {
    return base::get_string(group.data, "DesiredImageId") + "@" +
           std::to_string(base::get_int(group.hidden, "release"));
}

const JsonObject& network_of(const Record& cluster, const Record& group) {
    const JsonObject& own = base::get_object(group.data, "OverrideVpcConfig");
    return own.empty() ? base::get_object(cluster.data, "VpcConfig") : own;
}

JsonArray kube_taints(const JsonArray& taints) {
    JsonArray made;
    for (const JsonValue& taint : taints) {
        JsonObject entry{{"key", base::get_string(taint, "Key")},
                         {"effect", base::get_string(taint, "Effect")}};
        if (taint.get_object().contains("Value")) entry["value"] = base::get_string(taint, "Value");
        made.push_back(std::move(entry));
    }
    return made;
}

std::optional<ServiceError> check_fixed(const Record& group, const JsonObject& specification) {
    const Fixed before = fixed_of(group.data), after = fixed_of(specification);
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].second == after[i].second) continue;
        return invalid("Updating " + std::string(before[i].first) + " of the existing instance group " +
                       base::get_string(group.data, "InstanceGroupName") +
                       " is not supported. Delete the instance group and create a new one to change it.");
    }
    return std::nullopt;
}

void put_group(State& state, const Record& cluster, const JsonObject& specification) {
    const std::string name = base::get_string(specification, "InstanceGroupName"),
                      key = cluster_id(cluster) + "/" + name;
    std::optional<Record> before;
    if (const Record* present = state.groups.find(key)) before = *present;
    const Record* earlier = before ? &*before : nullptr;
    std::string status = "Creating";
    if (earlier != nullptr) status = is_continuous(cluster) ? status_of(*earlier) : "Updating";
    JsonObject data;
    data["InstanceGroupName"] = name;
    for (const char* member : kCopied) {
        if (const JsonValue* value = specification.if_contains(member)) data[member] = *value;
    }
    put_types(data, specification, earlier);
    data["ThreadsPerCore"] = base::get_int(specification, "ThreadsPerCore", 1);
    data["TargetCount"] = base::get_int(specification, "InstanceCount");
    if (specification.contains("MinInstanceCount"))
        data["MinCount"] = base::get_int(specification, "MinInstanceCount");
    if (JsonObject config = kubernetes_config(specification, earlier); !config.empty())
        data["KubernetesConfig"] = std::move(config);
    put_images(data, specification, earlier);
    data["Status"] = status;
    Record& group = state.groups.add(key, std::move(data), before ? before->created : state.world.now());
    group.hidden = before ? before->hidden : JsonObject();
    group.hidden["cluster"] = cluster_id(cluster);
    if (!before) group.hidden["release"] = state.image_release;
}

JsonObject group_answer(State& state, const Record& cluster, const Record& group) {
    JsonObject shown = group.data;
    const std::string name = base::get_string(shown, "InstanceGroupName");
    const std::int64_t have = running_count(state, cluster, name),
                       target = base::get_int(shown, "TargetCount");
    shown["CurrentCount"] = have;
    if (shown.contains("InstanceRequirements")) {
        shown["InstanceTypeDetails"] = type_details(state, cluster, group);
        shown.erase("InstanceType");
    }
    const bool newest = base::get_int(group.hidden, "release") == state.image_release ||
                        base::get_string(shown, "CurrentImageId") != "default";
    shown["ImageVersionStatus"] = newest ? "UpToDate" : "UpdateAvailable";
    if (shown.contains("SoftwareUpdateStatus"))
        shown["TargetStateCount"] = on_desired_image(state, cluster, group);
    if (const std::string plan = base::get_string(shown, "TrainingPlanArn"); !plan.empty())
        shown["TrainingPlanStatus"] = plan_status(state, plan);
    if (status_of(group) == "InService" && any_faulty(state, cluster, name)) shown["Status"] = "Degraded";
    if (is_continuous(cluster))
        shown["ActiveOperations"] = have == target ? JsonObject() : JsonObject{{"Scaling", 1}};
    return shown;
}

void apply_kubernetes_config(State& state, const Record& cluster, Record& group) {
    const JsonObject config = base::get_object(group.data, "KubernetesConfig");
    for (const Record* node : nodes_of(state, cluster, base::get_string(group.data, "InstanceGroupName")))
        relabel_node(state, cluster, *node, config);
    JsonObject settled;
    for (const char* part : {"Labels", "Taints"}) {
        const JsonValue* wanted = config.if_contains(std::string("Desired") + part);
        if (wanted == nullptr) continue;
        settled[std::string("Current") + part] = *wanted;
        settled[std::string("Desired") + part] = *wanted;
    }
    group.data.erase("KubernetesConfig");
    if (!settled.empty()) group.data["KubernetesConfig"] = std::move(settled);
    if (const JsonArray types = base::get_array(group.data, "InstanceRequirements.DesiredInstanceTypes");
        !types.empty())
        group.data["InstanceRequirements"] = {{"CurrentInstanceTypes", types},
                                              {"DesiredInstanceTypes", types}};
}

}  // namespace instantstart::twin::sagemaker
