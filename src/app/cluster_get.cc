// cluster.get: everything that is known of a cluster, in one answer. Pages and agents ask it again and again:
// nodes and accelerators are counted from the cache of the cluster's objects, the rest is kept for seconds
// unless an operation on the cluster has moved since (app/fleet.h).
#include <algorithm>

#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "flows/components.h"
#include "flows/storage_steps.h"

namespace instantstart::app {

namespace {

struct ClusterGet {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(ClusterGet, (), (cluster))

bool is_active(const Target& target) {
    return base::get_string(target.eks, "status") == "ACTIVE";
}

bool has_unknown(const JsonArray& rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const auto& row) { return base::get_string(row, "state") == "unknown"; });
}

// All that changes slowly. What the API server does not tell is left out: a condition says why.
Task<ClusterView> read_view(Call call, std::string cluster) {
    ClusterView view;
    CO_TRY(view.target, co_await find_target(call, cluster));
    view.groups = group_rows(view.target.hyperpod);
    CO_CHECK_OK(co_await add_capacity_conditions(call, view.target.hyperpod, view.groups));
    if (!is_active(view.target)) co_return view;
    auto& clusters = call.services->clusters;
    auto dependencies = co_await flows::dependency_rows(clusters, call.context, view.target.ref,
                                                        flows::wanted_components(view.target.hyperpod));
    view.degraded = !dependencies || has_unknown(*dependencies);
    if (dependencies) view.dependencies = std::move(*dependencies);
    if (view.degraded) co_return view;  // whoever asks should not wait for the same obstacle twice
    const auto soon = call.context.with_deadline(clusters.clock().monotonic() + flows::kSightLimit);
    auto storages = co_await flows::storage_rows(clusters, soon, view.target.ref.eks_name);
    view.degraded = !storages;
    if (storages) view.storages = std::move(*storages);
    co_return view;
}

Task<Kept<ClusterView>::Value> kept_view(Call call, std::string cluster, std::string version) {
    // The reading may outlast the call that asked for it.
    Call apart(Context(), *call.services, call.caller);
    Kept<ClusterView>::Read read = [apart, cluster] { return read_view(apart, cluster); };
    co_return co_await call.services->fleet->view(cluster, std::move(version), std::move(read));
}

JsonObject row_of(Call call, const ClusterView& view) {
    const auto& target = view.target;
    return {{"name", target.ref.name},
            {"imported", target.ref.imported},
            {"status", base::get_string(target.eks, "status")},
            {"kubernetes_version", base::get_string(target.eks, "version")},
            {"region", call.services->aws.region()},
            {"eks", eks_row(target.eks)},
            {"hyperpod", hyperpod_row(target.hyperpod)},
            {"instance_groups", view.groups}};
}

JsonArray group_conditions(const JsonArray& groups) {
    JsonArray conditions;
    for (const auto& group : groups) {
        for (const auto& condition : base::get_array(group, "conditions")) {
            auto named = condition.as_object();
            named["group"] = base::get_string(group, "name");
            conditions.push_back(std::move(named));
        }
    }
    return conditions;
}

// Where the Kubernetes side cannot be reached, a condition says why and the rest still stands.
Task<void> add_kubernetes_side(Call call, Kept<ClusterView>::Value view, std::string version, JsonObject& row,
                               JsonArray& conditions) {
    auto& fleet = *call.services->fleet;
    auto nodes = co_await fleet.nodes(view->target, std::move(version));
    if (!nodes) {
        if (nodes.error().kind == base::ErrorKind::cancelled) co_return std::move(nodes).error();
        conditions.push_back(condition_of(nodes.error()));
        co_return base::ok();
    }
    if (auto condition = freshness_condition(*nodes); !condition.empty()) {
        conditions.push_back(std::move(condition));
    }
    const auto counts = fleet.counts(view->target.ref.name, *nodes);
    row["nodes"] = JsonObject{{"total", counts.total}, {"ready", counts.ready}};
    row["accelerators"] = JsonObject{{"total", counts.accelerators},
                                     {"ready", counts.accelerators_ready},
                                     {"in_use", counts.accelerators_in_use}};
    if (view->dependencies) row["dependencies"] = *view->dependencies;
    if (view->storages) row["storages"] = *view->storages;
    co_return base::ok();
}

Task<Answer> run(Call call, ClusterGet input) {
    const auto move = last_move(call, input.cluster);
    CO_TRY(const auto view, co_await kept_view(call, input.cluster, move.moment));
    const auto& name = view->target.ref.name;
    auto row = row_of(call, *view);
    auto conditions = group_conditions(view->groups);
    if (is_active(view->target)) {
        CO_CHECK_OK(co_await add_kubernetes_side(call, view, move.state, row, conditions));
    }
    row["conditions"] = std::move(conditions);
    Answer answer;
    answer.cluster = name;
    answer.summary = "Cluster " + name + ": EKS " + base::get_string(view->target.eks, "status") +
                     ", HyperPod " + base::get_string(view->target.hyperpod, "ClusterStatus", "none") + ", " +
                     std::to_string(base::get_int(row, "nodes.ready")) + " of " +
                     std::to_string(base::get_int(row, "nodes.total")) + " nodes ready.";
    answer.body["cluster"] = std::move(row);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_cluster_get() {
    Meta meta;
    meta.id = "cluster.get";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}";
    meta.summary =
        "One cluster: EKS and HyperPod status, nodes and accelerators, groups, dependencies, storage, and "
        "conditions that need attention.";
    meta.area = "cluster";
    meta.uses = {"eks:DescribeCluster",    "eks:DescribeAddon",          "sagemaker:DescribeCluster",
                 "sagemaker:ListClusters", "sagemaker:ListClusterNodes", "sagemaker:ListClusterEvents"};
    return make_query<ClusterGet>(std::move(meta), {cluster_field()}, &run);
}

}  // namespace instantstart::app
