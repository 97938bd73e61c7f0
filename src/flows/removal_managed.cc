// What features had AWS keep beside the cluster, where it would outlive HyperPod and EKS and go on to cost:
// MLflow's server and apps, and Prometheus workspaces. Found by tag; given ones carry none of ours and stay.
#include "base/text.h"
#include "flows/features/mlflow.h"
#include "flows/features/prometheus.h"
#include "flows/removal_steps.h"

namespace instantstart::flows {

namespace {

// In MLflow's words (Creating, MaintenanceInProgress) and in Prometheus' (CREATING). What is on its way can
// only be deleted once it rests.
bool is_on_its_way(const std::string& status) {
    return status.ends_with("ing") || status.ends_with("ING") || status == "MaintenanceInProgress";
}

Observation until_gone(const JsonArray& rows, const char* name) {
    std::vector<std::string> waits;
    for (const auto& row : rows) {
        const auto status = base::get_string(row, "status");
        if (!is_on_its_way(status)) return ops::absent();
        waits.push_back(base::get_string(row, name) + " is " + status);
    }
    if (waits.empty()) return ops::done({});
    return ops::in_progress(base::join(waits, ", "));
}

Task<void> delete_one(Clusters& env, StepCall call, std::string service, std::string operation,
                      JsonObject parameters) {
    auto answer = co_await mutate(env, call, service, operation, std::move(parameters));
    if (answer || is_absent(answer.error())) co_return base::ok();
    co_return std::move(answer).error();
}

Task<Observation> observe_mlflow(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto rows, co_await mlflow_made(env, call));
    co_return until_gone(rows, "name");
}

Task<JsonObject> act_mlflow(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto rows, co_await mlflow_made(env, call));
    for (const auto& row : rows) {
        if (is_on_its_way(base::get_string(row, "status"))) continue;
        const bool server = base::get_string(row, "kind") == "tracking_server";
        JsonObject parameters{
            {server ? "TrackingServerName" : "Arn", base::get_string(row, server ? "name" : "arn")}};
        CO_CHECK_OK(co_await delete_one(env, call, "sagemaker",
                                        server ? "DeleteMlflowTrackingServer" : "DeleteMlflowApp",
                                        std::move(parameters)));
    }
    co_return JsonObject{};
}

Task<Observation> observe_workspaces(Clusters& env, StepCall call, JsonObject) {
    const auto unseen = base::get_string(call.params, "prometheus_unseen");
    if (!unseen.empty()) co_return ops::skipped(unseen);
    CO_TRY(auto rows, co_await workspaces_made(env, call));
    co_return until_gone(rows, "id");
}

Task<JsonObject> act_workspaces(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto rows, co_await workspaces_made(env, call));
    for (const auto& row : rows) {
        if (is_on_its_way(base::get_string(row, "status"))) continue;
        JsonObject parameters{{"workspaceId", base::get_string(row, "id")}};
        CO_CHECK_OK(co_await delete_one(env, call, "amp", "DeleteWorkspace", std::move(parameters)));
    }
    co_return JsonObject{};
}

}  // namespace

void add_managed_gone(Steps& steps) {
    // A server may have to come up first: that alone takes half an hour.
    auto schedule = minutes_of(5, 15);
    schedule.limit = std::chrono::minutes(90);
    steps.add(Row("mlflow_removed", "Delete MLflow", {"shown"})
                  .does(&observe_mlflow, &act_mlflow)
                  .takes(schedule)
                  .as("delete"));
    // Collectors write into it until their nodes are gone.
    steps.add(Row("prometheus_removed", "Delete Prometheus workspaces", {"hyperpod_removed"})
                  .does(&observe_workspaces, &act_workspaces)
                  .takes(minutes_of(0.5, 10))
                  .as("delete"));
}

}  // namespace instantstart::flows
