#include "flows/flows.h"

#include <algorithm>

#include "flows/capacity_flows.h"
#include "flows/components.h"
#include "flows/eks_steps.h"
#include "flows/features/feature_steps.h"
#include "flows/hyperpod_steps.h"
#include "flows/lustre_storage.h"
#include "flows/network_steps.h"
#include "flows/removal_steps.h"
#include "flows/storage_steps.h"

namespace instantstart::flows {

namespace {

std::vector<std::string> component_ids(const JsonObject& params) {
    std::vector<std::string> ids;
    for (const auto& id : base::get_array(params, "components")) ids.emplace_back(id.as_string());
    return ids;
}

// Add-ons that had to wait for nodes, once nodes are there.
void settle_addons(Steps& steps, const JsonObject& params) {
    for (const auto& component : components()) {
        if (component.addon.empty() || !component.needs_nodes || !steps.has(component.id)) continue;
        auto needs = node_steps(params);
        needs.push_back(component.id);
        add_addon_settled(steps, AddonPlan(component.id, component.addon, {}), std::move(needs));
    }
}

std::vector<ops::Step> cluster_create(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_network(steps, params);
    add_eks(steps, params);
    add_cross_rules(steps);
    add_components(steps, component_ids(params));
    return steps.take();
}

std::vector<ops::Step> cluster_launch(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_network(steps, params);
    add_eks(steps, params);
    add_cross_rules(steps);
    add_components(steps, component_ids(params));
    add_find_network(steps);
    add_hyperpod(steps, params);
    if (!base::get_object(params, "storage").empty()) add_s3_storage(steps, params);
    settle_addons(steps, params);
    if (!base::get_object(params, "features").empty()) {
        auto needs = node_steps(params);
        needs.insert(needs.end(), {"eks", "kubernetes_access", "hyperpod"});
        add_features(steps, params, std::move(needs));
    }
    return steps.take();
}

void begin_in_cluster(Steps& steps, const JsonObject& params) {
    add_find_eks(steps);
    add_access(steps, params);
}

std::vector<ops::Step> hyperpod_create(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    begin_in_cluster(steps, params);
    add_find_network(steps);
    add_components(steps, component_ids(params));
    add_hyperpod(steps, params);
    settle_addons(steps, params);
    return steps.take();
}

std::vector<ops::Step> instance_group_add(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    begin_in_cluster(steps, params);
    add_find_network(steps);
    add_components(steps, component_ids(params));
    add_group(steps, params);
    return steps.take();
}

std::vector<ops::Step> dependency_reconcile(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    begin_in_cluster(steps, params);
    add_components(steps, component_ids(params));
    return steps.take();
}

std::vector<ops::Step> storage_create(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    begin_in_cluster(steps, params);
    if (base::get_string(params, "storage.kind") == "fsx_lustre") {
        add_lustre_storage(steps, params);
        return steps.take();
    }
    add_oidc(steps);
    add_s3_storage(steps, params);
    return steps.take();
}

std::vector<ops::Step> storage_delete(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_storage_removal(steps, params);
    return steps.take();
}

std::vector<ops::Step> hyperpod_delete(Clusters& env, const JsonObject&) {
    Steps steps(env);
    add_hyperpod_removal(steps);
    return steps.take();
}

std::vector<ops::Step> cluster_delete(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_cluster_removal(steps, params);
    return steps.take();
}

std::vector<ops::Step> cluster_import(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_import(steps, params);
    return steps.take();
}

// Whether a later step saw nodes: what waited for them has run since.
bool nodes_came(const JsonObject& results) {
    return std::any_of(results.begin(), results.end(), [](const auto& entry) {
        return std::string_view(entry.key()).ends_with(".nodes") && base::get_int(entry.value(), "nodes") > 0;
    });
}

JsonObject cluster_result(const JsonObject& params, const JsonObject& results) {
    JsonObject result{{"cluster", base::get_string(params, "cluster")}};
    const auto put = [&](std::string_view key, std::string_view step, std::string_view member) {
        const auto* value = results.if_contains(step);
        if (value != nullptr && value->is_object() && value->as_object().contains(member))
            result[key] = value->as_object().at(member);
    };
    put("eks_arn", "eks", "arn");
    put("endpoint", "eks", "endpoint");
    put("vpc_id", "vpc", "id");
    put("hyperpod_arn", "hyperpod", "arn");
    put("claim", "storage", "claim");
    put("bucket", "storage", "bucket");
    put("file_system_id", "storage", "file_system_id");
    put("kept", "leftovers", "kept");
    JsonArray waiting;
    for (const auto& component : components()) {
        for (const auto& id : {component.id + "_settled", component.id}) {
            const auto* value = results.if_contains(id);
            if (value == nullptr || !value->is_object()) continue;
            if (base::get_string(*value, "state") == "waiting_for_nodes") waiting.emplace_back(component.id);
            break;
        }
    }
    if (!waiting.empty() && !nodes_came(results)) {
        result["warnings"] = JsonArray{JsonValue(std::to_string(waiting.size()) +
                                                 " components wait for nodes and start by themselves once "
                                                 "there are some")};
        result["waiting_for_nodes"] = std::move(waiting);
    }
    return result;
}

using Maker = std::vector<ops::Step> (*)(Clusters&, const JsonObject&);

ops::Flow flow(Clusters& clusters, std::string name, Maker maker) {
    ops::Flow made_flow;
    made_flow.name = std::move(name);
    made_flow.steps = [&clusters, maker](const JsonObject& params) { return maker(clusters, params); };
    made_flow.result = &cluster_result;
    return made_flow;
}

}  // namespace

std::vector<ops::Flow> make_flows(Clusters& clusters) {
    std::vector<ops::Flow> flows{flow(clusters, "cluster_create", &cluster_create),
                                 flow(clusters, "cluster_launch", &cluster_launch),
                                 flow(clusters, "cluster_import", &cluster_import),
                                 flow(clusters, "cluster_delete", &cluster_delete),
                                 flow(clusters, "hyperpod_create", &hyperpod_create),
                                 flow(clusters, "hyperpod_delete", &hyperpod_delete),
                                 flow(clusters, "instance_group_add", &instance_group_add),
                                 flow(clusters, "dependency_reconcile", &dependency_reconcile),
                                 flow(clusters, "feature_update", &feature_update_steps),
                                 flow(clusters, "storage_create", &storage_create),
                                 flow(clusters, "storage_delete", &storage_delete)};
    for (auto& of_capacity : capacity_flows(clusters)) flows.push_back(std::move(of_capacity));
    return flows;
}

}  // namespace instantstart::flows
