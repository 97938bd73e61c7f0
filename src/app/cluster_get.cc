// cluster.get: everything that is known of a cluster, in one answer. Pages and agents ask it again and again,
// so an answer serves for two seconds, unless an operation on the cluster has moved since.
#include <map>
#include <memory>

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

struct View {
    base::Duration made{};
    std::string moved;  // the newest operation on the cluster and when it changed last
    Answer answer;
};
// By cluster. Owned by the operation, used on its loop only.
using Views = std::map<std::string, View>;

constexpr auto kFresh = std::chrono::seconds(2);
constexpr std::size_t kMostViews = 1000;

Task<std::string> last_move(Call call, std::string cluster) {
    ops::Engine::ListQuery query;
    query.resource_prefix = "cluster/" + cluster;
    query.limit = 1;
    CO_TRY(auto page, co_await call.services->engine.list(call.context, std::move(query)));
    if (page.operations.empty()) co_return std::string();
    const auto& newest = page.operations.front();
    co_return base::get_string(newest, "id") + base::get_string(newest, "state") +
        base::get_string(newest, "updated_at");
}

Task<Answer> look(Call call, std::string cluster) {
    CO_TRY(auto target, co_await find_target(call, cluster));
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

Task<Answer> run(Call call, ClusterGet input, std::shared_ptr<Views> views) {
    CO_TRY(auto moved, co_await last_move(call, input.cluster));
    const auto now = call.services->clock.monotonic();
    const auto kept = views->find(input.cluster);
    if (kept != views->end() && kept->second.moved == moved && now - kept->second.made < kFresh) {
        co_return kept->second.answer;
    }
    CO_TRY(auto answer, co_await look(call, input.cluster));
    if (views->size() >= kMostViews) views->clear();
    View& view = (*views)[input.cluster];
    view.made = now;
    view.moved = std::move(moved);
    view.answer = answer;
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
    const auto views = std::make_shared<Views>();
    auto asked = [views](Call call, ClusterGet input) {
        return run(std::move(call), std::move(input), views);
    };
    return make_query<ClusterGet>(std::move(meta), {cluster_field()}, std::move(asked));
}

}  // namespace instantstart::app
