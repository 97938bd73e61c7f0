// Parts of MLflow: a tracking server, found by its name, or an app, found by the name in its description and
// our tags, since an app's ARN does not hold it and SageMaker would make a second one of the same name.
#include "flows/features/mlflow.h"

#include "flows/features/kinds.h"

namespace instantstart::flows {

namespace {

std::string artifact_store(const StepCall& call) {
    return "s3://" + base::get_string(call.params, "bucket") + "/" + kMlflowPrefix;
}

JsonObject create_members(const StepCall& call, const Part& part) {
    return {{"ArtifactStoreUri", artifact_store(call)},
            {"RoleArn", part_role_arn(call, part.args)},
            {"Tags", domain::tag_list(owner_of(call, part.tag))}};
}

Task<bool> is_ours(Clusters& env, StepCall call, std::string arn) {
    JsonObject parameters{{"ResourceArn", arn}};
    CO_TRY(auto tags,
           co_await env.aws().collect(call.context, "sagemaker", "ListTags", std::move(parameters)));
    co_return domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
        domain::tag_of(tags, domain::kTagRegion) == base::get_string(call.params, "region");
}

PartState ours(const Part& part, std::string state, std::string detail) {
    auto made_state = of_state(std::move(state), std::move(detail));
    made_state.ours = true;
    made_state.maker = part.tag;
    return made_state;
}

// --- tracking servers

Task<JsonObject> describe_server(Clusters& env, StepCall call) {
    JsonObject parameters{{"TrackingServerName", mlflow_name(call)}};
    auto answer = co_await env.aws().call(call.context, "sagemaker", "DescribeMlflowTrackingServer",
                                          std::move(parameters), look(call));
    if (answer) co_return std::move(*answer);
    if (is_absent(answer.error())) co_return JsonObject{};
    co_return std::move(answer).error();
}

// Usable is what IsActive says, whatever way the status came about.
PartState judge_server(const Part& part, const JsonObject& server) {
    const auto status = base::get_string(server, "TrackingServerStatus");
    const auto says = "SageMaker says " + status;
    if (status == "CreateFailed" || status == "DeleteFailed") return ours(part, "failed", says);
    const bool on_its_way = status.ends_with("ing") || status == "MaintenanceInProgress";
    if (on_its_way) return ours(part, "starting", says);
    if (base::get_string(server, "IsActive") != "Active")
        return ours(part, "drifted", "it does not run: " + says);
    return ours(part, "ready", "");
}

Task<PartState> look_server(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto server, co_await describe_server(env, call));
    if (server.empty()) co_return of_state("absent");
    CO_TRY(const bool own, co_await is_ours(env, call, base::get_string(server, "TrackingServerArn")));
    if (!own) {
        co_return base::conflict_error(
            "not_ours", "an MLflow tracking server " + mlflow_name(call) + " exists without our tags")
            .with_hint("Delete that server, then ask again.");
    }
    co_return judge_server(part, server);
}

Task<JsonObject> create_server(Clusters& env, StepCall call, Part part) {
    auto parameters = create_members(call, part);
    parameters["TrackingServerName"] = mlflow_name(call);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "CreateMlflowTrackingServer", std::move(parameters)));
    co_return made(env, mlflow_name(call));
}

// One that failed is made anew from the ground up; one that was stopped is started.
Task<JsonObject> make_server(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto server, co_await describe_server(env, call));
    if (server.empty()) co_return co_await create_server(env, call, part);
    const auto status = base::get_string(server, "TrackingServerStatus");
    JsonObject parameters{{"TrackingServerName", mlflow_name(call)}};
    if (status == "CreateFailed" || status == "DeleteFailed") {
        CO_CHECK_OK(
            co_await mutate(env, call, "sagemaker", "DeleteMlflowTrackingServer", std::move(parameters)));
        co_return JsonObject{{"removed_in", call.attempt}};
    }
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "StartMlflowTrackingServer", std::move(parameters)));
    co_return JsonObject{};
}

