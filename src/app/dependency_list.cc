// dependency.list: the components that HyperPod needs in the cluster, as they are.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "flows/components.h"

namespace instantstart::app {

namespace {

struct DependencyList {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(DependencyList, (), (cluster))

Task<Answer> run(Call call, DependencyList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto rows, co_await flows::dependency_rows(call.services->clusters, call.context, target.ref,
                                                      flows::wanted_components(target.hyperpod)));
    std::int64_t healthy = 0, unknown = 0;
    for (const auto& row : rows) {
        healthy += base::get_bool(row, "healthy") ? 1 : 0;
        unknown += base::get_string(row, "state") == "unknown" ? 1 : 0;
    }
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary = std::to_string(healthy) + " of " + std::to_string(rows.size()) + " components healthy" +
                     (unknown == 0 ? "." : ", " + std::to_string(unknown) + " could not be seen.");
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["dependencies"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_dependency_list() {
    Meta meta;
    meta.id = "dependency.list";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/dependencies";
    meta.summary =
        "The components that HyperPod needs inside the cluster: wanted, actual, version and health of each.";
    meta.area = "cluster";
    meta.uses = {"eks:DescribeCluster", "eks:DescribeAddon", "sagemaker:DescribeCluster",
                 "sagemaker:ListClusters"};
    return make_query<DependencyList>(std::move(meta), {cluster_field()}, &run);
}

}  // namespace instantstart::app
