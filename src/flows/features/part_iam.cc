// Parts in IAM: roles and the OIDC provider.
#include "flows/eks_steps.h"
#include "flows/features/kinds.h"
#include "flows/removal_steps.h"
#include "flows/role_steps.h"
#include "ops/proof.h"

namespace instantstart::flows {

namespace {

bool is_ours(const JsonArray& tags, const StepCall& call) {
    return domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
           domain::tag_of(tags, domain::kTagRegion) == base::get_string(call.params, "region");
}

std::string trust_of(const StepCall& call, const JsonObject& args) {
    const auto scope = scope_of(call);
    const auto* trust = args.if_contains("trust");
    CHECK(trust != nullptr);
    if (const auto* text = trust->if_string()) {
        if (*text == "pods") return domain::pod_identity_trust(scope);
        return domain::service_trust(scope, std::string(*text), true);
    }
    const auto account = base::get_string(*trust, "service_account");
    const auto service = base::get_string(*trust, "service");
    const auto issuer = base::get_string(call.result_of("eks"), "issuer");
    auto web = domain::oidc_trust(scope, issuer, account);
    if (service.empty()) return web;
    return domain::joined_documents(web, domain::service_trust(scope, service, true));
}

// What the bodies of role_steps.h take.
JsonObject role_args(const StepCall& call, const Part& part) {
    JsonObject args{{"role_name", part_role_name(call, part.args)},
                    {"purpose", part.tag},
                    {"trust", trust_of(call, part.args)},
                    {"step", part.tag},
                    {"managed", base::get_array(part.args, "managed")}};
    if (part.document != nullptr) {
        args["inline_name"] = "permissions";
        args["inline_document"] = part.document(call);
    }
    return args;
}

Task<JsonObject> get_role(Clusters& env, StepCall call, std::string name) {
    JsonObject parameters{{"RoleName", name}};
    auto answer = co_await env.aws().call(call.context, "iam", "GetRole", std::move(parameters), look(call));
    if (answer) co_return base::get_object(*answer, "Role");
    if (is_absent(answer.error())) co_return JsonObject{};
    co_return std::move(answer).error();
}

Task<PartState> look_role(Clusters& env, StepCall call, Part part) {
    const auto args = role_args(call, part);
    const auto name = base::get_string(args, "role_name");
    CO_TRY(auto role, co_await get_role(env, call, name));
    if (role.empty()) co_return of_state("absent");
    PartState state("ready");
    state.ours = is_ours(base::get_array(role, "Tags"), call);
    state.maker = state.ours ? part.tag : "";
    if (!state.ours) {
        co_return base::conflict_error("not_ours", "role " + name + " exists without our tags")
            .with_hint("Delete or rename that role, then ask again.");
    }
    if (!same_document(base::get_string(role, "AssumeRolePolicyDocument"), base::get_string(args, "trust"))) {
        state.state = "drifted";
        state.detail = "role " + name + " trusts somebody else";
        co_return state;
    }
    CO_TRY(auto policies, co_await observe_policies(env, call, args));
    if (policies.presence != Presence::done) {
        state.state = "drifted";
        state.detail = "role " + name + " lacks permissions";
    }
    co_return state;
}

Task<JsonObject> make_role(Clusters& env, StepCall call, Part part) {
    const auto args = role_args(call, part);
    const auto name = base::get_string(args, "role_name");
    CO_TRY(auto role, co_await get_role(env, call, name));
    if (role.empty()) {
        CO_TRY(auto memory, co_await act_role(env, call, args));
        memory.erase(ops::kProof);  // its policies come next
        co_return memory;
    }
    const auto trust = base::get_string(args, "trust");
    if (!same_document(base::get_string(role, "AssumeRolePolicyDocument"), trust)) {
        JsonObject parameters{{"RoleName", name}, {"PolicyDocument", trust}};
        CO_CHECK_OK(co_await mutate(env, call, "iam", "UpdateAssumeRolePolicy", std::move(parameters)));
    }
    CO_CHECK_OK(co_await act_policies(env, call, args));
    co_return JsonObject{};
}

Task<JsonObject> drop_role(Clusters& env, StepCall call, Part part) {
    CO_CHECK_OK(co_await remove_role(env, call, part_role_name(call, part.args)));
    co_return JsonObject{};
}

// --- OIDC provider

Task<PartState> look_oidc(Clusters& env, StepCall call, Part) {
    JsonObject parameters{{"OpenIDConnectProviderArn", provider_arn(call)}};
    auto answer = co_await env.aws().call(call.context, "iam", "GetOpenIDConnectProvider",
                                          std::move(parameters), look(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return of_state("absent");
        co_return std::move(answer).error();
    }
    PartState state("ready");
    const auto& tags = base::get_array(*answer, "Tags");
    state.ours = is_ours(tags, call);
    if (state.ours) state.maker = domain::tag_of(tags, domain::kTagStep);
    co_return state;
}

Task<JsonObject> make_oidc(Clusters& env, StepCall call, Part part) {
    JsonObject parameters{{"Url", "https://" + base::get_string(call.result_of("eks"), "issuer")},
                          {"ClientIDList", JsonArray{"sts.amazonaws.com"}},
                          {"Tags", domain::tag_list(owner_of(call, part.tag))}};
    CO_CHECK_OK(co_await mutate(env, call, "iam", "CreateOpenIDConnectProvider", std::move(parameters)));
    co_return made(env, provider_arn(call));
}

Task<JsonObject> drop_oidc(Clusters& env, StepCall call, Part) {
    JsonObject parameters{{"OpenIDConnectProviderArn", provider_arn(call)}};
    auto answer = co_await mutate(env, call, "iam", "DeleteOpenIDConnectProvider", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

std::string role_title(const StepCall& call, const Part& part) {
    return "role " + part_role_name(call, part.args);
}

PartKind role_row() {
    PartKind kind;
    kind.noun = "role";
    kind.name = &role_title;
    kind.look = &look_role;
    kind.make = &make_role;
    kind.remove = &drop_role;
    kind.iam = true;
    return kind;
}

PartKind oidc_row() {
    PartKind kind;
    kind.noun = "oidc_provider";
    kind.look = &look_oidc;
    kind.make = &make_oidc;
    kind.remove = &drop_oidc;
    return kind;
}

}  // namespace

const PartKind& role_kind() {
    static const auto kKind = role_row();
    return kKind;
}

const PartKind& oidc_kind() {
    static const auto kKind = oidc_row();
    return kKind;
}

std::string part_role_name(const StepCall& call, const JsonObject& args) {
    const auto given = base::get_string(args, "role_name");
    const auto region = base::get_string(call.params, "region");
    // AWS demands how some roles' names begin.
    if (!given.empty()) return domain::shorten(given + "-" + cluster_of(call) + "-" + region, 64);
    return domain::role_name(cluster_of(call), region, base::get_string(args, "purpose"));
}

std::string part_role_arn(const StepCall& call, const JsonObject& args) {
    const auto scope = scope_of(call);
    return "arn:" + scope.partition + ":iam::" + scope.account + ":role/" + part_role_name(call, args);
}

Part role_part(std::string id, const std::string& purpose, JsonObject trust_and_managed) {
    trust_and_managed["purpose"] = purpose;
    return {std::move(id), role_kind(), "", std::move(trust_and_managed)};
}

Part oidc_part() {
    Part part("oidc_provider", oidc_kind(), "the cluster's OIDC provider in IAM", {});
    part.shared = "oidc_provider";
    return part;
}

}  // namespace instantstart::flows
