// Parts that EKS keeps: Pod Identity associations and add-ons, the feature's own and the components that
// several features share.
#include "flows/components.h"
#include "flows/eks_steps.h"
#include "flows/features/kinds.h"

namespace instantstart::flows {

namespace {

void put_maker(const JsonObject& tags, const StepCall& call, PartState& state) {
    state.ours = domain::tag_of(tags, domain::kTagCluster) == cluster_of(call);
    state.maker = state.ours ? domain::tag_of(tags, domain::kTagStep) : "";
}

// --- associations

// EKS's description of the service account's association; {} where there is none.
Task<JsonObject> find_association(Clusters& env, StepCall call, Part part) {
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"namespace", base::get_string(part.args, "namespace")},
                          {"serviceAccount", base::get_string(part.args, "service_account")}};
    auto list = co_await env.aws().call(call.context, "eks", "ListPodIdentityAssociations",
                                        std::move(parameters), look(call));
    if (!list) co_return std::move(list).error();
    const auto& rows = base::get_array(*list, "associations");
    if (rows.empty()) co_return JsonObject{};
    JsonObject which{{"clusterName", eks_of(call)},
                     {"associationId", base::get_string(rows.front(), "associationId")}};
    auto answer =
        co_await env.aws().call(call.context, "eks", "DescribePodIdentityAssociation", std::move(which));
    if (answer) co_return base::get_object(*answer, "association");
    if (is_absent(answer.error())) co_return JsonObject{};
    co_return std::move(answer).error();
}

Task<PartState> look_association(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto association, co_await find_association(env, call, part));
    if (association.empty()) co_return of_state("absent");
    PartState state("ready");
    put_maker(base::get_object(association, "tags"), call, state);
    const auto role = base::get_string(association, "roleArn");
    if (role == part_role_arn(call, part.args)) co_return state;
    // Somebody's own choice of role is used as it is.
    state.state = state.ours ? "drifted" : "ready";
    state.detail = "the service account has role " + domain::clean_text(role, 200);
    co_return state;
}

Task<JsonObject> make_association(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto association, co_await find_association(env, call, part));
    const auto role = part_role_arn(call, part.args);
    if (!association.empty()) {
        JsonObject parameters{{"clusterName", eks_of(call)},
                              {"associationId", base::get_string(association, "associationId")},
                              {"roleArn", role},
                              {"clientRequestToken", call.client_token}};
        CO_CHECK_OK(co_await mutate(env, call, "eks", "UpdatePodIdentityAssociation", std::move(parameters)));
        co_return JsonObject{};
    }
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"namespace", base::get_string(part.args, "namespace")},
                          {"serviceAccount", base::get_string(part.args, "service_account")},
                          {"roleArn", role},
                          {"tags", domain::tag_map(owner_of(call, part.tag))},
                          {"clientRequestToken", call.client_token}};
    CO_CHECK_OK(co_await mutate(env, call, "eks", "CreatePodIdentityAssociation", std::move(parameters)));
    co_return made(env, part.id);
}

Task<JsonObject> drop_association(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto association, co_await find_association(env, call, part));
    if (association.empty()) co_return JsonObject{};
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"associationId", base::get_string(association, "associationId")}};
    auto answer = co_await mutate(env, call, "eks", "DeletePodIdentityAssociation", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

// --- add-ons

// What the bodies of eks_steps.h take.
JsonObject addon_args(const StepCall& call, const Part& part) {
    const auto component = base::get_string(part.args, "component");
    if (!component.empty()) {
        const auto* row = find_component(component);
        CHECK(row != nullptr && !row->addon.empty());
        return {{"id", part.tag},
                {"name", row->addon},
                {"role_arn", ""},
                {"configuration", row->configuration},
                {"needs_nodes", row->needs_nodes}};
    }
    const auto& role = base::get_object(part.args, "role");
    const auto configuration = part.configuration == nullptr ? base::get_object(part.args, "configuration")
                                                             : part.configuration(call);
    return {{"id", part.tag},
            {"name", base::get_string(part.args, "name")},
            {"role_arn", role.empty() ? "" : part_role_arn(call, role)},
            {"configuration", configuration.empty() ? "" : base::to_text(configuration)},
            {"exact", !configuration.empty()},
            {"needs_nodes", true}};
}

Task<PartState> look_addon(Clusters& env, StepCall call, Part part) {
    auto args = addon_args(call, part);
    CO_TRY(auto addon, co_await describe_addon(env, call, base::get_string(args, "name")));
    if (addon.empty()) co_return of_state("absent");
    PartState state;
    put_maker(base::get_object(addon, "tags"), call, state);
    // What others installed has their settings.
    if (!state.ours) {
        args["exact"] = false;
        args["role_arn"] = "";
    }
    const auto status = base::get_string(addon, "status");
    call.memory = {};
    CO_TRY(auto seen, co_await judge_addon(env, call, args, addon));
    state.detail = seen.presence == Presence::impossible ? seen.error.message : seen.detail;
    switch (seen.presence) {
        case Presence::done: state.state = base::get_string(seen.result, "state"); break;
        case Presence::in_progress: state.state = "starting"; break;
        case Presence::impossible: state.state = "failed"; break;
        case Presence::absent: state.state = status == "CREATE_FAILED" ? "failed" : "drifted"; break;
    }
    if (state.state == "failed" && state.detail.empty()) {
        const auto issues = issue_text(addon);
        state.detail = "EKS says " + status + (issues.empty() ? "" : " (" + issues + ")");
    }
    if (state.state == "drifted") state.detail = "its role or configuration differs";
    co_return state;
}

Task<JsonObject> make_addon(Clusters& env, StepCall call, Part part) {
    co_return co_await act_addon(env, call, addon_args(call, part));
}

Task<JsonObject> drop_addon(Clusters& env, StepCall call, Part part) {
    const auto args = addon_args(call, part);
    JsonObject parameters{{"clusterName", eks_of(call)}, {"addonName", base::get_string(args, "name")}};
    auto answer = co_await mutate(env, call, "eks", "DeleteAddon", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

PartKind association_row() {
    PartKind kind;
    kind.noun = "pod_identity_association";
    kind.look = &look_association;
    kind.make = &make_association;
    kind.remove = &drop_association;
    kind.iam = true;
    return kind;
}

PartKind addon_row() {
    PartKind kind;
    kind.noun = "eks_addon";
    kind.look = &look_addon;
    kind.make = &make_addon;
    kind.remove = &drop_addon;
    kind.iam = true;
    kind.minutes = 1.5;
    return kind;
}

}  // namespace

const PartKind& association_kind() {
    static const auto kKind = association_row();
    return kKind;
}

const PartKind& addon_kind() {
    static const auto kKind = addon_row();
    return kKind;
}

const PartKind& component_kind() {
    return addon_kind();
}

Part component_part(std::string component) {
    const auto* row = find_component(component);
    CHECK(row != nullptr);
    Part part(component, component_kind(), "EKS add-on " + row->addon, {{"component", component}});
    part.shared = "component/" + component;
    return part;
}

}  // namespace instantstart::flows
