#include "flows/node_steps.h"

#include <algorithm>

#include "flows/hyperpod_steps.h"

namespace instantstart::flows {

namespace {

constexpr std::string_view kNodePrefix = "hyperpod-";

std::string text(const JsonValue& value) {
    return value.is_string() ? std::string(value.get_string()) : std::string();
}

bool holds(const JsonArray& list, const std::string& id) {
    return std::any_of(list.begin(), list.end(), [&id](const JsonValue& item) {
        return text(item) == id || base::get_string(item, "node") == id;
    });
}

// What a node is called in requests and results: its instance id, or where it has none yet its logical one.
std::string id_of(const JsonValue& node) {
    return base::get_string(node, "instance_id", base::get_string(node, "logical_id"));
}

Task<JsonObject> describe_node(Clusters& env, Context context, std::string hyperpod, std::string member,
                               std::string id) {
    JsonObject parameters{{"ClusterName", hyperpod}, {member, id}};
    auto answer = co_await env.aws().call(context, "sagemaker", "DescribeClusterNode", std::move(parameters));
    if (!answer && is_absent(answer.error())) co_return JsonObject{};
    CO_CHECK_OK(answer);
    co_return base::get_object(*answer, "NodeDetails");
}

// By the logical id where there is one: it stays while the instance behind it changes.
Task<JsonObject> look_at(Clusters& env, StepCall call, JsonObject node) {
    const auto logical = base::get_string(node, "logical_id");
    if (!logical.empty())
        co_return co_await describe_node(env, call.context, hyperpod_name(call), "NodeLogicalId", logical);
    co_return co_await describe_node(env, call.context, hyperpod_name(call), "NodeId",
                                     base::get_string(node, "instance_id"));
}

// {} where Kubernetes has no such node.
Task<JsonObject> kubernetes_node(Clusters& env, StepCall call, std::string instance_id) {
    if (instance_id.empty()) co_return JsonObject{};
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    auto node = co_await client->get(call.context, *nodes, "", node_name_of(instance_id));
    if (!node && node.error().kind == base::ErrorKind::not_found) co_return JsonObject{};
    co_return node;
}

// --- before a reboot: the boot ids, by instance id

Task<Observation> observe_boot_ids(Clusters& env, StepCall call, JsonObject) {
    JsonObject boots;
    for (const auto& node : base::get_array(call.params, "nodes")) {
        const auto id = base::get_string(node, "instance_id");
        CO_TRY(auto seen, co_await kubernetes_node(env, call, id));
        boots[id] = base::get_string(seen, "status.nodeInfo.bootID");
    }
    co_return ops::done({{"boot_ids", std::move(boots)}});
}

bool has_new_boot(const StepCall& call, const std::string& id, const JsonObject& kubernetes) {
    const auto& boots = base::get_object(call.result_of("before"), "boot_ids");
    const auto* before = boots.if_contains(id);
    const auto now = base::get_string(kubernetes, "status.nodeInfo.bootID");
    return !now.empty() && (before == nullptr || text(*before) != now);
}

// --- what a look alone shows: after a lost answer it decides

using Sight = Task<bool> (*)(Clusters& env, StepCall call, JsonObject node);

Task<bool> is_rebooted(Clusters& env, StepCall call, JsonObject node) {
    CO_TRY(auto details, co_await look_at(env, call, node));
    if (base::get_string(details, "InstanceStatus.Status") == "Pending") co_return true;
    const auto id = base::get_string(node, "instance_id");
    CO_TRY(auto seen, co_await kubernetes_node(env, call, id));
    co_return has_new_boot(call, id, seen);
}

Task<bool> is_replaced(Clusters& env, StepCall call, JsonObject node) {
    CO_TRY(auto details, co_await look_at(env, call, node));
    const auto status = base::get_string(details, "InstanceStatus.Status");
    const bool same = base::get_string(details, "InstanceId") == base::get_string(node, "instance_id");
    co_return details.empty() || !same || status == "ShuttingDown" || status == "Pending";
}

Task<bool> is_going(Clusters& env, StepCall call, JsonObject node) {
    CO_TRY(auto details, co_await look_at(env, call, node));
    co_return details.empty() || base::get_string(details, "InstanceStatus.Status") == "ShuttingDown";
}

struct Verb {
    const char* id;
    const char* operation;
    Sight sight;
};
constexpr Verb kVerbs[] = {{"reboot", "BatchRebootClusterNodes", &is_rebooted},
                           {"replace", "BatchReplaceClusterNodes", &is_replaced},
                           {"delete", "BatchDeleteClusterNodes", &is_going}};

const Verb& verb_of(const JsonObject& args) {
    const auto id = base::get_string(args, "verb");
    const auto* found =
        std::find_if(std::begin(kVerbs), std::end(kVerbs), [&id](const Verb& verb) { return id == verb.id; });
    CHECK(found != std::end(kVerbs));
    return *found;
}

// --- the batch call

struct Outcomes {
    Outcomes() = default;
    JsonArray accepted;  // ids
    JsonArray failed;    // {node, code, message}
};

Outcomes remembered(const StepCall& call) {
    Outcomes known;
    known.accepted = base::get_array(call.memory, "accepted");
    known.failed = base::get_array(call.memory, "failed");
    return known;
}

void forget(const std::string& id, JsonArray& failed) {
    JsonArray others;
    for (const auto& row : failed) {
        if (base::get_string(row, "node") != id) others.push_back(row);
    }
    failed = std::move(others);
}

Observation ended(Outcomes outcomes) {
    if (outcomes.accepted.empty()) {
        const auto& first = outcomes.failed.front();
        auto error =
            base::conflict_error(base::get_string(first, "code"),
                                 base::get_string(first, "node") + ": " + base::get_string(first, "message"))
                .with_extra("failed", outcomes.failed);
        return ops::impossible(
            std::move(error).with_hint("node.get shows how the node stands; try again once it is Running."));
    }
    return ops::done({{"accepted", std::move(outcomes.accepted)}, {"failed", std::move(outcomes.failed)}});
}

Task<Observation> observe_batch(Clusters& env, StepCall call, JsonObject args) {
    const auto& verb = verb_of(args);
    auto outcomes = remembered(call);
    bool all = true;
    for (const auto& node : base::get_array(call.params, "nodes")) {
        const auto id = id_of(node);
        if (holds(outcomes.accepted, id)) continue;
        bool by_sight = false;
        if (call.acted) {
            CO_TRY(by_sight, co_await verb.sight(env, call, node.as_object()));
        }
        if (by_sight) {
            outcomes.accepted.emplace_back(id);
            forget(id, outcomes.failed);
        } else if (!holds(outcomes.failed, id)) {
            all = false;
        }
    }
    if (all) co_return ended(std::move(outcomes));
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (status != "InService") co_return ops::in_progress("SageMaker says " + status);
    co_return ops::absent();
}

// Refusals that time heals: asked again.
bool is_for_now(const std::string& code) {
    return code == "InstanceIdInUse" || code == "NodeIdInUse" || code == "InternalServerError";
}

void take_failures(const JsonArray& refused, Outcomes& outcomes) {
    for (const auto& row : refused) {
        const auto id = base::get_string(row, "NodeId", base::get_string(row, "NodeLogicalId"));
        const auto code = base::get_string(row, "ErrorCode", base::get_string(row, "Code"));
        if (is_for_now(code)) continue;
        if (code == "NodeIdNotFound") {  // of a deletion: what is gone is as good
            outcomes.accepted.emplace_back(id);
            continue;
        }
        outcomes.failed.push_back(
            {{"node", id},
             {"code", code},
             {"message", domain::clean_text(base::get_string(row, "Message", code), 300)}});
    }
}

JsonObject batch_request(const StepCall& call, const Outcomes& known) {
    JsonArray instances, logicals;
    for (const auto& node : base::get_array(call.params, "nodes")) {
        const auto id = id_of(node);
        if (holds(known.accepted, id) || holds(known.failed, id)) continue;
        const bool has_instance = !base::get_string(node, "instance_id").empty();
        (has_instance ? instances : logicals).emplace_back(id);
    }
    JsonObject request{{"ClusterName", hyperpod_name(call)}};
    if (!instances.empty()) request["NodeIds"] = std::move(instances);
    if (!logicals.empty()) request["NodeLogicalIds"] = std::move(logicals);
    return request;
}

Task<JsonObject> act_batch(Clusters& env, StepCall call, JsonObject args) {
    auto outcomes = remembered(call);
    auto request = batch_request(call, outcomes);
    CO_TRY(auto answer, co_await mutate(env, call, "sagemaker", verb_of(args).operation, std::move(request)));
    for (const char* list : {"Successful", "SuccessfulNodeLogicalIds"}) {
        for (const auto& id : base::get_array(answer, list)) outcomes.accepted.push_back(id);
    }
    take_failures(base::get_array(answer, "Failed"), outcomes);
    take_failures(base::get_array(answer, "FailedNodeLogicalIds"), outcomes);
    co_return JsonObject{{"accepted", std::move(outcomes.accepted)}, {"failed", std::move(outcomes.failed)}};
}

// --- usable again, or gone

// Why a node is not usable yet; "" where it is.
std::string what_is_missing(const JsonObject& details, const JsonObject& kubernetes) {
    const auto status = base::get_string(details, "InstanceStatus.Status", "nothing");
    if (status != "Running") return "SageMaker says " + status;
    if (kubernetes.empty()) return "not in Kubernetes yet";
    return is_usable_node(kubernetes) ? "" : "not Ready and Schedulable with all accelerators yet";
}

struct Back {
    Back() = default;
    std::string missing;   // "" where it is usable again
    std::string instance;  // what stands there now
};

Task<Back> back_again(Clusters& env, StepCall call, JsonObject node, std::string verb) {
    Back back;
    CO_TRY(auto details, co_await look_at(env, call, node));
    const auto old = base::get_string(node, "instance_id");
    back.instance = base::get_string(details, "InstanceId");
    const bool nameless = verb == "replace" && base::get_string(node, "logical_id").empty();
    if (nameless) {
        // Without continuous provisioning nothing leads from the old instance to the new one.
        CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
        const auto group = base::get_string(node, "group");
        CO_TRY(auto health, co_await group_health(env, call.context, eks_of(call), cluster, group));
        const bool whole = details.empty() && base::get_bool(health, "usable");
        if (!whole) back.missing = base::get_string(health, "detail");
        co_return back;
    }
    if (verb == "replace" && (back.instance.empty() || back.instance == old)) {
        back.missing = "the new instance is not there yet";
        co_return back;
    }
    CO_TRY(auto kubernetes, co_await kubernetes_node(env, call, back.instance));
    back.missing = what_is_missing(details, kubernetes);
    const bool reboots = verb == "reboot" && back.missing.empty();
    if (reboots && !has_new_boot(call, old, kubernetes)) back.missing = "has not gone down yet";
    co_return back;
}

Task<Observation> observe_back(Clusters& env, StepCall call, JsonObject args) {
    const auto verb = base::get_string(args, "verb");
    const auto& accepted = base::get_array(call.result_of(verb), "accepted");
    JsonObject now;
    std::string detail;
    std::size_t usable = 0;
    for (const auto& node : base::get_array(call.params, "nodes")) {
        const auto id = id_of(node);
        if (!holds(accepted, id)) continue;
        CO_TRY(auto back, co_await back_again(env, call, node.as_object(), verb));
        if (back.missing.empty()) {
            ++usable;
            now[id] = node_name_of(back.instance);
        } else if (detail.empty()) {
            detail = id + ": " + back.missing;
        }
    }
    if (usable == accepted.size()) co_return ops::done({{"nodes", std::move(now)}});
    co_return ops::in_progress(detail, static_cast<double>(usable) / static_cast<double>(accepted.size()));
}

Task<Observation> observe_nodes_gone(Clusters& env, StepCall call, JsonObject) {
    for (const auto& node : base::get_array(call.params, "nodes")) {
        const auto id = id_of(node);
        if (!holds(base::get_array(call.result_of("delete"), "accepted"), id)) continue;
        CO_TRY(auto details, co_await look_at(env, call, node.as_object()));
        if (!details.empty()) co_return ops::in_progress(id + " is shutting down");
        CO_TRY(auto kubernetes, co_await kubernetes_node(env, call, base::get_string(node, "instance_id")));
        if (!kubernetes.empty()) co_return ops::in_progress("Kubernetes still has " + node_name_of(id));
    }
    co_return ops::done({});
}

void add_batch(Steps& steps, const std::string& verb, const std::string& title, std::string after) {
    steps.add(Row(verb, title, {std::move(after)})
                  .does(&observe_batch, &act_batch)
                  .with({{"verb", verb}})
                  .waits(kHyperpodWait)
                  .looks_first()
                  .as(verb == "delete" ? "delete" : "change"));
}

Schedule recovery() {
    auto schedule = minutes_of(5, 15);
    // An instance for the replacement may have to be waited for as any other.
    schedule.limit = std::chrono::hours(24 * 14);
    return schedule;
}

}  // namespace

std::string node_name_of(const std::string& instance_id) {
    return std::string(kNodePrefix) + instance_id;
}

std::string instance_id_of(const std::string& node_name) {
    return node_name.starts_with(kNodePrefix) ? node_name.substr(kNodePrefix.size()) : node_name;
}

Task<JsonObject> find_hyperpod_node(Clusters& env, Context context, std::string hyperpod, std::string node) {
    node = instance_id_of(node);
    constexpr std::size_t kShort = 10, kLong = 19;  // of an instance id, with "i-"
    if (node.starts_with("i-")) {
        const bool digits = node.find_first_not_of("0123456789abcdef", 2) == std::string::npos;
        const bool legal_id = digits && (node.size() == kShort || node.size() == kLong);
        if (!legal_id) co_return JsonObject{};
        co_return co_await describe_node(env, context, hyperpod, "NodeId", node);
    }
    const bool legal = std::all_of(node.begin(), node.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (!legal || node.empty() || node.starts_with('-') || node.ends_with('-')) co_return JsonObject{};
    co_return co_await describe_node(env, context, hyperpod, "NodeLogicalId", node);
}

void add_node_reboot(Steps& steps) {
    steps.add(Row("before", "Note the boot ids", {"kubernetes_access"})
                  .does(&observe_boot_ids, nullptr)
                  .as("check"));
    add_batch(steps, "reboot", "Reboot the nodes", "before");
    steps.add(Row("usable", "See the nodes usable again", {"reboot"})
                  .does(&observe_back, nullptr)
                  .with({{"verb", "reboot"}})
                  .takes(recovery())
                  .as("check"));
}

void add_node_replacement(Steps& steps) {
    add_batch(steps, "replace", "Replace the nodes", "kubernetes_access");
    steps.add(Row("usable", "See the new nodes usable", {"replace"})
                  .does(&observe_back, nullptr)
                  .with({{"verb", "replace"}})
                  .takes(recovery())
                  .as("check"));
}

void add_node_removal(Steps& steps) {
    add_batch(steps, "delete", "Delete the nodes", "kubernetes_access");
    steps.add(Row("gone", "See the nodes gone", {"delete"})
                  .does(&observe_nodes_gone, nullptr)
                  .takes(minutes_of(3, 15))
                  .as("check"));
}

}  // namespace instantstart::flows
