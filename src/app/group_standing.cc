#include "app/group_standing.h"

#include "app/schema.h"
#include "base/text.h"
#include "flows/hyperpod_steps.h"
#include "flows/node_classes.h"

namespace instantstart::app {

namespace {

std::vector<std::string> texts(const JsonArray& list) {
    std::vector<std::string> made;
    for (const auto& item : list) {
        if (item.is_string()) made.emplace_back(item.as_string());
    }
    return made;
}

domain::Capacity capacity_of(const JsonObject& details) {
    domain::Capacity capacity;
    const auto plan = base::get_string(details, "TrainingPlanArn");
    if (base::find_path(details, "CapacityRequirements.Spot") != nullptr) capacity.type = "spot";
    if (!plan.empty()) {
        capacity.type = "training_plan";
        capacity.training_plan_arn = plan;
    }
    return capacity;
}

void put_kubernetes(const JsonObject& details, domain::InstanceGroup& group) {
    group.labels.emplace();
    for (const auto& [key, value] : base::get_object(details, "KubernetesConfig.DesiredLabels")) {
        if (key == domain::kAutoscaledLabel) {
            group.autoscaled = true;
        } else if (value.is_string()) {
            (*group.labels)[std::string(key)] = std::string(value.as_string());
        }
    }
    group.taints.emplace();
    for (const auto& row : base::get_array(details, "KubernetesConfig.DesiredTaints")) {
        domain::Taint taint;
        taint.key = base::get_string(row, "Key");
        taint.effect = base::get_string(row, "Effect");
        if (const auto value = base::get_string(row, "Value"); !value.empty()) taint.value = value;
        group.taints->push_back(std::move(taint));
    }
}

// The zone of the group's first subnet; "" where EC2 does not say.
Task<std::string> zone_of(Call call, std::string subnet, Findings& found) {
    if (subnet.empty()) co_return std::string();
    JsonObject parameters{{"SubnetIds", JsonArray{JsonValue(subnet)}}};
    auto subnets =
        co_await call.services->aws.collect(call.context, "ec2", "DescribeSubnets", std::move(parameters));
    if (subnets && !subnets->empty()) co_return base::get_string(subnets->front(), "AvailabilityZone");
    if (!subnets && subnets.error().kind == base::ErrorKind::cancelled) co_return std::move(subnets).error();
    found.warnings.push_back("could not see the zone of subnet " + subnet +
                             (subnets ? std::string() : ": " + subnets.error().message));
    co_return std::string();
}

Task<void> add_classes(Call call, Target target, GroupStanding& standing, Findings& found) {
    auto managed = co_await flows::managed_groups(call.services->clusters, call.context, target.ref.eks_name);
    if (managed) {
        standing.classes = (*managed)[standing.group.name];
        co_return base::ok();
    }
    const bool scaled = base::get_string(target.hyperpod, "AutoScaling.Mode") == "Enable";
    if (managed.error().kind == base::ErrorKind::cancelled || scaled) co_return std::move(managed).error();
    found.warnings.push_back("could not see whether a HyperpodNodeClass names the group: " +
                             managed.error().message);
    co_return base::ok();
}

}  // namespace

domain::InstanceGroup group_of(const JsonObject& details, std::string zone) {
    domain::InstanceGroup group;
    group.name = base::get_string(details, "InstanceGroupName");
    const auto types = texts(base::get_array(details, "InstanceRequirements.DesiredInstanceTypes"));
    if (types.empty()) {
        group.instance_type = base::get_string(details, "InstanceType");
    } else {
        group.instance_types = types;
    }
    group.count = base::get_int(details, "TargetCount");
    group.zone = std::move(zone);
    if (const auto least = base::get_int(details, "MinCount"); least > 0) group.min_count = least;
    group.capacity = capacity_of(details);
    if (const auto mode = base::get_string(details, "NetworkInterface.InterfaceType"); !mode.empty())
        group.interface_type = mode;
    for (const auto& storage : base::get_array(details, "InstanceStorageConfigs")) {
        const auto size = base::get_int(storage, "EbsVolumeConfig.VolumeSizeInGB");
        if (size > 0) group.volume_size_gib = size;
    }
    if (const auto threads = base::get_int(details, "ThreadsPerCore"); threads > 0)
        group.threads_per_core = threads;
    group.deep_health_checks = texts(base::get_array(details, "OnStartDeepHealthChecks"));
    put_kubernetes(details, group);
    const auto subnets = texts(base::get_array(details, "OverrideVpcConfig.Subnets"));
    if (!subnets.empty()) group.subnet_id = subnets.front();
    auto script = base::get_string(details, "LifeCycleConfig.SourceS3Uri");
    if (!script.empty() && !script.ends_with('/')) script += '/';
    if (!script.empty())
        group.lifecycle_script = script + base::get_string(details, "LifeCycleConfig.OnCreate");
    return group;
}

Task<GroupStanding> find_group(Call call, Target target, std::string name, Findings& found) {
    if (target.hyperpod.empty()) {
        co_return base::conflict_error("no_hyperpod",
                                       "cluster " + target.ref.name + " has no HyperPod cluster yet")
            .with_hint("Create it with hyperpod.create.");
    }
    GroupStanding standing;
    const auto* details = flows::group_in(target.hyperpod, name);
    if (details == nullptr) {
        std::vector<std::string> names;
        for (const auto& group : base::get_array(target.hyperpod, "InstanceGroups"))
            names.push_back(base::get_string(group, "InstanceGroupName"));
        const auto near = base::nearest(name, names);
        co_return base::not_found_error("instance group \"" + name + "\"")
            .with_hint(near.empty() ? "instance_group.list names the groups." : "Is " + near + " meant?");
    }
    standing.details = *details;
    const auto subnets = texts(base::get_array(standing.details, "OverrideVpcConfig.Subnets"));
    const auto subnet = subnets.empty() ? std::string() : subnets.front();
    CO_TRY(auto zone, co_await zone_of(call, subnet, found));
    standing.group = group_of(standing.details, std::move(zone));
    CO_CHECK_OK(co_await add_classes(call, target, standing, found));
    if (!standing.classes.empty()) standing.group.autoscaled = true;
    co_return standing;
}

void warn_of_waiting(Findings& found) {
    found.warnings.emplace_back(
        "the group stays at 0 nodes until feature.update autoscaling takes it into the HyperpodNodeClass");
}

base::Result<void> check_provisioning(const JsonObject& hyperpod, domain::Properties properties) {
    if (base::get_string(hyperpod, "NodeProvisioningMode") == "Continuous") return base::ok();
    // Only what needs continuous provisioning is asked about here: the rest was before.
    domain::Properties asked{{"classic", ""}};
    for (const char* property : {"spot", "minimum", "flexible", "autoscaled"}) {
        if (const auto found = properties.find(property); found != properties.end()) asked.insert(*found);
    }
    auto pairs = domain::excluded(asked, "");
    if (pairs.empty()) return base::ok();
    auto error = base::conflict_error("needs_continuous_provisioning", pairs.front().message)
                     .with_hint(
                         "Ask without it, or make a HyperPod cluster with continuous provisioning: "
                         "hyperpod.create does.");
    error.fields = std::move(pairs);
    return error;
}

}  // namespace instantstart::app
