#include "app/cluster_facts.h"

#include "domain/instance_group.h"
#include "domain/instance_type.h"
#include "domain/names.h"
#include "flows/components.h"
#include "flows/hyperpod_steps.h"
#include "flows/node_steps.h"

namespace instantstart::app {

JsonObject condition_of(const base::Error& error) {
    JsonObject row{{"type", error.code},
                   {"reason", base::get_string(error.extra, "reason", error.code)},
                   {"message", domain::clean_text(error.message, 300)},
                   {"hint", error.hint}};
    const bool refused = error.code == "Unauthorized" || error.code == "Forbidden";
    if (!refused) return row;
    // The API server answers, but not to us: for the user that is the same as not to reach it.
    row["type"] = "KubernetesUnreachable";
    row["hint"] = error.code == "Unauthorized"
                      ? "The cluster knows no access entry of this product's role, or has not seen it yet: "
                        "dependency.reconcile gives it one."
                      : "The access entry of this product's role lacks AmazonEKSClusterAdminPolicy: "
                        "dependency.reconcile adds it.";
    return row;
}

JsonObject eks_row(const JsonObject& eks) {
    const auto& network = base::get_object(eks, "resourcesVpcConfig");
    return {{"name", base::get_string(eks, "name")},
            {"arn", base::get_string(eks, "arn")},
            {"status", base::get_string(eks, "status")},
            {"version", base::get_string(eks, "version")},
            {"endpoint", base::get_string(eks, "endpoint")},
            {"vpc_id", base::get_string(network, "vpcId")},
            {"subnet_ids", base::get_array(network, "subnetIds")},
            {"authentication_mode", base::get_string(eks, "accessConfig.authenticationMode")},
            {"created_at", base::get_string(eks, "createdAt")}};
}

JsonObject hyperpod_row(const JsonObject& hyperpod) {
    if (hyperpod.empty()) return {};
    return {{"name", base::get_string(hyperpod, "ClusterName")},
            {"arn", base::get_string(hyperpod, "ClusterArn")},
            {"status", base::get_string(hyperpod, "ClusterStatus")},
            {"failure", domain::clean_text(base::get_string(hyperpod, "FailureMessage"), 300)},
            {"node_recovery", base::get_string(hyperpod, "NodeRecovery")},
            {"node_provisioning_mode", base::get_string(hyperpod, "NodeProvisioningMode")},
            {"created_at", base::get_string(hyperpod, "CreationTime")}};
}

namespace {

std::string capacity_of(const JsonValue& group) {
    if (!base::get_string(group, "TrainingPlanArn").empty()) return "training_plan";
    const auto* spot = base::find_path(group, "CapacityRequirements.Spot");
    return spot != nullptr ? "spot" : "on_demand";
}

// Those that users give: our own mark is `autoscaled`.
JsonObject labels_of(const JsonValue& group) {
    auto labels = base::get_object(group, "KubernetesConfig.CurrentLabels");
    labels.erase(domain::kAutoscaledLabel);
    return labels;
}

std::string first_text(const JsonArray& list) {
    return list.empty() || !list.front().is_string() ? "" : std::string(list.front().as_string());
}

}  // namespace

JsonArray group_rows(const JsonObject& hyperpod) {
    JsonArray rows;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto target = base::get_int(group, "TargetCount");
        const auto current = base::get_int(group, "CurrentCount");
        JsonObject row{
            {"name", base::get_string(group, "InstanceGroupName")},
            {"instance_type", base::get_string(group, "InstanceType")},
            {"instance_types", base::get_array(group, "InstanceRequirements.DesiredInstanceTypes")},
            {"target_count", target},
            {"current_count", current},
            {"status", base::get_string(group, "Status")},
            {"subnet_id", first_text(base::get_array(group, "OverrideVpcConfig.Subnets"))},
            {"capacity",
             {{"type", capacity_of(group)},
              {"training_plan_arn", base::get_string(group, "TrainingPlanArn")}}},
            {"labels", labels_of(group)},
            {"deep_health_checks", base::get_array(group, "OnStartDeepHealthChecks")},
            {"execution_role_arn", base::get_string(group, "ExecutionRole")}};
        if (const auto minimum = base::get_int(group, "MinCount"); minimum > 0) row["min_count"] = minimum;
        JsonArray conditions;
        if (current < target) {
            conditions.push_back(JsonObject{
                {"type", "Scaling"},
                {"message",
                 std::to_string(current) + " of " + std::to_string(target) + " instances are there"}});
        }
        row["conditions"] = std::move(conditions);
        rows.push_back(std::move(row));
    }
    return rows;
}

