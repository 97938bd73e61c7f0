#include "flows/capacity_flows.h"

#include "flows/eks_steps.h"
#include "flows/group_change_steps.h"
#include "flows/network_steps.h"
#include "flows/node_group_steps.h"
#include "flows/node_steps.h"
#include "flows/software_steps.h"

namespace instantstart::flows {

namespace {

// What the last steps found: the nodes as they are called now, and those that AWS refused to treat.
JsonObject capacity_result(const JsonObject& params, const JsonObject& results) {
    JsonObject result{{"cluster", base::get_string(params, "cluster")}};
    for (const char* name : {"group", "node_group"}) {
        const auto value = base::get_string(params, name);
        if (!value.empty()) result[name] = value;
    }
    const auto* now = base::find_path(results, "usable.nodes");
    if (now != nullptr) result["nodes"] = *now;
    for (const char* verb : {"reboot", "replace", "delete"}) {
        const auto& failed = base::get_array(results, std::string(verb) + ".failed");
        if (failed.empty()) continue;
        result["failed"] = failed;
        result["warnings"] = JsonArray{JsonValue(std::to_string(failed.size()) +
                                                 " nodes were refused by SageMaker and are as they were")};
    }
    return result;
}

struct NamedFlow {
    const char* name;
    void (*add)(Steps& steps, const JsonObject& params);
    bool in_cluster = true;  // it also looks into Kubernetes
};
constexpr NamedFlow kFlows[] = {
    {"instance_group_update", &add_group_change},
    {"instance_group_delete", &add_group_removal},
    {"node_group_add",
     [](Steps& steps, const JsonObject& params) {
         add_find_network(steps);
         add_node_group(steps, params);
     }},
    {"node_group_update", [](Steps& steps, const JsonObject&) { add_node_group_change(steps); }},
    {"node_group_delete", [](Steps& steps, const JsonObject&) { add_node_group_removal(steps); }, false},
    {"node_reboot", [](Steps& steps, const JsonObject&) { add_node_reboot(steps); }},
    {"node_replace", [](Steps& steps, const JsonObject&) { add_node_replacement(steps); }},
    {"node_delete", [](Steps& steps, const JsonObject&) { add_node_removal(steps); }},
    {"hyperpod_update_software", &add_software_update}};

std::vector<ops::Step> steps_of(Clusters& clusters, const NamedFlow& row, const JsonObject& params) {
    Steps steps(clusters);
    add_find_eks(steps);
    if (row.in_cluster) add_access(steps, params);
    row.add(steps, params);
    return steps.take();
}

}  // namespace

std::vector<ops::Flow> capacity_flows(Clusters& clusters) {
    std::vector<ops::Flow> flows;
    for (const auto& row : kFlows) {
        ops::Flow flow;
        flow.name = row.name;
        flow.steps = [&clusters, &row](const JsonObject& params) { return steps_of(clusters, row, params); };
        flow.result = &capacity_result;
        flows.push_back(std::move(flow));
    }
    return flows;
}

}  // namespace instantstart::flows
