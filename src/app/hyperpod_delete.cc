// hyperpod.delete: the HyperPod cluster and its nodes; EKS, subnets, bucket and storage stay.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct HyperpodDelete {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(HyperpodDelete, (), (cluster))

Task<Plan> plan(Call call, HyperpodDelete input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    CO_TRY(auto params, co_await base_params(call, target));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/hyperpod";
    made.covers_children = true;
    made.flow = "hyperpod_delete";
    made.confirm_value = input.cluster;
    if (target.hyperpod.empty()) {
        made.no_change = true;
        made.no_change_result = JsonObject{{"cluster", target.ref.name}};
        co_return made;
    }
    made.removes.push_back("HyperPod cluster " + base::get_string(target.hyperpod, "ClusterName"));
    for (const auto& group : base::get_array(target.hyperpod, "InstanceGroups")) {
        made.removes.push_back("instance group " + base::get_string(group, "InstanceGroupName") + " with " +
                               std::to_string(base::get_int(group, "CurrentCount")) +
                               " nodes and their volumes");
    }
    made.removes.emplace_back("the nodes' role, where it was made here");
    made.flow_params = std::move(params);
    co_return made;
}

}  // namespace

std::unique_ptr<Operation> make_hyperpod_delete() {
    Meta meta;
    meta.id = "hyperpod.delete";
    meta.method = "DELETE";
    meta.path = "/clusters/{cluster}/hyperpod";
    meta.summary =
        "Delete the HyperPod cluster with all its nodes; the EKS cluster, its network, bucket and storage "
        "stay.";
    meta.removes = Removes::always;
    meta.role = Role::operator_role;
    meta.area = "cluster";
    meta.default_tool = false;
    meta.shows_result = "cluster.get";
    meta.uses = {"eks:DescribeCluster",
                 "sagemaker:DescribeCluster",
                 "sagemaker:DeleteCluster",
                 "sagemaker:ListClusters",
                 "iam:ListRoles",
                 "iam:ListRoleTags",
                 "iam:ListAttachedRolePolicies",
                 "iam:DetachRolePolicy",
                 "iam:ListRolePolicies",
                 "iam:DeleteRolePolicy",
                 "iam:ListInstanceProfilesForRole",
                 "iam:RemoveRoleFromInstanceProfile",
                 "iam:DeleteRole",
                 "iam:GetRole",
                 "sts:GetCallerIdentity"};
    return make_long_running<HyperpodDelete>(std::move(meta), {cluster_field()}, &plan);
}

}  // namespace instantstart::app
