// cluster.create: the EKS control plane and all it needs.
#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "flows/components.h"

namespace instantstart::app {

namespace {

Task<Plan> plan(Call call, ClusterInput input) {
    Findings found;
    CO_TRY(auto params, co_await plan_cluster(call, input, found));
    JsonArray components;
    for (const auto& component : flows::components()) {
        if (component.base && !component.addon.empty()) components.emplace_back(component.id);
    }
    params["components"] = std::move(components);
    Plan made;
    made.resource = "cluster/" + input.name;
    made.covers_children = true;
    made.flow = "cluster_create";
    made.creates = cluster_creates(params);
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_cluster_create() {
    Meta meta;
    meta.id = "cluster.create";
    meta.method = "POST";
    meta.path = "/clusters";
    meta.summary =
        "Create an EKS cluster ready for HyperPod: VPC, subnets, gateways, roles, control plane, access and "
        "base add-ons. Takes about 12 minutes.";
    meta.role = Role::admin;
    meta.area = "cluster";
    meta.creates_cluster = true;
    meta.shows_result = "cluster.get";
    meta.uses = used_by_cluster_create();
    return make_long_running<ClusterInput>(std::move(meta), cluster_fields(), &plan);
}

}  // namespace instantstart::app
