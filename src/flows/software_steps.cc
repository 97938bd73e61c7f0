#include "flows/software_steps.h"

#include <algorithm>

#include "base/text.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::flows {

namespace {

std::vector<std::string> group_names(const StepCall& call) {
    std::vector<std::string> names;
    for (const auto& name : base::get_array(call.params, "groups_to_update")) {
        if (name.is_string()) names.emplace_back(name.get_string());
    }
    return names;
}

// When the software of a group's nodes was last updated, the latest of them; "" where never.
Task<std::string> last_update(Clusters& env, StepCall call, std::string group) {
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}, {"InstanceGroupNameContains", group}};
    CO_TRY(auto nodes,
           co_await env.aws().collect(call.context, "sagemaker", "ListClusterNodes", std::move(parameters)));
    std::string latest;
    for (const auto& node : nodes) {
        if (base::get_string(node, "InstanceGroupName") != group) continue;
        latest = std::max(latest, base::get_string(node, "LastSoftwareUpdateTime"));
    }
    co_return latest;
}

// What an update that begins is told by: the call has no token.
Task<Observation> observe_before(Clusters& env, StepCall call, JsonObject) {
    JsonObject times;
    for (const auto& group : group_names(call)) {
        CO_TRY(auto time, co_await last_update(env, call, group));
        times[group] = time;
    }
    co_return ops::done({{"times", std::move(times)}});
}

bool is_under_way(const std::string& status) {
    return status == "Pending" || status == "InProgress" || status == "RollbackInProgress";
}

Observation refused(const std::string& group, const std::string& status) {
    return ops::impossible(
        base::conflict_error(
            "software_update_failed",
            "SageMaker says " + status + " of the software update of instance group " + group)
            .with_hint(
                "event.list shows why; the nodes run what they ran before. Ask again once the cause is "
                "gone."));
}

Task<Observation> observe_update(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto cluster_status = base::get_string(cluster, "ClusterStatus");
    for (const auto& name : group_names(call)) {
        const auto* details = group_in(cluster, name);
        if (details == nullptr) continue;  // deleted meanwhile
        if (is_under_way(base::get_string(*details, "SoftwareUpdateStatus"))) co_return ops::done({});
        const auto before = base::get_string(call.result_of("before"), "times." + name);
        if (!call.acted) continue;
        CO_TRY(auto now, co_await last_update(env, call, name));
        if (now > before) co_return ops::done({});
    }
    if (base::get_bool(call.memory, "asked")) co_return ops::done({});
    if (cluster_status != "InService") co_return ops::in_progress("SageMaker says " + cluster_status);
    co_return ops::absent();
}

Task<JsonObject> act_update(Clusters& env, StepCall call, JsonObject) {
    auto request = software_request(call);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateClusterSoftware", std::move(request)));
    co_return JsonObject{{"asked", true}};
}

Task<Observation> observe_rolled(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    std::vector<std::string> waiting;
    const auto names = group_names(call);
    for (const auto& name : names) {
        const auto* details = group_in(cluster, name);
        if (details == nullptr) continue;
        const auto status = base::get_string(*details, "SoftwareUpdateStatus");
        if (status == "Failed" || status == "RollbackComplete") co_return refused(name, status);
        const auto own = base::get_string(*details, "Status");
        if (status != "Succeeded" || own == "SystemUpdating")
            waiting.push_back(name + ": " + (status.empty() ? own : status));
    }
    if (base::get_string(cluster, "ClusterStatus") == "SystemUpdating" && waiting.empty())
        waiting.emplace_back("the cluster: SystemUpdating");
    if (waiting.empty()) co_return ops::done({});
    const auto all = static_cast<double>(names.size());
    co_return ops::in_progress(base::join(waiting, ", "),
                               std::max(0.0, all - static_cast<double>(waiting.size())) / all);
}

}  // namespace

JsonObject software_request(const StepCall& call) {
    JsonArray groups;
    for (const auto& name : group_names(call)) groups.push_back(JsonObject{{"InstanceGroupName", name}});
    // Groups are always named: without a list AWS updates every group of the cluster.
    JsonObject request{{"ClusterName", hyperpod_name(call)}, {"InstanceGroups", std::move(groups)}};
    if (const auto percent = base::get_int(call.params, "max_batch_percent"); percent > 0) {
        request["DeploymentConfig"] = {
            {"RollingUpdatePolicy",
             {{"MaximumBatchSize", {{"Type", "CAPACITY_PERCENTAGE"}, {"Value", percent}}}}}};
    }
    const auto image = base::get_string(call.params, "image_id");
    if (!image.empty()) request["ImageId"] = image;
    return request;
}

void add_software_update(Steps& steps, const JsonObject& params) {
    steps.add(Row("before", "Note when the nodes were updated last", {"eks"})
                  .does(&observe_before, nullptr)
                  .as("check"));
    steps.add(Row("software", "Start the software update", {"before"})
                  .does(&observe_update, &act_update)
                  .looks_first()
                  .alone(hyperpod_lease(params))
                  .waits(kHyperpodWait)
                  .as("change"));
    auto schedule = minutes_of(20, 15);
    schedule.limit = std::chrono::hours(24 * 3);
    steps.add(Row("rolled_out", "See the software updated", {"software"})
                  .does(&observe_rolled, nullptr)
                  .takes(schedule)
                  .as("check"));
    for (const auto& group : base::get_array(params, "groups_to_update")) {
        if (group.is_string())
            add_nodes_step(steps, NodesPlan(std::string(group.get_string()), "rolled_out"));
    }
}

}  // namespace instantstart::flows
