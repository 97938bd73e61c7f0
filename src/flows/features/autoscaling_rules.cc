#include "flows/features/autoscaling_rules.h"

#include <algorithm>
#include <regex>

#include "base/text.h"
#include "flows/features/karpenter.h"
#include "flows/features/manifests.h"
#include "flows/hyperpod_steps.h"
#include "flows/node_classes.h"

namespace instantstart::flows {

namespace {

using base::FieldError;
using domain::InstanceGroup;
using domain::Properties;

const std::vector<std::string> kLimits = {"nodes", "cpu", "memory", "nvidia.com/gpu",
                                          "aws.amazon.com/neuron"};
constexpr std::size_t kMostGroups = 10;  // of one HyperpodNodeClass
constexpr const char* kTooMany =
    "a HyperpodNodeClass takes 10 instance groups at most: name them in instance_groups";

FieldError fault(std::string pointer, std::string message) {
    FieldError made;
    made.pointer = std::move(pointer);
    made.message = std::move(message);
    return made;
}

// --- settings

// Kubernetes' quantities, as far as anybody writes them here: "512", "2Ti", 16.
bool is_quantity(const JsonValue& value) {
    if (value.is_int64()) return value.get_int64() >= 0;
    static const std::regex kQuantity("[0-9]+([.][0-9]+)?(m|k|M|G|T|P|Ki|Mi|Gi|Ti|Pi)?");
    return value.is_string() && std::regex_match(std::string(value.get_string()), kQuantity);
}

// "1h30m" → 5400; -1 for Never. The field's pattern was checked before.
std::int64_t seconds_of(const std::string& text) {
    if (text == "Never") return -1;
    std::int64_t all = 0, number = 0;
    for (const char c : text) {
        if (c >= '0' && c <= '9') {
            number = std::min<std::int64_t>(number * 10 + (c - '0'), 1'000'000);
            continue;
        }
        all += number * (c == 'h' ? 3600 : c == 'm' ? 60 : 1);
        number = 0;
    }
    return all;
}

// --- groups, of a request or of SageMaker's description

InstanceGroup group_of(const JsonObject& details) {
    InstanceGroup group;
    group.name = base::get_string(details, "InstanceGroupName");
    group.instance_types.emplace();
    for (const auto& type : base::get_array(details, "InstanceRequirements.DesiredInstanceTypes"))
        group.instance_types->emplace_back(type.as_string());
    if (group.instance_types->empty())
        group.instance_types->push_back(base::get_string(details, "InstanceType"));
    group.count = base::get_int(details, "TargetCount");
    if (const auto least = base::get_int(details, "MinCount"); least > 0) group.min_count = least;
    group.capacity.emplace();
    if (base::find_path(details, "CapacityRequirements.Spot") != nullptr) group.capacity->type = "spot";
    if (!base::get_string(details, "TrainingPlanArn").empty()) group.capacity->type = "training_plan";
    group.deep_health_checks.emplace();
    for (const auto& check : base::get_array(details, "OnStartDeepHealthChecks"))
        group.deep_health_checks->emplace_back(check.as_string());
    return group;
}

// Why HyperPod or Karpenter would refuse this group, or take its nodes away.
std::vector<FieldError> scaling_faults(const InstanceGroup& group) {
    auto properties = domain::properties_of(group);
    properties["autoscaled"] = "managed autoscaling of instance group " + group.name;
    return domain::excluded_by("autoscaled", properties, "");
}

// That Karpenter's wait fits the groups' capacity.
std::vector<FieldError> wait_faults(const std::vector<InstanceGroup>& scaled, const JsonObject& settings) {
    constexpr std::int64_t kLongest = 120;
    const auto wait = base::get_string(settings, "consolidate_after", kConsolidateAfter);
    const auto seconds = seconds_of(wait);
    if (seconds > 0 && seconds <= kLongest) return {};
    std::vector<std::string> names;
    for (const auto& group : scaled) {
        if (group.capacity && group.capacity->type == "spot") names.push_back(group.name);
    }
    if (names.empty()) return {};
    return domain::excluded({{"unfit_wait", "consolidate_after " + wait},
                             {"spot", "Spot capacity of instance group " + base::join(names, ", ")}},
                            "");
}

std::string no_system_group() {
    return domain::excluded({{"autoscaling", ""}, {"no_system_group", ""}}, "").front().message;
}

}  // namespace

std::vector<FieldError> autoscaling_faults(const JsonObject& settings) {
    std::vector<FieldError> found;
    for (const auto& [key, value] : base::get_object(settings, "limits")) {
        std::string name(key);
        const bool known = std::find(kLimits.begin(), kLimits.end(), name) != kLimits.end();
        if (known && is_quantity(value)) continue;
        // A slash stands in a pointer as ~1.
        if (const auto slash = name.find('/'); slash != std::string::npos) name.replace(slash, 1, "~1");
        found.push_back(fault("/limits/" + name, known ? "must be a quantity such as 16 or \"512Gi\""
                                                       : "is no resource that can be limited: give one of " +
                                                             base::join(kLimits, ", ")));
    }
    return found;
}

// --- a cluster that is only being made

namespace {

struct NamedGroups {
    NamedGroups() = default;
    std::vector<InstanceGroup> scaled;
    std::vector<FieldError> faults;
};

NamedGroups named_groups(const std::vector<InstanceGroup>& groups, const JsonArray& chosen) {
    NamedGroups found;
    std::vector<std::string> names;
    names.reserve(groups.size());
    for (const auto& group : groups) names.push_back(group.name);
    for (std::size_t index = 0; index < chosen.size(); ++index) {
        const auto pointer = "/instance_groups/" + std::to_string(index);
        const std::string name(chosen[index].as_string());
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) {
            found.faults.push_back(
                fault(pointer, "is no instance group of this request: name one that is, with count 0"));
            found.faults.back().did_you_mean = base::nearest(name, names);
            continue;
        }
        const auto& group = groups[static_cast<std::size_t>(at - names.begin())];
        found.scaled.push_back(group);
        // One that says autoscaled itself is judged as a group, by its own fields.
        if (group.autoscaled.value_or(false)) continue;
        for (auto& refused : scaling_faults(group)) {
            refused.pointer = pointer;
            found.faults.push_back(std::move(refused));
        }
    }
    return found;
}

}  // namespace

