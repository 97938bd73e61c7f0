// cluster.delete: everything that carries the cluster's tags, in the order in which AWS lets it go.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "domain/names.h"
#include "flows/features/desired.h"
#include "flows/features/mlflow.h"
#include "flows/features/prometheus.h"

namespace instantstart::app {

namespace {

struct ClusterDelete {
    std::string cluster;
    std::optional<bool> delete_buckets;
};
BOOST_DESCRIBE_STRUCT(ClusterDelete, (), (cluster, delete_buckets))

// The newest operation on the cluster or what lies under it, {} where there was none.
Task<JsonObject> newest_operation(Call call, std::string name) {
    ops::Engine::ListQuery query;
    query.resource_prefix = "cluster/" + name;
    query.limit = 1;
    CO_TRY(auto newest, co_await call.services->engine.list(call.context, std::move(query)));
    if (newest.operations.empty()) co_return JsonObject{};
    co_return std::move(newest.operations.front());
}

// Where EKS is gone already, or never came, what is left of the cluster is still found by its tags: a VPC
// says so, and where a creation or deletion ended before its time there may be roles and a bucket alone.
Task<bool> has_leftovers(Call call, std::string name) {
    CO_TRY(const auto newest, co_await newest_operation(call, name));
    const auto state = base::get_string(newest, "state");
    if (state == "failed" || state == "cancelled") co_return true;
    JsonObject parameters{{"Filters", JsonArray{JsonObject{{"Name", "tag:instantstart:cluster"},
                                                           {"Values", JsonArray{JsonValue(name)}}}}}};
    CO_TRY(auto vpcs,
           co_await call.services->aws.collect(call.context, "ec2", "DescribeVpcs", std::move(parameters)));
    co_return !vpcs.empty();
}

Task<Target> target_or_leftovers(Call call, std::string name) {
    auto target = co_await find_target(call, name);
    if (target || target.error().kind != base::ErrorKind::not_found) co_return target;
    CO_TRY(const bool leftovers, co_await has_leftovers(call, name));
    if (!leftovers) co_return target;
    Target left;
    left.ref.name = left.ref.eks_name = name;
    co_return left;
}

std::vector<std::string> losses(const Target& target, bool with_buckets) {
    std::vector<std::string> list;
    if (!target.hyperpod.empty()) {
        list.push_back("HyperPod cluster " + base::get_string(target.hyperpod, "ClusterName"));
        for (const auto& group : base::get_array(target.hyperpod, "InstanceGroups")) {
            list.push_back("instance group " + base::get_string(group, "InstanceGroupName") + " with " +
                           std::to_string(base::get_int(group, "CurrentCount")) + " nodes and their volumes");
        }
    }
    if (target.ref.imported) {
        list.push_back("the registration of the imported EKS cluster " + target.ref.eks_name +
                       " (the cluster itself stays)");
    } else {
        list.push_back("EKS cluster " + target.ref.eks_name + " and all that runs in it");
        list.emplace_back("its VPC with gateways, subnets and security groups, where they were made here");
        list.emplace_back("its roles and OIDC provider");
    }
    list.emplace_back(with_buckets ? "its bucket with all data"
                                   : "its bucket where that holds only our own objects");
    return list;
}

// The VPC of the cluster where it carries no tag of ours: then it was given, and stays.
Task<std::string> given_vpc(Call call, Target target) {
    const auto id = base::get_string(target.eks, "resourcesVpcConfig.vpcId");
    if (id.empty() || target.ref.imported) co_return std::string();
    JsonObject parameters{{"VpcIds", JsonArray{JsonValue(id)}}};
    CO_TRY(auto vpcs,
           co_await call.services->aws.collect(call.context, "ec2", "DescribeVpcs", std::move(parameters)));
    const auto* tags = vpcs.empty() ? nullptr : base::find_path(vpcs.front(), "Tags");
    const bool ours = tags != nullptr && domain::tag_of(*tags, domain::kTagCluster) == target.ref.name;
    co_return ours ? std::string() : id;
}

// What features had AWS keep beside the cluster, by name. A region may have no Prometheus: then its name
// cannot be resolved, and the deletion goes on without it.
Task<std::vector<std::string>> managed_losses(Call call, JsonObject& params) {
    flows::StepCall look;
    look.context = call.context;
    look.params = params;
    auto& clusters = call.services->clusters;
    std::vector<std::string> list;
    CO_TRY(auto mlflow, co_await flows::mlflow_made(clusters, look));
    for (const auto& row : mlflow) {
        const bool server = base::get_string(row, "kind") == "tracking_server";
        list.push_back((server ? "MLflow tracking server " : "MLflow app ") +
                       domain::clean_text(base::get_string(row, "name"), 200) +
                       " with all experiments, runs and registered models");
    }
    auto workspaces = co_await flows::workspaces_made(clusters, look);
    if (!workspaces && workspaces.error().code == "dns") {
        params["prometheus_unseen"] =
            "Prometheus workspaces could not be looked up: " + workspaces.error().message;
        co_return list;
    }
    CO_TRY(auto rows, std::move(workspaces));
    for (const auto& row : rows)
        list.push_back("Prometheus workspace " + base::get_string(row, "id") + " with all its metrics");
    co_return list;
}

// The workspace that observability was told to write into; it stays.
Task<std::string> given_workspace(Call call, std::string cluster) {
    CO_TRY(auto desired, co_await flows::desired_features(call.services->clusters, call.context, cluster));
    if (!base::get_bool(desired, "observability.enabled")) co_return std::string();
    co_return base::get_string(desired, "observability.workspace_arn");
}

Task<Plan> plan(Call call, ClusterDelete input) {
    CO_TRY(auto target, co_await target_or_leftovers(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    const bool buckets = input.delete_buckets.value_or(false);
    params["delete_buckets"] = buckets;
    CO_TRY(const auto newest, co_await newest_operation(call, target.ref.name));
    if (const auto ended = base::get_string(newest, "ended_at"); !ended.empty())
        params["last_operation_ended"] = ended;
    CO_TRY(const auto vpc, co_await given_vpc(call, target));
    if (!vpc.empty()) params["kept_vpc"] = vpc;
    CO_TRY(const auto workspace, co_await given_workspace(call, target.ref.name));
    if (!workspace.empty()) params["kept_workspace"] = workspace;
    auto removes = losses(target, buckets);
    CO_TRY(auto managed, co_await managed_losses(call, params));
    removes.insert(removes.end(), managed.begin(), managed.end());
    Plan made;
    made.resource = "cluster/" + target.ref.name;
    made.covers_children = true;
    made.flow = "cluster_delete";
    made.removes = std::move(removes);
    made.confirm_value = input.cluster;
    made.warnings.emplace_back("CloudWatch log groups are kept");
    if (!workspace.empty())
        made.warnings.push_back("Prometheus workspace " + workspace + " is kept: it was given");
    if (const auto unseen = base::get_string(params, "prometheus_unseen"); !unseen.empty())
        made.warnings.push_back(unseen);
    made.flow_params = std::move(params);
    co_return made;
}

}  // namespace

std::unique_ptr<Operation> make_cluster_delete() {
    Meta meta;
    meta.id = "cluster.delete";
    meta.method = "DELETE";
    meta.path = "/clusters/{cluster}";
    meta.summary =
        "Delete a cluster with everything that was made for it; buckets with data, log groups and imported "
        "networks stay and are named.";
    meta.removes = Removes::always;
    meta.role = Role::admin;
    meta.area = "cluster";
    meta.shows_result = "cluster.list";
    meta.uses = used_by_cluster_delete();
    return make_long_running<ClusterDelete>(
        std::move(meta),
        {cluster_field(),
         Field("delete_buckets", "Also delete the cluster's bucket with the data in it.").like(false)},
        &plan);
}

}  // namespace instantstart::app
