// hyperpod.get: the HyperPod cluster with its groups.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct HyperpodGet {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(HyperpodGet, (), (cluster))

Task<Answer> run(Call call, HyperpodGet input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    if (target.hyperpod.empty()) {
        co_return base::not_found_error("HyperPod cluster of " + target.ref.name)
            .with_hint("Create it with hyperpod.create.");
    }
    auto row = hyperpod_row(target.hyperpod);
    row["instance_groups"] = group_rows(target.hyperpod);
    Answer answer;
    answer.cluster = target.ref.name;
    answer.summary =
        "HyperPod cluster " + base::get_string(row, "name") + " is " + base::get_string(row, "status") + ".";
    answer.body["hyperpod"] = std::move(row);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_hyperpod_get() {
    Meta meta;
    meta.id = "hyperpod.get";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/hyperpod";
    meta.summary = "The HyperPod cluster of a cluster: status, recovery, and its instance groups.";
    meta.area = "cluster";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters"};
    return make_query<HyperpodGet>(std::move(meta), {cluster_field()}, &run);
}

}  // namespace instantstart::app