std::vector<FieldError> autoscaling_launch_faults(const std::vector<InstanceGroup>& groups,
                                                  const JsonObject& settings) {
    const auto& chosen = base::get_array(settings, "instance_groups");
    auto found = named_groups(groups, chosen);
    if (chosen.empty()) {
        for (const auto& group : groups) {
            if (group.autoscaled.value_or(false)) found.scaled.push_back(group);
        }
        if (found.scaled.empty()) {
            found.faults.push_back(fault("",
                                         "needs an instance group to scale: give one with autoscaled and "
                                         "count 0, or leave the feature out"));
        }
    }
    if (found.scaled.size() > kMostGroups) found.faults.push_back(fault("/instance_groups", kTooMany));
    for (auto& refused : wait_faults(found.scaled, settings)) found.faults.push_back(std::move(refused));
    const bool system = std::any_of(groups.begin(), groups.end(), [&found](const InstanceGroup& group) {
        return group.count > 0 &&
               std::none_of(found.scaled.begin(), found.scaled.end(),
                            [&group](const auto& each) { return each.name == group.name; });
    });
    if (!system) found.faults.push_back(fault("", no_system_group()));
    return std::move(found.faults);
}

// --- a cluster that runs

namespace {

std::vector<std::string> cluster_obstacles(const JsonObject& hyperpod) {
    std::vector<std::string> found;
    Properties properties{{"autoscaling", ""}};
    if (base::get_string(hyperpod, "NodeProvisioningMode") != "Continuous") properties["classic"] = "";
    if (base::get_string(hyperpod, "NodeRecovery", "Automatic") != "Automatic")
        properties["no_node_recovery"] = "";
    for (const auto& refused : domain::excluded(properties, "")) found.push_back(refused.message);
    return found;
}

// Karpenter brings a group that has nodes down to zero: only one that is a class's already may have some.
std::vector<std::string> group_obstacles(InstanceGroup group, bool is_managed) {
    std::vector<std::string> found;
    if (group.count > 0 && !is_managed) {
        found.push_back("instance group " + group.name +
                        " has nodes, which Karpenter would take away: bring it to 0 first, or add a group "
                        "with autoscaled and count 0");
    }
    group.count = 0;
    for (const auto& refused : scaling_faults(group)) found.push_back(refused.message);
    return found;
}

// Whoever keeps add-ons running must not be scaled to zero: a group that is not, or nodes that are not
// HyperPod's and there.
Task<bool> has_system_nodes(Clusters& env, StepCall call, JsonObject hyperpod,
                            std::vector<std::string> ours) {
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto name = base::get_string(group, "InstanceGroupName");
        const bool scaled = std::find(ours.begin(), ours.end(), name) != ours.end();
        if (!scaled && base::get_int(group, "TargetCount") > 0) co_return true;
    }
    const auto nodes = kube::known_resource("nodes");
    CHECK(nodes.has_value());
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    kube::ListOptions options;
    options.label_selector =
        "!sagemaker.amazonaws.com/instance-group-name,eks.amazonaws.com/compute-type!=fargate";
    CO_TRY(auto list, co_await client->list(call.context, *nodes, options));
    co_return !base::get_array(list, "items").empty();
}

