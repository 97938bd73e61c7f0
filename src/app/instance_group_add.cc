// instance_group.add: one more group in a HyperPod cluster, up to usable nodes.
#include "app/domain_makers.h"
#include "app/group_planning.h"
#include "app/group_standing.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "flows/features/elastic_jobs.h"

namespace instantstart::app {

namespace {

struct InstanceGroupAdd : domain::InstanceGroup {
    InstanceGroupAdd() = default;
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(InstanceGroupAdd, (domain::InstanceGroup), (cluster))

constexpr std::size_t kGroupsMost = 100;  // of a HyperPod cluster, by SageMaker's model

base::Result<void> check_room(const JsonObject& hyperpod, const std::string& name) {
    const auto& groups = base::get_array(hyperpod, "InstanceGroups");
    for (const auto& group : groups) {
        if (base::get_string(group, "InstanceGroupName") != name) continue;
        return base::conflict_error("already_exists", "an instance group \"" + name + "\" exists already")
            .with_hint("instance_group.update changes it; a new group needs another name.");
    }
    if (groups.size() < kGroupsMost) return base::ok();
    return base::conflict_error("too_many_groups", "the HyperPod cluster has " +
                                                       std::to_string(groups.size()) +
                                                       " instance groups, the most that there can be")
        .with_hint("Delete one that is not needed (instance_group.delete), or let a group grow.");
}

// Where a job's pods may go is the job's to say, so the group is no mistake by itself.
Task<void> warn_of_elastic_jobs(Call call, Target target, domain::InstanceGroup group, Findings& found) {
    if (!group.capacity || group.capacity->type != "spot") co_return base::ok();
    auto jobs = co_await flows::elastic_jobs(call.services->clusters, call.context, target.ref.eks_name);
    if (!jobs) {
        if (jobs.error().kind == base::ErrorKind::cancelled) co_return std::move(jobs).error();
        found.warnings.push_back("could not see whether elastic training runs, which excludes Spot: " +
                                 jobs.error().message);
        co_return base::ok();
    }
    if (jobs->empty()) co_return base::ok();
    const domain::Properties both{{"elastic_training", flows::elastic_words(*jobs)}, {"spot", ""}};
    for (const auto& pair : domain::excluded(both, "")) found.warnings.push_back(pair.message);
    co_return base::ok();
}

Task<Plan> plan(Call call, InstanceGroupAdd input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    const std::vector<domain::InstanceGroup> groups{static_cast<const domain::InstanceGroup&>(input)};
    GroupRequest request;
    request.groups = groups;
    request.at = "";
    request.cluster = target.ref.name;
    request.hyperpod = target.hyperpod;
    CO_TRY(auto found, co_await check_instance_groups(call, request));
    if (!found.faults.empty()) co_return faults_error(std::move(found.faults));
    if (target.hyperpod.empty()) {
        co_return base::conflict_error("no_hyperpod",
                                       "cluster " + target.ref.name + " has no HyperPod cluster yet")
            .with_hint("Create it with hyperpod.create.");
    }
    CO_CHECK_OK(check_provisioning(target.hyperpod, domain::properties_of(input)));
    CO_CHECK_OK(check_room(target.hyperpod, input.name));
    CO_CHECK_OK(co_await warn_of_elastic_jobs(call, target, input, found));
    if (input.autoscaled.value_or(false)) warn_of_waiting(found);
    if (!input.subnet_id)
        CO_CHECK_OK(
            co_await check_way_out(call, base::get_string(target.eks, "resourcesVpcConfig.vpcId"), found));
    CO_TRY(auto params, co_await base_params(call, target));
    CO_CHECK_OK(co_await add_cluster_settings(call, target, params));
    put_groups(params, groups, target.hyperpod);
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/instance-group/" + input.name;
    made.flow = "instance_group_add";
    made.creates = group_sentences(groups);
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

}  // namespace

std::unique_ptr<Operation> make_instance_group_add() {
    Meta meta;
    meta.id = "instance_group.add";
    meta.method = "POST";
    meta.path = "/clusters/{cluster}/instance-groups";
    meta.summary =
        "Add an instance group to a HyperPod cluster, with subnet and device plugins; done once its nodes "
        "are ready with all accelerators.";
    meta.role = Role::operator_role;
    meta.area = "instance_groups";
    meta.shows_result = "instance_group.list";
    meta.uses = used_by_hyperpod();
    return make_long_running<InstanceGroupAdd>(std::move(meta), joined({{cluster_field()}, group_fields("")}),
                                               &plan);
}

}  // namespace instantstart::app
