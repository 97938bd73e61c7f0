// cluster.get: everything that is known of a cluster, in one answer.
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

// What the Kubernetes side says; where it cannot be reached, the condition says why and the rest still
// stands.
Task<void> add_kubernetes_side(Call call, Target target, JsonObject& row, JsonArray& conditions) {
    auto facts = co_await node_facts(call, target);
    if (!facts) {
        if (facts.error().kind == base::ErrorKind::cancelled) co_return std::move(facts).error();
        conditions.push_back(condition_of(facts.error()));
        co_return base::ok();
    }
    if (facts->unreachable) conditions.push_back(condition_of(*facts->unreachable));
    row["nodes"] = JsonObject{{"total", facts->total}, {"ready", facts->ready}};
    row["accelerators"] = JsonObject{{"total", facts->accelerators},
                                     {"ready", facts->accelerators_ready},
                                     {"in_use", facts->accelerators_in_use}};
    auto& clusters = call.services->clusters;
    auto dependencies = co_await flows::dependency_rows(clusters, call.context, target.ref,
                                                        flows::wanted_components(target.hyperpod));
    if (dependencies) row["dependencies"] = std::move(*dependencies);
    if (facts->unreachable) co_return base::ok();
    auto storages = co_await flows::storage_rows(clusters, call.context, target.ref.eks_name);
    if (storages) row["storages"] = std::move(*storages);
    co_return base::ok();
}

Task<Answer> run(Call call, ClusterGet input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    auto groups = group_rows(target.hyperpod);
    CO_CHECK_OK(co_await add_capacity_conditions(call, target.hyperpod, groups));
    JsonObject row{{"name", target.ref.name},
                   {"imported", target.ref.imported},
                   {"status", base::get_string(target.eks, "status")},
                   {"kubernetes_version", base::get_string(target.eks, "version")},
                   {"region", call.services->aws.region()},
                   {"eks", eks_row(target.eks)},
                   {"hyperpod", hyperpod_row(target.hyperpod)},
                   {"instance_groups", groups}};
    JsonArray conditions;
    for (const auto& group : groups) {
        for (const auto& condition : base::get_array(group, "conditions")) {
            auto named = condition.as_object();
            named["group"] = base::get_string(group, "name");
            conditions.push_back(std::move(named));
        }
    }
    if (base::get_string(target.eks, "status") == "ACTIVE") {
        CO_CHECK_OK(co_await add_kubernetes_side(call, target, row, conditions));
    }
    row["conditions"] = std::move(conditions);
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary = "Cluster " + target.ref.name + ": EKS " + base::get_string(target.eks, "status") +
                     ", HyperPod " + base::get_string(target.hyperpod, "ClusterStatus", "none") + ", " +
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
