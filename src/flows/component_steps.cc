#include <algorithm>

#include "base/text.h"
#include "flows/components.h"

namespace instantstart::flows {

namespace {

constexpr std::size_t kMaxPage = std::size_t{4} << 20U;  // bytes; a node has some thousands

using Client = std::shared_ptr<kube::Client>;

}  // namespace

Task<JsonObject> live_object(Client client, Context context, JsonObject wanted) {
    auto resource = co_await client->resolve(context, base::get_string(wanted, "apiVersion"),
                                             base::get_string(wanted, "kind"));
    if (!resource) {
        if (resource.error().kind == base::ErrorKind::not_found) co_return JsonObject{};
        co_return std::move(resource).error();
    }
    auto live = co_await client->get(context, *resource, base::get_string(wanted, "metadata.namespace"),
                                     base::get_string(wanted, "metadata.name"));
    if (!live) {
        if (live.error().kind == base::ErrorKind::not_found) co_return JsonObject{};
        co_return std::move(live).error();
    }
    co_return std::move(*live);
}

namespace {

// An object that a Helm release owns is left to it.
bool is_helm(const JsonObject& live) {
    const auto* annotations = base::find_path(live, "metadata.annotations");
    return annotations != nullptr && annotations->is_object() &&
           annotations->as_object().contains("meta.helm.sh/release-name");
}

std::string daemonset_state(const JsonObject& live) {
    const auto desired = base::get_int(live, "status.desiredNumberScheduled");
    if (desired == 0) return "waiting_for_nodes";
    const bool current =
        base::get_int(live, "status.observedGeneration") >= base::get_int(live, "metadata.generation");
    return current && base::get_int(live, "status.numberReady") >= desired ? "ready" : "starting";
}

bool has_condition(const JsonObject& live, std::string_view type) {
    for (const auto& condition : base::get_array(live, "status.conditions")) {
        if (base::get_string(condition, "type") == type)
            return base::get_string(condition, "status") == "True";
    }
    return false;
}

// What of an object that is as we want it still has to come.
std::string readiness(const JsonObject& live) {
    const auto kind = base::get_string(live, "kind");
    if (kind == "CustomResourceDefinition") return has_condition(live, "Established") ? "ready" : "starting";
    if (kind != "Deployment") return "ready";
    const bool current =
        base::get_int(live, "status.observedGeneration") >= base::get_int(live, "metadata.generation");
    const auto wanted = base::get_int(live, "spec.replicas", 1);
    return current && base::get_int(live, "status.availableReplicas") >= wanted ? "ready" : "starting";
}

// The least ready of the states that a component's objects have.
std::string least(const std::string& a, const std::string& b) {
    static const std::vector<std::string> kOrder = {"absent", "drifted", "starting", "waiting_for_nodes",
                                                    "ready"};
    const auto rank = [](const std::string& state) {
        return std::find(kOrder.begin(), kOrder.end(), state) - kOrder.begin();
    };
    return rank(a) < rank(b) ? a : b;
}

bool is_ours(const JsonObject& live) {
    const auto* labels = base::find_path(live, "metadata.labels");
    return labels != nullptr && labels->is_object() &&
           labels->as_object().contains("app.kubernetes.io/managed-by") &&
           labels->as_object().at("app.kubernetes.io/managed-by") == "instantstart";
}

}  // namespace

Task<JsonObject> objects_state(Client client, Context context, std::vector<JsonObject> objects) {
    std::string state = "ready";
    std::vector<std::string> detail;
    bool waits = false, runs = false;
    std::int64_t standing = 0, ours = 0;
    for (const auto& wanted : objects) {
        CO_TRY(auto live, co_await live_object(client, context, wanted));
        standing += live.empty() ? 0 : 1;
        ours += is_ours(live) ? 1 : 0;
        const auto name = base::get_string(wanted, "kind") + "/" + base::get_string(wanted, "metadata.name");
        std::string of_object = "ready";
        if (live.empty()) {
            of_object = "absent";
            detail.push_back(name + " is missing");
        } else if (base::find_path(live, "metadata.deletionTimestamp") != nullptr) {
            of_object = "starting";
            detail.push_back(name + " is being deleted");
        } else if (is_helm(live)) {
            detail.push_back(name + " belongs to a Helm release");
        } else if (!covers(live, wanted)) {
            of_object = "drifted";
            detail.push_back(name + " differs");
        } else if (base::get_string(wanted, "kind") == "DaemonSet") {
            of_object = daemonset_state(live);
            (of_object == "waiting_for_nodes" ? waits : runs) = true;
            if (of_object == "waiting_for_nodes") continue;
        } else if (of_object = readiness(live); of_object != "ready") {
            detail.push_back(name + " is not ready yet");
        }
        state = least(state, of_object);
    }
    // Of two DaemonSets for two kinds of nodes one always has none.
    if (state == "ready" && waits && !runs) state = "waiting_for_nodes";
    co_return JsonObject{
        {"state", state}, {"detail", base::join(detail, "; ")}, {"standing", standing}, {"ours", ours}};
}

namespace {

Task<JsonObject> addon_state(Clusters& env, Context context, std::string eks_name, std::string addon) {
    JsonObject parameters{{"clusterName", eks_name}, {"addonName", addon}};
    auto answer = co_await env.aws().call(context, "eks", "DescribeAddon", std::move(parameters));
    if (!answer) {
        if (is_absent(answer.error())) co_return JsonObject{{"state", "absent"}};
        co_return std::move(answer).error();
    }
    const auto status = base::get_string(*answer, "addon.status");
    std::string state = "starting";
    if (status == "ACTIVE") state = "ready";
    if (status.ends_with("_FAILED")) state = "failed";
    JsonObject row{{"state", state}, {"version", base::get_string(*answer, "addon.addonVersion")}};
    const auto& issues = base::get_array(*answer, "addon.health.issues");
    if (!issues.empty()) row["detail"] = domain::clean_text(base::get_string(issues.front(), "message"), 300);
    co_return row;
}

// Asks for one: a fleet may have ten thousand.
Task<bool> any_node(Client client, Context context) {
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    kube::ListOptions options;
    options.page_size = 1;
    CO_TRY(const auto page, co_await client->list_stream(context, *nodes, options, ""));
    std::string text;
    while (text.size() < kMaxPage) {
        CO_TRY(const auto piece, co_await page->read());
        if (!piece) break;
        text += *piece;
    }
    constexpr std::size_t kDepth = 128;
    CO_TRY(const auto parsed, base::parse_json(text, kDepth));
    co_return !base::get_array(parsed, "items").empty();
}

// `sight` is the context of what asks the API server.
Task<JsonObject> state_within(Clusters& env, Context context, Context sight, std::string eks_name,
                              std::string region, std::string id) {
    const auto* component = find_component(id);
    CHECK(component != nullptr);
    JsonObject row;
    if (!component->addon.empty()) {
        CO_TRY(row, co_await addon_state(env, context, eks_name, component->addon));
        const auto state = base::get_string(row, "state");
        if (component->needs_nodes && (state == "starting" || state == "failed")) {
            CO_TRY(auto client, co_await env.kube(context, eks_name));
            CO_TRY(const bool nodes, co_await any_node(client, sight));
            if (!nodes) row["state"] = "waiting_for_nodes";
        }
    } else {
        auto objects = component_objects(*component, region);
        if (!objects)
            co_return JsonObject{{"name", id}, {"state", "failed"}, {"detail", objects.error().message}};
        CO_TRY(auto client, co_await env.kube(context, eks_name));
        CO_TRY(row, co_await objects_state(client, sight, *objects));
    }
    row["name"] = id;
    co_return row;
}

// The API server cannot be asked, or fails, or takes too long; errors of AWS name their operation.
bool hides_component(const base::Error& error) {
    if (is_unreachable(error)) return true;
    if (error.extra.contains("aws_operation")) return false;
    return error.kind == base::ErrorKind::unavailable || error.kind == base::ErrorKind::throttled ||
           error.kind == base::ErrorKind::deadline;
}

JsonObject unseen(const Component& component, const base::Error& error) {
    return {{"name", component.id}, {"state", "unknown"}, {"detail", domain::clean_text(error.message, 300)}};
}

}  // namespace

Task<JsonObject> component_state(Clusters& env, Context context, std::string eks_name, std::string region,
                                 std::string id) {
    return state_within(env, context, context, std::move(eks_name), std::move(region), std::move(id));
}

bool is_unreachable(const base::Error& error) {
    return has_code(error, {"KubernetesUnreachable", "Unauthorized", "Forbidden"});
}

Task<JsonArray> dependency_rows(Clusters& env, Context context, ClusterRef ref,
                                std::set<std::string> wanted_ids) {
    JsonArray rows;
    std::optional<base::Error> obstacle;
    auto left = kSightLimit;  // of the time for the API server; that of AWS does not count
    for (const auto& component : components()) {
        const auto began = env.clock().monotonic();
        auto seen = co_await state_within(env, context, context.with_deadline(began + left), ref.eks_name,
                                          env.aws().region(), component.id);
        if (!seen || component.addon.empty()) left -= std::min(left, env.clock().monotonic() - began);
        const bool wanted = wanted_ids.contains(component.id);
        if (!seen && !hides_component(seen.error())) co_return std::move(seen).error();
        // Once the time is used up, what used it up is the reason.
        if (!seen && (!obstacle || seen.error().kind != base::ErrorKind::deadline)) obstacle = seen.error();
        if (!seen && !wanted) continue;
        auto row = seen ? std::move(*seen) : unseen(component, *obstacle);
        const auto state = base::get_string(row, "state");
        if (!wanted && state == "absent") continue;
        row["title"] = component.title;
        row["kind"] = component.addon.empty() ? "manifest" : "eks_addon";
        row["wanted"] = wanted;
        if (seen) {
            row["actual"] = state != "absent";
            row["healthy"] = state == "ready" || state == "waiting_for_nodes";
        }
        rows.push_back(std::move(row));
    }
    co_return rows;
}

std::set<std::string> wanted_components(const JsonObject& hyperpod) {
    std::set<std::string> types;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto type = base::get_string(group, "InstanceType");
        if (!type.empty()) types.insert(type);
        for (const auto& detail : base::get_array(group, "InstanceRequirements.DesiredInstanceTypes")) {
            if (detail.is_string()) types.insert(std::string(detail.as_string()));
        }
    }
    const auto ids = components_for(types);
    return {ids.begin(), ids.end()};
}

