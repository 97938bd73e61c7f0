// Parts of observability: the Prometheus workspace that metrics go to, ours or a given one, and the add-on
// whose configuration names it.
#include "flows/components.h"
#include "flows/features/kinds.h"
#include "flows/features/prometheus.h"

namespace instantstart::flows {

namespace {

std::string alias_of(const StepCall& call) {
    return "instantstart-" + cluster_of(call);
}

std::string given_workspace(const Part& part) {
    return base::get_string(part.args, "workspace_arn");
}

std::string id_of_arn(const std::string& arn) {
    return arn.substr(arn.rfind('/') + 1);
}

Task<JsonObject> describe_workspace(Clusters& env, StepCall call, std::string id) {
    JsonObject parameters{{"workspaceId", id}};
    auto answer =
        co_await env.aws().call(call.context, "amp", "DescribeWorkspace", std::move(parameters), look(call));
    if (answer) co_return base::get_object(*answer, "workspace");
    if (is_absent(answer.error())) co_return JsonObject{};
    co_return std::move(answer).error();
}

// AMP's rows of the workspaces with our tags; all of them where the alias is "". Aliases are not unique.
Task<JsonArray> own_workspaces(Clusters& env, StepCall call, std::string alias) {
    JsonObject parameters;
    if (!alias.empty()) parameters["alias"] = alias;
    CO_TRY(auto rows,
           co_await env.aws().collect(call.context, "amp", "ListWorkspaces", std::move(parameters)));
    JsonArray own;
    for (const auto& row : rows) {
        const auto& tags = base::get_object(row, "tags");
        const bool ours = domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
                          domain::tag_of(tags, domain::kTagRegion) == base::get_string(call.params, "region");
        if (ours) own.push_back(row);
    }
    co_return own;
}

// The workspace that metrics go to; {} where there is none.
Task<JsonObject> find_workspace(Clusters& env, StepCall call, std::string given) {
    if (!given.empty()) co_return co_await describe_workspace(env, call, id_of_arn(given));
    CO_TRY(auto rows, co_await own_workspaces(env, call, alias_of(call)));
    if (rows.empty()) co_return JsonObject{};
    co_return co_await describe_workspace(env, call, base::get_string(rows.front(), "workspaceId"));
}

Task<PartState> look_workspace(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto workspace, co_await find_workspace(env, call, given_workspace(part)));
    if (workspace.empty()) {
        if (given_workspace(part).empty()) co_return of_state("absent");
        co_return of_state("failed", "workspace " + given_workspace(part) + " does not exist in this region");
    }
    const auto status = base::get_string(workspace, "status.statusCode");
    PartState state(status == "ACTIVE" ? "ready" : status == "CREATION_FAILED" ? "failed" : "starting");
    if (state.state != "ready") state.detail = "the workspace is " + status;
    state.ours = given_workspace(part).empty();
    state.maker = state.ours ? part.tag : "";
    co_return state;
}

Task<JsonObject> make_workspace(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto workspace, co_await find_workspace(env, call, given_workspace(part)));
    if (!workspace.empty()) {  // it failed: another takes its place
        JsonObject parameters{{"workspaceId", base::get_string(workspace, "workspaceId")}};
        CO_CHECK_OK(co_await mutate(env, call, "amp", "DeleteWorkspace", std::move(parameters)));
        co_return JsonObject{{"removed_in", call.attempt}};
    }
    auto owner = owner_of(call, part.tag);
    owner.user["SageMaker"] = "true";  // AWS's policies for HyperPod ask for it
    JsonObject parameters{{"alias", alias_of(call)}, {"tags", domain::tag_map(owner)}};
    CO_TRY(auto answer, co_await mutate(env, call, "amp", "CreateWorkspace", std::move(parameters)));
    co_return made(env, base::get_string(answer, "workspaceId"));
}

Task<JsonObject> drop_workspace(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto workspace, co_await find_workspace(env, call, given_workspace(part)));
    if (workspace.empty()) co_return JsonObject{};
    JsonObject parameters{{"workspaceId", base::get_string(workspace, "workspaceId")}};
    auto answer = co_await mutate(env, call, "amp", "DeleteWorkspace", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

// --- the add-on

// Only now is it known where metrics go.
Task<Part> addon_part(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto workspace, co_await find_workspace(env, call, given_workspace(part)));
    auto endpoint = base::get_string(workspace, "prometheusEndpoint");
    while (endpoint.ends_with('/')) endpoint.pop_back();
    if (!endpoint.empty()) {
        part.args["configuration"] =
            JsonObject{{"ampWorkspace",
                        {{"prometheusEndpoint", endpoint}, {"arn", base::get_string(workspace, "arn")}}}};
    }
    co_return part;
}

Task<PartState> look_observer(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto whole, co_await addon_part(env, call, std::move(part)));
    co_return co_await addon_kind().look(env, call, whole);
}

Task<JsonObject> make_observer(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto whole, co_await addon_part(env, call, std::move(part)));
    co_return co_await addon_kind().make(env, call, whole);
}

PartKind workspace_row() {
    PartKind kind;
    kind.noun = "prometheus_workspace";
    kind.look = &look_workspace;
    kind.make = &make_workspace;
    kind.remove = &drop_workspace;
    kind.minutes = 0.5;
    return kind;
}

PartKind observer_row() {
    PartKind kind = addon_kind();
    kind.look = &look_observer;
    kind.make = &make_observer;
    return kind;
}

}  // namespace

Task<std::string> own_workspace(Clusters& env, StepCall call) {
    CO_TRY(auto workspace, co_await find_workspace(env, call, ""));
    co_return base::get_string(workspace, "arn");
}

Task<JsonArray> workspaces_made(Clusters& env, StepCall call) {
    CO_TRY(auto rows, co_await own_workspaces(env, call, ""));
    JsonArray made_here;
    for (const auto& row : rows) {
        made_here.push_back(JsonObject{{"id", base::get_string(row, "workspaceId")},
                                       {"arn", base::get_string(row, "arn")},
                                       {"status", base::get_string(row, "status.statusCode")}});
    }
    co_return made_here;
}

const PartKind& workspace_kind() {
    static const auto kKind = workspace_row();
    return kKind;
}

const PartKind& observer_kind() {
    static const auto kKind = observer_row();
    return kKind;
}

}  // namespace instantstart::flows
