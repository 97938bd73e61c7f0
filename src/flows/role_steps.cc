#include "flows/role_steps.h"

#include <set>

#include "base/text.h"
#include "ops/proof.h"

namespace instantstart::flows {

namespace {

std::string name_of(const StepCall& call, const JsonObject& args) {
    auto given = base::get_string(args, "role_name");
    if (!given.empty()) return given;
    return domain::role_name(cluster_of(call), base::get_string(call.params, "region"),
                             base::get_string(args, "purpose"));
}

}  // namespace

JsonObject role_request(const StepCall& call, const JsonObject& args) {
    const auto scope = scope_of(call);
    const auto service = base::get_string(args, "service");
    const auto issuer = base::get_string(call.result_of("eks"), "issuer");
    JsonObject parameters{
        {"RoleName", name_of(call, args)},
        {"Description", "InstantStart: " + base::get_string(args, "purpose") + " of " + cluster_of(call)},
        {"Tags", domain::tag_list(owner_of(call, base::get_string(args, "step")))}};
    const auto trust = base::get_string(args, "trust");
    parameters["AssumeRolePolicyDocument"] =
        !trust.empty()    ? trust
        : service.empty() ? domain::oidc_trust(scope, issuer, base::get_string(args, "service_account"))
                          : domain::service_trust(scope, service, false);
    const auto boundary = base::get_string(call.params, "permissions_boundary_arn");
    if (!boundary.empty()) parameters["PermissionsBoundary"] = boundary;
    return parameters;
}

Task<Observation> observe_role(Clusters& env, StepCall call, JsonObject args) {
    const auto name = name_of(call, args);
    JsonObject parameters{{"RoleName", name}};
    auto answer = co_await env.aws().call(call.context, "iam", "GetRole", std::move(parameters), look(call));
    if (!answer) {
        if (!is_absent(answer.error())) co_return std::move(answer).error();
        if (is_fresh(env, call)) co_return ops::in_progress("waiting until IAM shows the role");
        co_return ops::absent();
    }
    const auto& role = base::get_object(*answer, "Role");
    if (domain::tag_of(base::get_array(role, "Tags"), domain::kTagCluster) != cluster_of(call)) {
        co_return ops::impossible(
            base::conflict_error("not_ours", "role " + name + " exists without our tags")
                .with_hint("Delete or rename that role, then retry the operation."));
    }
    co_return ops::done({{"arn", base::get_string(role, "Arn")}, {"name", name}});
}

Task<JsonObject> act_role(Clusters& env, StepCall call, JsonObject args) {
    JsonObject parameters = role_request(call, args);
    CO_TRY(auto answer, co_await mutate(env, call, "iam", "CreateRole", std::move(parameters)));
    const auto arn = base::get_string(answer, "Role.Arn");
    if (arn.empty()) co_return made(env, arn);
    co_return ops::proven(made(env, arn), {{"arn", arn}, {"name", name_of(call, args)}});
}

namespace {

std::string inline_document(const StepCall& call, const JsonObject& args) {
    auto given = base::get_string(args, "inline_document");
    if (!given.empty()) return given;
    if (base::get_string(args, "inline_kind") == "execution")
        return domain::execution_role_policy(scope_of(call));
    const auto bucket = resolve(args.at("bucket"), call);
    return domain::bucket_access_policy(scope_of(call),
                                        bucket.is_string() ? std::string(bucket.as_string()) : "");
}

}  // namespace

bool same_document(std::string seen, const std::string& wanted) {
    if (seen.starts_with("%")) seen = base::percent_decode(seen);
    auto left = base::parse_json(seen);
    auto right = base::parse_json(wanted);
    return left && right && *left == *right;
}

namespace {

struct PolicyGap {
    PolicyGap() = default;
    std::vector<std::string> attach;  // ARNs
    bool write_inline = false;
};

Task<PolicyGap> find_gap(Clusters& env, StepCall call, JsonObject args) {
    const auto name = name_of(call, args);
    PolicyGap gap;
    JsonObject parameters{{"RoleName", name}};
    CO_TRY(auto attached, co_await env.aws().collect(call.context, "iam", "ListAttachedRolePolicies",
                                                     std::move(parameters)));
    std::set<std::string> present;
    for (const auto& policy : attached) present.insert(base::get_string(policy, "PolicyArn"));
    for (const auto& policy : base::get_array(args, "managed")) {
        const auto arn = domain::managed_policy_arn(scope_of(call), std::string(policy.as_string()));
        if (!present.contains(arn)) gap.attach.push_back(arn);
    }
    const auto inline_name = base::get_string(args, "inline_name");
    if (inline_name.empty()) co_return gap;
    JsonObject which{{"RoleName", name}, {"PolicyName", inline_name}};
    auto policy = co_await env.aws().call(call.context, "iam", "GetRolePolicy", std::move(which));
    if (!policy && !is_absent(policy.error())) co_return std::move(policy).error();
    gap.write_inline =
        !policy || !same_document(base::get_string(*policy, "PolicyDocument"), inline_document(call, args));
    co_return gap;
}

}  // namespace

Task<Observation> observe_policies(Clusters& env, StepCall call, JsonObject args) {
    auto gap = co_await find_gap(env, call, args);
    if (!gap) {
        // A role made moments ago may not be listed everywhere yet.
        if (is_absent(gap.error())) co_return ops::in_progress("waiting until IAM shows the role");
        co_return std::move(gap).error();
    }
    if (gap->attach.empty() && !gap->write_inline) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_policies(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto gap, co_await find_gap(env, call, args));
    const auto name = name_of(call, args);
    for (const auto& arn : gap.attach) {
        JsonObject parameters{{"RoleName", name}, {"PolicyArn", arn}};
        CO_CHECK_OK(co_await mutate(env, call, "iam", "AttachRolePolicy", std::move(parameters)));
    }
    if (gap.write_inline) {
        JsonObject parameters{{"RoleName", name},
                              {"PolicyName", base::get_string(args, "inline_name")},
                              {"PolicyDocument", inline_document(call, args)}};
        CO_CHECK_OK(co_await mutate(env, call, "iam", "PutRolePolicy", std::move(parameters)));
    }
    co_return ops::proven({}, {});
}

void add_role(Steps& steps, RolePlan plan) {
    JsonArray managed;
    for (const auto& policy : plan.managed) managed.emplace_back(policy);
    JsonObject args{{"purpose", plan.purpose},
                    {"service", plan.service},
                    {"managed", std::move(managed)},
                    {"service_account", plan.service_account},
                    {"inline_kind", plan.inline_kind},
                    {"inline_name", plan.inline_name},
                    {"bucket", plan.bucket}};
    steps.add(
        Row(plan.id, "Create role: " + plan.title, plan.needs).does(&observe_role, &act_role).with(args));
    steps.add(Row(plan.id + "_policies", "Attach policies: " + plan.title, {plan.id})
                  .does(&observe_policies, &act_policies)
                  .with(args));
}

}  // namespace instantstart::flows