Task<Observation> observe_objects(Clusters& env, StepCall call, std::vector<JsonObject> objects) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_TRY(auto row, co_await objects_state(client, call.context, std::move(objects)));
    const auto state = base::get_string(row, "state");
    if (state == "absent" || state == "drifted") {
        auto missing = ops::absent();
        missing.detail = base::get_string(row, "detail");
        co_return missing;
    }
    if (state == "starting") co_return ops::in_progress("pods are starting");
    co_return ops::done({{"state", state}});
}

Task<JsonObject> apply_objects(Clusters& env, StepCall call, std::vector<JsonObject> objects) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    for (const auto& object : objects) {
        CO_TRY(auto live, co_await live_object(client, call.context, object));
        if (!live.empty() && (is_helm(live) || covers(live, object))) continue;
        CO_CHECK_OK(co_await client->apply(call.context, object));
    }
    co_return JsonObject{};
}

namespace {

Task<Observation> observe_component(Clusters& env, StepCall call, JsonObject args) {
    auto objects = component_objects(*find_component(base::get_string(args, "id")),
                                     base::get_string(call.params, "region"));
    if (!objects) co_return ops::impossible(std::move(objects).error());
    co_return co_await observe_objects(env, std::move(call), std::move(*objects));
}

Task<JsonObject> act_component(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto objects, component_objects(*find_component(base::get_string(args, "id")),
                                           base::get_string(call.params, "region")));
    co_return co_await apply_objects(env, std::move(call), std::move(objects));
}

}  // namespace

void add_components(Steps& steps, const std::vector<std::string>& ids) {
    for (const auto& id : ids) {
        const auto* component = find_component(id);
        if (component == nullptr || steps.has(id)) continue;
        auto needs = steps.those_of(component->after);
        if (!component->addon.empty()) {
            needs.emplace_back(component->needs_nodes ? "kubernetes_access" : "eks");
            AddonPlan plan(id, component->addon, needs);
            plan.configuration = component->configuration;
            plan.needs_nodes = component->needs_nodes;
            add_addon(steps, plan);
            continue;
        }
        needs.emplace_back("kubernetes_access");
        auto schedule = minutes_of(0.1, 5);
        schedule.limit = std::chrono::minutes(20);
        steps.add(Row(id, "Install " + component->title, needs)
                      .does(&observe_component, &act_component)
                      .with({{"id", id}})
                      .takes(schedule));
    }
}

}  // namespace instantstart::flows