Task<JsonObject> drop_server(Clusters& env, StepCall call, Part) {
    JsonObject parameters{{"TrackingServerName", mlflow_name(call)}};
    auto answer =
        co_await mutate(env, call, "sagemaker", "DeleteMlflowTrackingServer", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

// --- apps

// SageMaker's rows of the apps with our tags, or of those with one name alone.
Task<JsonArray> own_apps(Clusters& env, StepCall call, std::string name) {
    CO_TRY(auto rows, co_await env.aws().collect(call.context, "sagemaker", "ListMlflowApps", {}));
    JsonArray own;
    for (const auto& row : rows) {
        if (!name.empty() && base::get_string(row, "Name") != name) continue;
        if (base::get_string(row, "Status") == "Deleted") continue;
        auto tagged = co_await is_ours(env, call, base::get_string(row, "Arn"));
        if (!tagged && is_absent(tagged.error())) continue;
        CO_TRY(const bool known, std::move(tagged));
        if (known) own.push_back(row);
    }
    co_return own;
}

// SageMaker's description of the app that is ours; {} where there is none.
Task<JsonObject> find_app(Clusters& env, StepCall call) {
    CO_TRY(auto rows, co_await own_apps(env, call, mlflow_name(call)));
    for (const auto& row : rows) {
        JsonObject parameters{{"Arn", base::get_string(row, "Arn")}};
        auto answer =
            co_await env.aws().call(call.context, "sagemaker", "DescribeMlflowApp", std::move(parameters));
        if (!answer && is_absent(answer.error())) continue;
        CO_TRY(auto app, std::move(answer));
        if (base::get_string(app, "Status") != "Deleted") co_return app;
    }
    co_return JsonObject{};
}

Task<PartState> look_app(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto app, co_await find_app(env, call));
    if (app.empty()) co_return of_state("absent");
    const auto status = base::get_string(app, "Status");
    const auto says = "SageMaker says " + status;
    if (status == "CreateFailed" || status == "DeleteFailed") co_return ours(part, "failed", says);
    if (status.ends_with("ing")) co_return ours(part, "starting", says);
    co_return ours(part, "ready", "");
}

// One that is there and not well has failed: it is made anew from the ground up.
Task<JsonObject> make_app(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto app, co_await find_app(env, call));
    if (app.empty()) {
        auto parameters = create_members(call, part);
        parameters["Name"] = mlflow_name(call);
        CO_TRY(auto answer,
               co_await mutate(env, call, "sagemaker", "CreateMlflowApp", std::move(parameters)));
        co_return made(env, base::get_string(answer, "Arn"));
    }
    JsonObject parameters{{"Arn", base::get_string(app, "Arn")}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "DeleteMlflowApp", std::move(parameters)));
    co_return JsonObject{{"removed_in", call.attempt}};
}

Task<JsonObject> drop_app(Clusters& env, StepCall call, Part) {
    CO_TRY(auto app, co_await find_app(env, call));
    if (app.empty()) co_return JsonObject{};
    JsonObject parameters{{"Arn", base::get_string(app, "Arn")}};
    auto answer = co_await mutate(env, call, "sagemaker", "DeleteMlflowApp", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

PartKind server_row() {
    PartKind kind;
    kind.noun = "mlflow_tracking_server";
    kind.look = &look_server;
    kind.make = &make_server;
    kind.remove = &drop_server;
    kind.iam = true;
    kind.minutes = 20;
    return kind;
}

PartKind app_row() {
    PartKind kind;
    kind.noun = "mlflow_app";
    kind.look = &look_app;
    kind.make = &make_app;
    kind.remove = &drop_app;
    kind.iam = true;
    kind.looks_first = true;
    kind.minutes = 3;
    return kind;
}

}  // namespace

const PartKind& mlflow_server_kind() {
    static const auto kKind = server_row();
    return kKind;
}

const PartKind& mlflow_app_kind() {
    static const auto kKind = app_row();
    return kKind;
}

std::string mlflow_name(const StepCall& call) {
    return cluster_of(call) + "-mlflow";
}

Task<JsonObject> mlflow_found(Clusters& env, StepCall call) {
    CO_TRY(auto server, co_await describe_server(env, call));
    if (!server.empty()) {
        const auto arn = base::get_string(server, "TrackingServerArn");
        CO_TRY(const bool own, co_await is_ours(env, call, arn));
        if (own) {
            co_return JsonObject{{"kind", "tracking_server"},
                                 {"arn", arn},
                                 {"status", base::get_string(server, "TrackingServerStatus")},
                                 {"usable", base::get_string(server, "IsActive") == "Active"}};
        }
    }
    CO_TRY(auto app, co_await find_app(env, call));
    if (app.empty()) co_return JsonObject{};
    const auto status = base::get_string(app, "Status");
    co_return JsonObject{{"kind", "app"},
                         {"arn", base::get_string(app, "Arn")},
                         {"status", status},
                         {"usable", status == "Created" || status == "Updated"}};
}

Task<JsonArray> mlflow_made(Clusters& env, StepCall call) {
    JsonArray made_here;
    CO_TRY(auto server, co_await describe_server(env, call));
    const auto arn = base::get_string(server, "TrackingServerArn");
    auto tagged = arn.empty() ? base::Result<bool>(false) : co_await is_ours(env, call, arn);
    if (!tagged && is_absent(tagged.error())) tagged = false;
    CO_TRY(const bool own, std::move(tagged));
    if (own) {
        made_here.push_back(JsonObject{{"kind", "tracking_server"},
                                       {"name", mlflow_name(call)},
                                       {"arn", arn},
                                       {"status", base::get_string(server, "TrackingServerStatus")}});
    }
    CO_TRY(auto apps, co_await own_apps(env, call, ""));
    for (const auto& app : apps) {
        made_here.push_back(JsonObject{{"kind", "app"},
                                       {"name", base::get_string(app, "Name")},
                                       {"arn", base::get_string(app, "Arn")},
                                       {"status", base::get_string(app, "Status")}});
    }
    co_return made_here;
}

}  // namespace instantstart::flows
