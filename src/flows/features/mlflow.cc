// Managed MLflow: an app, or a tracking server, which takes half an hour and runs all the time. Both keep
// artifacts in the cluster's bucket. The other kind is another thing: runs do not move from one to the other.
#include "flows/features/mlflow.h"

#include "flows/features/kinds.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

std::string permissions(const StepCall& call) {
    return domain::mlflow_policy(scope_of(call), base::get_string(call.params, "bucket"), kMlflowPrefix);
}

std::vector<Part> parts(const JsonObject& settings) {
    const bool server = base::get_string(settings, "kind") == "tracking_server";
    const JsonObject args{{"purpose", "mlflow"}};
    return {role_part("role", "mlflow", {{"trust", "sagemaker.amazonaws.com"}}).grants(&permissions),
            Part(server ? "tracking_server" : "app", server ? mlflow_server_kind() : mlflow_app_kind(),
                 std::string(server ? "MLflow tracking server" : "MLflow app") + " of the cluster", args)
                .anchors()};
}

Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    std::vector<std::string> found;
    CO_TRY(auto there, co_await mlflow_found(env, call));
    const auto kind = base::get_string(call.params, "desired.mlflow.kind");
    const auto other = base::get_string(there, "kind");
    if (!there.empty() && other != kind) {
        found.push_back("it is on as " + other + ", and runs do not move: switch it off, then on with kind " +
                        kind);
    }
    co_return found;
}

}  // namespace

Feature mlflow() {
    Feature feature;
    feature.id = "mlflow";
    feature.title = "Managed MLflow";
    feature.summary =
        "Keeps runs, metrics and models of training in MLflow, with artifacts in the cluster's bucket.";
    feature.defaults = {{"kind", "app"}};
    feature.needs_hyperpod = true;
    feature.loss = "all of MLflow's experiments, runs and registered models (artifacts in the bucket stay)";
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    return feature;
}

}  // namespace instantstart::flows
