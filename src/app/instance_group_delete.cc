// instance_group.delete: a group with all its nodes; its subnet and role stay for other groups.
#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/group_standing.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

struct InstanceGroupDelete {
    std::string cluster;
    std::string group;
};
BOOST_DESCRIBE_STRUCT(InstanceGroupDelete, (), (cluster, group))

// A class that names a group which is gone is not Ready any more: nothing of it is provisioned, for its other
// groups neither.
base::Result<void> check_classes(const GroupStanding& standing) {
    if (standing.classes.empty()) return base::ok();
    const auto names = base::join(standing.classes, ", ");
    return base::conflict_error("in_node_class", "HyperpodNodeClass " + names + " names instance group " +
                                                     standing.group.name +
                                                     ": without it the class would provision nothing")
        .with_hint("Take the group out of spec.instanceGroups of " + names +
                   " first (feature.update autoscaling with other instance_groups), then delete it.");
}

Task<Plan> plan(Call call, InstanceGroupDelete input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    Findings found;
    CO_TRY(auto standing, co_await find_group(call, target, input.group, found));
    CO_CHECK_OK(check_classes(standing));
    CO_TRY(auto params, co_await base_params(call, target));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/instance-group/" + input.group;
    made.covers_children = true;
    made.flow = "instance_group_delete";
    made.confirm_value = input.group;
    made.removes.push_back("instance group " + input.group + " with " +
                           std::to_string(base::get_int(standing.details, "CurrentCount")) +
                           " nodes, their root and extra volumes, and what runs on them");
    if (base::get_array(target.hyperpod, "InstanceGroups").size() == 1) {
        found.warnings.emplace_back(
            "it is the last group: add-ons and workloads have no HyperPod node any more");
    }
    params["group"] = input.group;
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_instance_group_delete() {
    Meta meta;
    meta.id = "instance_group.delete";
    meta.method = "DELETE";
    meta.path = "/clusters/{cluster}/instance-groups/{group}";
    meta.summary =
        "Delete an instance group with all its nodes and their volumes; subnet and role stay for other "
        "groups.";
    meta.role = Role::operator_role;
    meta.removes = Removes::always;
    meta.area = "instance_groups";
    meta.default_tool = false;
    meta.shows_result = "instance_group.list";
    meta.uses = used_by_group_change();
    return make_long_running<InstanceGroupDelete>(std::move(meta), {cluster_field(), group_field()}, &plan);
}

}  // namespace instantstart::app
