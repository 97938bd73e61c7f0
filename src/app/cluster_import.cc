// cluster.import: takes an existing EKS cluster in, with its HyperPod cluster where it has one.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "domain/names.h"

namespace instantstart::app {

namespace {

struct ClusterImport {
    std::string eks_cluster_name;
    std::optional<std::string> hyperpod_cluster_name;
    std::optional<std::string> name;
};
BOOST_DESCRIBE_STRUCT(ClusterImport, (), (eks_cluster_name, hyperpod_cluster_name, name))

Task<std::string> free_name(Call call, ClusterImport input) {
    const auto name = input.name.value_or(input.eks_cluster_name);
    auto legal = domain::check_cluster_name(name, input.name ? "/name" : "/eks_cluster_name");
    if (!legal) {
        co_return std::move(legal).error().with_hint("Give `name`, by which the cluster is known here.");
    }
    auto found = co_await call.services->clusters.find(call.context, name);
    if (found && !(found->imported && found->eks_name == input.eks_cluster_name)) {
        co_return base::conflict_error("already_exists", "a cluster \"" + name + "\" is known already");
    }
    co_return name;
}

Task<Plan> plan(Call call, ClusterImport input) {
    CO_TRY(const auto name, co_await free_name(call, input));
    auto eks = co_await call.services->clusters.eks(call.context, input.eks_cluster_name);
    if (!eks) {
        if (eks.error().kind != base::ErrorKind::not_found) co_return std::move(eks).error();
        co_return faults_error({fault("/eks_cluster_name", "is no EKS cluster of this region")});
    }
    Target target;
    target.ref.name = name;
    target.ref.eks_name = input.eks_cluster_name;
    target.ref.hyperpod_name = input.hyperpod_cluster_name.value_or("");
    target.ref.imported = true;
    target.eks = *eks;
    CO_TRY(target.hyperpod, co_await call.services->clusters.hyperpod(call.context, target.ref));
    if (input.hyperpod_cluster_name &&
        base::get_string(target.hyperpod, "ClusterName") != *input.hyperpod_cluster_name) {
        co_return faults_error(
            {fault("/hyperpod_cluster_name", "is no HyperPod cluster orchestrated by that EKS cluster")});
    }
    CO_CHECK_OK(co_await check_own_role(call));
    CO_TRY(auto params, co_await base_params(call, target));
    Plan made;
    made.resource = "cluster/" + name;
    made.covers_children = true;
    made.flow = "cluster_import";
    made.flow_params = std::move(params);
    made.changes.push_back("an access entry with cluster administration for this product's role");
    if (base::get_string(target.eks, "accessConfig.authenticationMode", "CONFIG_MAP") == "CONFIG_MAP") {
        made.removes.emplace_back(
            "the access mode CONFIG_MAP: it becomes API_AND_CONFIG_MAP, which cannot be taken back");
        made.confirm_value = input.eks_cluster_name;
    }
    co_return made;
}

}  // namespace

std::unique_ptr<Operation> make_cluster_import() {
    Meta meta;
    meta.id = "cluster.import";
    meta.method = "POST";
    meta.path = "/clusters/import";
    meta.summary =
        "Take an existing EKS cluster in, with its HyperPod cluster where it has one; asks before it changes "
        "the access mode for good.";
    meta.removes = Removes::by_plan;
    meta.role = Role::admin;
    meta.area = "cluster";
    meta.creates_cluster = true;
    meta.default_tool = false;
    meta.shows_result = "cluster.get";
    meta.uses = {"eks:DescribeCluster",    "eks:UpdateClusterConfig",          "eks:DescribeAccessEntry",
                 "eks:CreateAccessEntry",  "eks:ListAssociatedAccessPolicies", "eks:AssociateAccessPolicy",
                 "sagemaker:ListClusters", "sagemaker:DescribeCluster",        "iam:GetRole",
                 "sts:GetCallerIdentity"};
    std::vector<Field> fields{
        Field("eks_cluster_name", "Name of the EKS cluster.").length(1, 100).like("research"),
        Field("hyperpod_cluster_name", "Name of its HyperPod cluster, where that cannot be found out.")
            .length(1, 63)
            .like("research"),
        Field("name", "Name by which the cluster is known here; the EKS cluster's where left out.")
            .matches(std::string(domain::kClusterNamePattern))
            .like("research")};
    return make_long_running<ClusterImport>(std::move(meta), std::move(fields), &plan);
}

}  // namespace instantstart::app