Task<void> add_capacity_conditions(Call call, JsonObject hyperpod, JsonArray& rows) {
    const auto name = base::get_string(hyperpod, "ClusterName");
    for (auto& row : rows) {
        auto& group = row.as_object();
        if (base::get_int(group, "current_count") >= base::get_int(group, "target_count")) continue;
        auto said = co_await flows::capacity_event(call.services->clusters, call.context, name,
                                                   base::get_string(group, "name"));
        if (!said && said.error().kind == base::ErrorKind::cancelled) co_return std::move(said).error();
        if (!said || said->empty()) continue;  // event.list says why events cannot be read
        auto& conditions = group["conditions"].as_array();
        conditions.clear();
        conditions.push_back(JsonObject{
            {"type", "WaitingForCapacity"},
            {"message", *said},
            {"hint",
             "HyperPod goes on trying. Wait, or choose another zone or type; operation.cancel ends "
             "the waiting."}});
    }
    co_return base::ok();
}

LastMove last_move(const Call& call, const std::string& cluster) {
    const auto newest = call.services->engine.newest("cluster/" + cluster);
    LastMove move;
    if (newest.empty()) return move;
    move.state = base::get_string(newest, "id") + base::get_string(newest, "state");
    move.moment = move.state + base::get_string(newest, "updated_at");
    return move;
}

namespace {

void add_kubernetes(const kube::Node& node, const kube::ClusterCache& cache, JsonObject& row) {
    const auto& symbols = cache.symbols();
    const auto& type = symbols.text(node.instance_type);
    const auto* known = domain::find_instance_type(type);
    row["ready"] = node.ready;
    row["kubernetes_version"] = symbols.text(node.version);
    if (!type.empty()) row["instance_type"] = type;
    row["zone"] = symbols.text(node.zone);
    row["health"] = domain::clean_text(symbols.text(node.health), 63);
    if (node.group != 0) row["group"] = symbols.text(node.group);
    row["accelerators"] =
        JsonObject{{"resource", known == nullptr ? "" : known->accelerator_resource},
                   {"allocatable", known == nullptr ? 0 : allocatable_accelerators(node, *known)},
                   {"in_use", cache.pods().use_of(node.name).accelerators}};
    if (node.cordoned) row["cordoned"] = true;
    // Labels may be set by anybody.
    const auto shown = [&symbols](kube::Symbol text) { return domain::clean_text(symbols.text(text), 63); };
    if (node.deep_check != 0) row["deep_health_check"] = JsonObject{{"status", shown(node.deep_check)}};
    if (node.fault_types != 0) {
        row["faults"] =
            JsonArray{JsonObject{{"kind", shown(node.fault_types)}, {"code", shown(node.fault_reasons)}}};
    }
}

}  // namespace

JsonObject node_row(const std::string& name, const HyperpodNode* aws, const kube::Node* node,
                    const kube::ClusterCache* cache) {
    JsonObject row{{"name", name}, {"ready", false}};
    if (aws != nullptr) {
        row["instance_id"] = flows::instance_id_of(aws->name);
        row["group"] = *aws->group;
        row["instance_type"] = *aws->type;
        row["status"] = *aws->status;
        row["message"] = *aws->message;
        row["launched_at"] = *aws->launched_at;
        if (!aws->image_status->empty()) row["image_status"] = *aws->image_status;
    }
    if (node != nullptr && cache != nullptr) add_kubernetes(*node, *cache, row);
    return row;
}

JsonObject freshness_condition(const FleetNodes& nodes) {
    if (nodes.problem) return condition_of(*nodes.problem);
    if (nodes.complete) return {};
    return {{"type", "KubernetesSyncing"},
            {"reason", "FirstList"},
            {"message", "the first list of the cluster's nodes and pods is still coming in"},
            {"hint", "Ask again in some seconds."}};
}

}  // namespace instantstart::app