// Karpenter of somebody else's may stay, as far as its kinds are those that HyperPod's works with.
Task<std::string> older_karpenter(Clusters& env, StepCall call) {
    const auto definitions = kube::known_resource("customresourcedefinitions.apiextensions.k8s.io");
    CHECK(definitions.has_value());
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    for (const char* name : {"nodepools.karpenter.sh", "nodeclaims.karpenter.sh"}) {
        auto live = co_await client->get(call.context, *definitions, "", name);
        if (!live && live.error().kind == base::ErrorKind::not_found) continue;
        CO_TRY(auto definition, std::move(live));
        std::vector<std::string> served;
        for (const auto& version : base::get_array(definition, "spec.versions")) {
            if (base::get_bool(version, "served")) served.push_back(base::get_string(version, "name"));
        }
        if (std::find(served.begin(), served.end(), "v1") != served.end()) continue;
        co_return "the cluster has a Karpenter of its own, whose kind " + std::string(name) + " is " +
            domain::clean_text(base::join(served, ", "), 100) +
            ", and managed autoscaling works beside v1 only: update that Karpenter to 1.0 or newer, or "
            "remove it with its kinds";
    }
    co_return std::string();
}

Task<std::vector<std::string>> rivals(Clusters& env, StepCall call) {
    std::vector<std::string> found;
    CO_TRY(auto karpenter, co_await older_karpenter(env, call));
    if (!karpenter.empty()) found.push_back(std::move(karpenter));
    CO_TRY(const auto scaler, co_await other_deployment(env, call, "/cluster-autoscaler"));
    if (!scaler.empty()) {
        found.push_back("the cluster has a Cluster Autoscaler, " + scaler +
                        ", which stumbles over HyperPod's nodes and fights managed autoscaling: remove it "
                        "first");
    }
    co_return found;
}

}  // namespace

Task<std::vector<std::string>> autoscaling_obstacles(Clusters& env, StepCall call) {
    CO_TRY(auto hyperpod, co_await describe_hyperpod(env, call));
    CO_TRY(auto managed, co_await managed_groups(env, call.context, eks_of(call)));
    auto found = cluster_obstacles(hyperpod);
    const auto settings = base::get_object(call.params, "desired.autoscaling");
    const auto names = groups_to_scale(hyperpod, base::get_array(settings, "instance_groups"));
    if (names.empty()) {
        found.emplace_back(
            "no instance group is there to scale: add one with autoscaled and count 0, or name some in "
            "instance_groups");
    }
    if (names.size() > kMostGroups) found.emplace_back(kTooMany);
    std::vector<InstanceGroup> scaled;
    for (const auto& name : names) {
        const auto* details = group_in(hyperpod, name);
        if (details == nullptr) {
            found.push_back("instance group " + name +
                            " does not exist, and a class that names it provisions nothing: add it, or "
                            "leave it out of instance_groups");
            continue;
        }
        scaled.push_back(group_of(*details));
        for (auto& why : group_obstacles(scaled.back(), managed.contains(name)))
            found.push_back(std::move(why));
    }
    for (const auto& refused : wait_faults(scaled, settings)) found.push_back(refused.message);
    CO_TRY(const bool system, co_await has_system_nodes(env, call, hyperpod, names));
    if (!system) found.push_back(no_system_group());
    CO_TRY(auto others, co_await rivals(env, call));
    found.insert(found.end(), others.begin(), others.end());
    co_return found;
}

}  // namespace instantstart::flows
