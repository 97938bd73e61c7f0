#include <algorithm>

#include "base/text.h"
#include "flows/eks_steps.h"

namespace instantstart::flows {

namespace {

// "v1.18.3-eksbuild.10" → numbers, so that 10 is above 9.
std::vector<std::int64_t> version_numbers(const std::string& text) {
    std::vector<std::int64_t> numbers;
    std::int64_t value = -1;
    for (const char letter : text + ".") {
        if (letter >= '0' && letter <= '9') {
            value = std::max<std::int64_t>(value, 0) * 10 + (letter - '0');
        } else if (value >= 0) {
            numbers.push_back(value);
            value = -1;
        }
    }
    return numbers;
}

}  // namespace

Task<std::string> recommended_addon_version(Clusters& env, Context context, std::string addon,
                                            std::string kubernetes_version) {
    JsonObject parameters{{"addonName", addon}, {"kubernetesVersion", kubernetes_version}};
    CO_TRY(auto addons,
           co_await env.aws().collect(context, "eks", "DescribeAddonVersions", std::move(parameters)));
    std::string highest;
    for (const auto& row : addons) {
        for (const auto& version : base::get_array(row, "addonVersions")) {
            const auto name = base::get_string(version, "addonVersion");
            for (const auto& fit : base::get_array(version, "compatibilities")) {
                const bool same =
                    base::get_string(fit, "clusterVersion", kubernetes_version) == kubernetes_version;
                if (same && base::get_bool(fit, "defaultVersion")) co_return name;
            }
            if (highest.empty() || version_numbers(highest) < version_numbers(name)) highest = name;
        }
    }
    if (highest.empty()) {
        co_return base::Error(base::ErrorKind::not_found, "addon_not_offered",
                              "EKS add-on " + addon + " is not offered for Kubernetes " + kubernetes_version +
                                  " in this region");
    }
    co_return highest;
}

Task<bool> has_nodes(Clusters& env, StepCall call) {
    auto client = co_await env.kube(call.context, eks_of(call));
    if (!client) co_return false;
    kube::ListOptions options;
    options.page_size = 500;
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    auto list = co_await (*client)->list(call.context, *nodes, options);
    if (!list) co_return false;
    for (const auto& node : base::get_array(*list, "items")) {
        for (const auto& condition : base::get_array(node, "status.conditions")) {
            if (base::get_string(condition, "type") == "Ready" &&
                base::get_string(condition, "status") == "True")
                co_return true;
        }
    }
    co_return false;
}

std::string issue_text(const JsonObject& addon) {
    std::vector<std::string> parts;
    for (const auto& issue : base::get_array(addon, "health.issues")) {
        parts.push_back(base::get_string(issue, "code") + ": " + base::get_string(issue, "message"));
    }
    return domain::clean_text(base::join(parts, "; "), 300);
}

bool is_remade(const StepCall& call) {
    return base::get_int(call.memory, "removed_in") == call.attempt;
}

Task<JsonObject> describe_addon(Clusters& env, StepCall call, std::string name) {
    JsonObject parameters{{"clusterName", eks_of(call)}, {"addonName", name}};
    auto answer =
        co_await env.aws().call(call.context, "eks", "DescribeAddon", std::move(parameters), look(call));
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonObject{};
        co_return std::move(answer).error();
    }
    co_return base::get_object(*answer, "addon");
}

namespace {

// Where args has "exact": the configuration is ours alone and must be as it was given.
bool configuration_differs(const JsonObject& addon, const JsonObject& args) {
    if (!base::get_bool(args, "exact")) return false;
    const auto seen = base::parse_json(base::get_string(addon, "configurationValues", "{}"));
    const auto wanted = base::parse_json(base::get_string(args, "configuration", "{}"));
    return !seen || !wanted || *seen != *wanted;
}

JsonObject state_of(const JsonObject& addon, std::string_view state) {
    return {{"state", state}, {"version", base::get_string(addon, "addonVersion")}};
}

}  // namespace

Task<Observation> observe_addon(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto addon, co_await describe_addon(env, call, base::get_string(args, "name")));
    co_return co_await judge_addon(env, std::move(call), std::move(args), std::move(addon));
}

Task<Observation> judge_addon(Clusters& env, StepCall call, JsonObject args, JsonObject addon) {
    const auto name = base::get_string(args, "name");
    if (addon.empty()) {
        if (is_fresh(env, call)) co_return ops::in_progress("waiting until EKS shows the add-on");
        co_return ops::absent();
    }
    const auto status = base::get_string(addon, "status");
    if (status == "ACTIVE") {
        const auto role = resolve(args.at("role_arn"), call);
        const auto wanted = role.is_string() ? std::string(role.as_string()) : "";
        if (!wanted.empty() && base::get_string(addon, "serviceAccountRoleArn") != wanted)
            co_return ops::absent();
        if (configuration_differs(addon, args)) co_return ops::absent();
        co_return ops::done(state_of(addon, "ready"));
    }
    if (status == "DELETING") co_return ops::in_progress(name + " is DELETING");
    const bool without_nodes = base::get_bool(args, "needs_nodes");
    if (without_nodes && status != "UPDATING") {
        CO_TRY(const bool nodes, co_await has_nodes(env, call));
        if (!nodes) co_return ops::done(state_of(addon, "waiting_for_nodes"));
    }
    if (status == "CREATE_FAILED") {
        if (is_remade(call)) {
            co_return ops::impossible(
                base::conflict_error("addon_failed", "add-on " + name + " failed: " + issue_text(addon)));
        }
        co_return ops::absent();
    }
    if (status == "UPDATE_FAILED" || status == "DELETE_FAILED") {
        co_return ops::impossible(base::conflict_error(
            "addon_failed", "add-on " + name + " is " + status + ": " + issue_text(addon)));
    }
    auto issues = issue_text(addon);
    co_return ops::in_progress(name + " is " + status + (issues.empty() ? "" : " (" + issues + ")"));
}

