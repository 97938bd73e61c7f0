// cluster.activate: makes a cluster the caller's active one.
#include "app/active.h"
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct ClusterActivate {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(ClusterActivate, (), (cluster))

Task<Plan> plan(Call call, ClusterActivate input) {
    CO_TRY(auto ref, co_await call.services->clusters.find(call.context, input.cluster));
    Plan made;
    made.changes.push_back("the active cluster of " + call.caller.principal + " becomes " + ref.name);
    co_return made;
}

Task<Answer> run(Call call, ClusterActivate input) {
    CO_TRY(auto ref, co_await call.services->clusters.find(call.context, input.cluster));
    CO_CHECK_OK(co_await call.services->clusters.set_active(call.context, call.caller.principal, ref.name));
    Answer answer;
    answer.cluster = ref.name;
    answer.summary = "Active cluster: " + ref.name + ".";
    answer.body["cluster"] = JsonObject{{"name", ref.name}, {"active", true}};
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_cluster_activate() {
    Meta meta;
    meta.id = "cluster.activate";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/activate";
    meta.summary = "Make a cluster the active one of the caller, so that queries may leave its name out.";
    meta.role = Role::viewer;
    meta.area = "start";
    meta.uses = {"eks:DescribeCluster", "sts:GetCallerIdentity"};
    return make_mutation<ClusterActivate>(std::move(meta), {cluster_field()}, &plan, &run);
}

}  // namespace instantstart::app
