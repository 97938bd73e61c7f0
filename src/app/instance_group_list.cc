// instance_group.list: the groups of a HyperPod cluster.
#include "app/cluster_facts.h"
#include "app/domain_makers.h"
#include "app/group_standing.h"
#include "app/typed_operation.h"
#include "flows/node_classes.h"

namespace instantstart::app {

namespace {

struct InstanceGroupList {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(InstanceGroupList, (), (cluster))

// SageMaker says the subnet only; the zone is the subnet's.
Task<void> add_zones(Call call, JsonArray& rows) {
    JsonArray ids;
    for (const auto& row : rows) {
        const auto subnet = base::get_string(row, "subnet_id");
        if (!subnet.empty()) ids.emplace_back(subnet);
    }
    if (ids.empty()) co_return base::ok();
    JsonObject parameters{{"SubnetIds", std::move(ids)}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (!subnets) co_return base::ok();
    for (auto& row : rows) {
        for (const auto& subnet : *subnets) {
            if (base::get_string(subnet, "SubnetId") != base::get_string(row, "subnet_id")) continue;
            row.as_object()["zone"] = base::get_string(subnet, "AvailabilityZone");
        }
    }
    co_return base::ok();
}

// What a group was made with, beyond what cluster.get shows of it too.
void add_settings(const JsonObject& hyperpod, JsonArray& rows) {
    const auto& groups = base::get_array(hyperpod, "InstanceGroups");
    for (std::size_t index = 0; index < rows.size() && index < groups.size(); ++index) {
        const auto& details = groups[index];
        const auto group = group_of(details.as_object(), "");
        auto& row = rows[index].as_object();
        if (group.interface_type) row["interface_type"] = *group.interface_type;
        if (group.volume_size_gib) row["volume_size_gib"] = *group.volume_size_gib;
        if (group.threads_per_core) row["threads_per_core"] = *group.threads_per_core;
        if (group.autoscaled.value_or(false)) row["autoscaled"] = true;
        row["taints"] = to_json(group).at("taints");
        row["lifecycle_script"] = group.lifecycle_script.value_or("");
        row["training_plan_status"] = base::get_string(details, "TrainingPlanStatus");
        row["software"] = JsonObject{{"current", base::get_string(details, "CurrentImageId")},
                                     {"desired", base::get_string(details, "DesiredImageId")},
                                     {"status", base::get_string(details, "ImageVersionStatus")},
                                     {"update", base::get_string(details, "SoftwareUpdateStatus")}};
    }
}

// Which classes name a group, so that its count is not its owner's: only a cluster with managed autoscaling
// has any. The answer does not wait long for an API server.
Task<void> add_node_classes(Call call, Target target, JsonArray& rows, Answer& answer) {
    constexpr base::Duration kPatience = std::chrono::seconds(5);
    if (base::get_string(target.hyperpod, "AutoScaling.Mode") != "Enable") co_return base::ok();
    auto context = call.context.with_deadline(call.services->clock.monotonic() + kPatience);
    auto managed = co_await flows::managed_groups(call.services->clusters, context, target.ref.eks_name);
    if (!managed) {
        if (managed.error().kind == base::ErrorKind::cancelled) co_return std::move(managed).error();
        answer.warnings.push_back("could not see which groups HyperpodNodeClasses name: " +
                                  managed.error().message);
        co_return base::ok();
    }
    for (auto& item : rows) {
        auto& row = item.as_object();
        const auto found = managed->find(base::get_string(row, "name"));
        if (found == managed->end()) continue;
        JsonArray names;
        for (const auto& name : found->second) names.emplace_back(name);
        row["node_classes"] = std::move(names);
    }
    co_return base::ok();
}

Task<Answer> run(Call call, InstanceGroupList input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    auto rows = group_rows(target.hyperpod);
    add_settings(target.hyperpod, rows);
    CO_CHECK_OK(co_await add_capacity_conditions(call, target.hyperpod, rows));
    CO_CHECK_OK(co_await add_zones(call, rows));
    Answer answer;
    CO_CHECK_OK(co_await add_node_classes(call, target, rows, answer));
    answer.cluster = target.ref.name;
    answer.summary = std::to_string(rows.size()) + " instance groups.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["instance_groups"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_instance_group_list() {
    Meta meta;
    meta.id = "instance_group.list";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/instance-groups";
    meta.summary =
        "The instance groups of a cluster: type, target and current count, zone, capacity and conditions.";
    meta.area = "instance_groups";
    meta.uses = {"eks:DescribeCluster", "sagemaker:DescribeCluster", "sagemaker:ListClusters",
                 "sagemaker:ListClusterEvents", "ec2:DescribeSubnets"};
    return make_query<InstanceGroupList>(std::move(meta), {cluster_field()}, &run);
}

}  // namespace instantstart::app
