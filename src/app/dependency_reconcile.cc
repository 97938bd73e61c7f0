// dependency.reconcile: brings the components that HyperPod needs to their wanted state, and repairs drift.
#include <algorithm>

#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "flows/components.h"

namespace instantstart::app {

namespace {

struct DependencyReconcile {
    std::string cluster;
    std::optional<std::vector<std::string>> components;
};
BOOST_DESCRIBE_STRUCT(DependencyReconcile, (), (cluster, components))

std::vector<std::string> component_names() {
    std::vector<std::string> names;
    for (const auto& component : flows::components()) names.push_back(component.id);
    return names;
}

// In the table's order, which is the order of dependence.
std::vector<std::string> wanted_of(const DependencyReconcile& input, const JsonObject& hyperpod) {
    const auto needed = flows::wanted_components(hyperpod);
    std::vector<std::string> ids;
    for (const auto& component : flows::components()) {
        const bool named = input.components && std::find(input.components->begin(), input.components->end(),
                                                         component.id) != input.components->end();
        if (input.components ? named : needed.contains(component.id)) ids.push_back(component.id);
    }
    return ids;
}

Task<Plan> plan(Call call, DependencyReconcile input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/dependencies";
    made.flow = "dependency_reconcile";
    JsonArray components;
    JsonObject states;
    bool settled = true;
    for (const auto& id : wanted_of(input, target.hyperpod)) {
        components.emplace_back(id);
        auto row = co_await flows::component_state(call.services->clusters, call.context, target.ref.eks_name,
                                                   call.services->aws.region(), id);
        if (!row) {  // the flow waits for access; the plan cannot
            made.warnings.push_back("could not look at " + id + ": " + row.error().message);
            settled = false;
            continue;
        }
        const auto state = base::get_string(*row, "state");
        states[id] = state;
        if (state == "ready" || state == "waiting_for_nodes") continue;
        settled = false;
        if (state == "absent") made.creates.push_back(id);
        if (state == "drifted" || state == "failed")
            made.changes.push_back(id + ": " + base::get_string(*row, "detail", state));
    }
    made.no_change = settled;
    made.no_change_result = JsonObject{{"cluster", target.ref.name}, {"components", states}};
    params["components"] = std::move(components);
    made.flow_params = std::move(params);
    co_return made;
}

}  // namespace

std::unique_ptr<Operation> make_dependency_reconcile() {
    Meta meta;
    meta.id = "dependency.reconcile";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/dependencies/reconcile";
    meta.summary =
        "Bring the components that HyperPod needs inside the cluster to their wanted state and repair drift; "
        "changes nothing where all is well.";
    meta.role = Role::operator_role;
    meta.area = "cluster";
    meta.shows_result = "dependency.list";
    meta.uses = used_by_dependencies();
    return make_long_running<DependencyReconcile>(
        std::move(meta),
        {cluster_field(),
         Field("components", "Only these; where left out the base ones and what the cluster's groups need.")
             .length(1, 12)
             .one_of(component_names())
             .like(JsonArray{"coredns"})},
        &plan);
}

}  // namespace instantstart::app
