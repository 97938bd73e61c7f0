// cluster.list: the clusters that were made here or imported.
#include "app/active.h"
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct ClusterList {};
BOOST_DESCRIBE_STRUCT(ClusterList, (), ())

Task<Answer> run(Call call, ClusterList) {
    auto& clusters = call.services->clusters;
    CO_TRY(auto refs, co_await clusters.list(call.context));
    CO_TRY(const auto active,
           co_await active_cluster(call.context, call.services->store, call.caller.principal));
    JsonArray rows;
    for (const auto& ref : refs) {
        JsonObject row{{"name", ref.name}, {"imported", ref.imported}, {"active", ref.name == active}};
        auto eks = co_await clusters.eks(call.context, ref.eks_name);
        if (eks) {
            row["status"] = base::get_string(*eks, "status");
            row["kubernetes_version"] = base::get_string(*eks, "version");
            row["created_at"] = base::get_string(*eks, "createdAt");
            auto hyperpod = co_await clusters.hyperpod(call.context, ref);
            if (hyperpod) {
                row["hyperpod_status"] = base::get_string(*hyperpod, "ClusterStatus");
                row["instance_groups"] =
                    static_cast<std::int64_t>(base::get_array(*hyperpod, "InstanceGroups").size());
            }
        } else {
            row["status"] = eks.error().kind == base::ErrorKind::not_found ? "GONE" : "UNKNOWN";
        }
        rows.push_back(std::move(row));
    }
    Answer answer;
    answer.summary = std::to_string(rows.size()) + " clusters.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["clusters"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_cluster_list() {
    Meta meta;
    meta.id = "cluster.list";
    meta.method = "GET";
    meta.path = "/clusters";
    meta.summary = "The clusters that were made here or imported, with their state and which one is active.";
    meta.area = "start";
    meta.uses = {"eks:ListClusters", "eks:DescribeCluster", "sagemaker:DescribeCluster",
                 "sagemaker:ListClusters"};
    return make_query<ClusterList>(std::move(meta), {}, &run);
}

}  // namespace instantstart::app
