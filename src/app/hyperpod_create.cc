// hyperpod.create: the HyperPod cluster on an EKS cluster, with its groups and usable nodes.
#include <algorithm>

#include "app/domain_makers.h"
#include "app/group_planning.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"

namespace instantstart::app {

namespace {

struct HyperpodCreate {
    HyperpodCreate() = default;
    std::string cluster;
    std::optional<std::string> name;
    std::vector<domain::InstanceGroup> instance_groups;
    std::string node_recovery = "automatic";
};
BOOST_DESCRIBE_STRUCT(HyperpodCreate, (), (cluster, name, instance_groups, node_recovery))

Task<Plan> plan(Call call, HyperpodCreate input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    if (!target.hyperpod.empty()) {
        co_return base::conflict_error("already_exists",
                                       "EKS cluster " + target.ref.eks_name + " has the HyperPod cluster " +
                                           base::get_string(target.hyperpod, "ClusterName") + " already")
            .with_hint("Add groups with instance_group.add; one EKS cluster holds one HyperPod cluster.");
    }
    CO_TRY(auto params, co_await base_params(call, target));
    params["hyperpod_name"] = input.name.value_or(target.ref.name);
    params["node_recovery"] = input.node_recovery;
    CO_CHECK_OK(co_await add_cluster_settings(call, target, params));
    GroupRequest request;
    request.groups = input.instance_groups;
    request.cluster = target.ref.name;
    request.pods.whole_cluster = !target.ref.imported;  // another's cluster may have nodes of its own
    CO_TRY(auto found, co_await check_instance_groups(call, request));
    const bool subnets = std::any_of(input.instance_groups.begin(), input.instance_groups.end(),
                                     [](const auto& group) { return !group.subnet_id; });
    if (subnets)
        CO_CHECK_OK(
            co_await check_way_out(call, base::get_string(target.eks, "resourcesVpcConfig.vpcId"), found));
    CO_CHECK_OK(co_await check_service_roles(call, hyperpod_roles(), found));
    put_groups(params, input.instance_groups, JsonObject{});
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/hyperpod";
    made.covers_children = true;
    made.flow = "hyperpod_create";
    made.creates.push_back("HyperPod cluster " + base::get_string(params, "hyperpod_name"));
    for (const auto& sentence : group_sentences(input.instance_groups)) made.creates.push_back(sentence);
    if (input.node_recovery == "none")
        made.warnings.emplace_back("without automatic recovery broken nodes are only labelled");
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_hyperpod_create() {
    Meta meta;
    meta.id = "hyperpod.create";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/hyperpod";
    meta.summary =
        "Create the HyperPod cluster of an EKS cluster with its instance groups; done once every node is "
        "ready with all its accelerators.";
    meta.role = Role::operator_role;
    meta.area = "cluster";
    meta.shows_result = "hyperpod.get";
    meta.uses = used_by_hyperpod();
    std::vector<Field> own{
        cluster_field(),
        Field("name", "Name of the HyperPod cluster; the cluster's where left out.")
            .matches("^[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}$")
            .like("demo"),
        Field("node_recovery", "Whether HyperPod reboots or replaces broken nodes by itself.")
            .one_of({"automatic", "none"})
            .defaults("automatic")
            .like("automatic")};
    return make_long_running<HyperpodCreate>(
        std::move(meta), joined({std::move(own), group_fields("instance_groups.")}), &plan);
}

}  // namespace instantstart::app