namespace {

Task<JsonObject> create_addon(Clusters& env, StepCall call, JsonObject args) {
    const auto name = base::get_string(args, "name");
    const auto kubernetes = base::get_string(call.result_of("eks"), "version");
    CO_TRY(auto version, co_await recommended_addon_version(env, call.context, name, kubernetes));
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"addonName", name},
                          {"addonVersion", version},
                          {"resolveConflicts", "OVERWRITE"},
                          {"tags", domain::tag_map(owner_of(call, base::get_string(args, "id")))},
                          {"clientRequestToken", call.client_token}};
    const auto role = resolve(args.at("role_arn"), call);
    if (role.is_string() && !role.as_string().empty()) parameters["serviceAccountRoleArn"] = role;
    const auto configuration = base::get_string(args, "configuration");
    if (!configuration.empty()) parameters["configurationValues"] = configuration;
    CO_CHECK_OK(co_await mutate(env, call, "eks", "CreateAddon", std::move(parameters)));
    co_return made(env, name);
}

}  // namespace

Task<JsonObject> act_addon(Clusters& env, StepCall call, JsonObject args) {
    const auto name = base::get_string(args, "name");
    CO_TRY(auto addon, co_await describe_addon(env, call, name));
    if (addon.empty()) {
        auto memory = co_await create_addon(env, call, args);
        if (memory && is_remade(call)) (*memory)["removed_in"] = call.attempt;
        co_return memory;
    }
    if (base::get_string(addon, "status") == "CREATE_FAILED") {
        JsonObject parameters{{"clusterName", eks_of(call)}, {"addonName", name}};
        CO_CHECK_OK(co_await mutate(env, call, "eks", "DeleteAddon", std::move(parameters)));
        co_return JsonObject{{"removed_in", call.attempt}};
    }
    JsonObject parameters{{"clusterName", eks_of(call)},
                          {"addonName", name},
                          {"resolveConflicts", "PRESERVE"},
                          {"clientRequestToken", call.client_token}};
    const auto role = resolve(args.at("role_arn"), call);
    if (role.is_string() && !role.as_string().empty()) parameters["serviceAccountRoleArn"] = role;
    if (configuration_differs(addon, args))
        parameters["configurationValues"] = base::get_string(args, "configuration", "{}");
    CO_CHECK_OK(co_await mutate(env, call, "eks", "UpdateAddon", std::move(parameters)));
    co_return JsonObject{};
}

namespace {

// With nodes an add-on that is DEGRADED often heals; it gets a while, and what is left is said, not failed.
Task<Observation> observe_settled(Clusters& env, StepCall call, JsonObject args) {
    const auto name = base::get_string(args, "name");
    CO_TRY(auto addon, co_await describe_addon(env, call, name));
    const auto status = base::get_string(addon, "status");
    if (addon.empty()) co_return ops::skipped(name + " is not installed");
    if (status == "ACTIVE") co_return ops::done(state_of(addon, "ready"));
    if (status == "CREATE_FAILED") co_return ops::done(state_of(addon, "failed"));
    co_return ops::in_progress(name + " is " + status);
}

}  // namespace

void add_addon(Steps& steps, AddonPlan plan) {
    auto schedule = minutes_of(plan.needs_nodes ? 0.3 : 0.7, 5);
    schedule.limit = std::chrono::minutes(30);
    steps.add(Row(plan.id, "Install add-on " + plan.name, plan.needs)
                  .does(&observe_addon, &act_addon)
                  .with({{"id", plan.id},
                         {"name", plan.name},
                         {"role_arn", plan.role_arn},
                         {"configuration", plan.configuration},
                         {"needs_nodes", plan.needs_nodes}})
                  .takes(schedule)
                  .iam());
}

void add_addon_settled(Steps& steps, const AddonPlan& plan, std::vector<std::string> needs) {
    auto schedule = minutes_of(0.5, 5);
    schedule.limit = std::chrono::minutes(20);
    steps.add(Row(plan.id + "_settled", "See add-on " + plan.name + " run", std::move(needs))
                  .does(&observe_settled, nullptr)
                  .with({{"name", plan.name}})
                  .takes(schedule)
                  .as("check"));
}

}  // namespace instantstart::flows
