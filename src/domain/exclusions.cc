#include "domain/exclusions.h"

#include <algorithm>
#include <array>
#include <utility>

namespace instantstart::domain {

namespace {

constexpr auto kExclusions = std::to_array<Exclusion>({
    // --- within an instance group
    {"spot", "plan_arn", "/capacity/training_plan_arn", "a group has one source of capacity",
     "leave training_plan_arn out, or choose capacity.type training_plan"},
    {"on_demand", "plan_arn", "/capacity/training_plan_arn",
     "a training plan goes with capacity type training_plan only", "choose capacity.type training_plan"},
    {"plan_type", "no_plan_arn", "/capacity/training_plan_arn", "the plan that gives the capacity is needed",
     "give training_plan_arn (training_plan.list names the plans)"},
    {"plan_type", "flexible", "/instance_types", "a training plan is for one instance type",
     "give the plan's type as instance_type"},
    {"plan_type", "type_without_plan", "/instance_type", "AWS sells no training plan for this type",
     "choose another type, or capacity on demand or Spot"},
    {"deep_checks", "custom_taints", "/taints", "HyperPod taints the nodes itself while it checks them",
     "leave taints out, or deep_health_checks"},
    {"deep_checks", "type_without_checks", "/deep_health_checks", "they run on GPU and Trainium types only",
     "leave deep_health_checks out"},
    {"interface_mode", "type_without_efa", "/interface_type", "the type has no EFA interface",
     "leave interface_type out, or choose a type with EFA"},
    {"two_threads", "one_thread_type", "/threads_per_core", "its cores have one thread",
     "leave threads_per_core out"},
    {"minimum", "smaller_count", "/min_count", "the minimum must not be above count", "lower min_count"},
    // --- an instance group whose count managed autoscaling sets
    {"autoscaled", "plan_type", "/autoscaled", "managed autoscaling does not work with training plans",
     "leave autoscaled out, or buy on demand or Spot"},
    {"autoscaled", "deep_checks", "/autoscaled",
     "managed autoscaling does not work with deep health checks: pods would wait for hours and more nodes "
     "be started",
     "leave deep_health_checks out"},
    {"autoscaled", "own_count", "/count", "the scaler alone sets the count, from 0 on", "set count to 0"},
    {"autoscaled", "minimum", "/min_count", "the scaler starts from zero nodes", "leave min_count out"},
    {"autoscaled", "arm64_type", "/autoscaled", "managed Karpenter starts nodes with amd64 processors only",
     "leave autoscaled out, or choose types with amd64 processors"},
    // --- what needs continuous provisioning
    {"classic", "spot", "/capacity/type", "Spot needs continuous provisioning", "ask for capacity on demand"},
    {"classic", "minimum", "/min_count", "a minimum needs continuous provisioning", "leave min_count out"},
    {"classic", "flexible", "/instance_types", "several types need continuous provisioning",
     "give one instance_type"},
    {"classic", "autoscaled", "/autoscaled", "managed autoscaling needs continuous provisioning",
     "leave autoscaled out"},
    {"classic", "autoscaling", "/autoscaling", "managed autoscaling needs continuous provisioning",
     "switch continuous provisioning on first"},
    // --- features of a cluster, and training jobs
    {"autoscaling", "no_node_recovery", "/autoscaling", "managed autoscaling needs automatic node recovery",
     "set the cluster's node recovery to automatic"},
    {"autoscaling", "no_system_group", "/autoscaling",
     "add-ons need nodes that the scaler does not take away",
     "add a group that is not autoscaled, or a node group"},
    {"unfit_wait", "spot", "/consolidate_after",
     "beside Spot, Karpenter needs a wait that is not zero and at most two minutes",
     "set consolidate_after to between 1s and 2m, such as 60s"},
    {"elastic_training", "spot", "/elastic", "elastic training does not work on Spot instances",
     "place the job on groups on demand or of a training plan"},
    {"elastic_training", "tiered_checkpointing", "/elastic",
     "elastic training does not work with managed tiered checkpointing",
     "keep tiered_checkpointing off, or leave elastic out of the job"},
    {"elastic_training", "checkpointless_training", "/elastic",
     "elastic and checkpointless training are alternatives", "choose one of them"},
    {"checkpointless_training", "tiered_checkpointing", "/checkpointless",
     "checkpointless training does not work with managed tiered checkpointing",
     "keep tiered_checkpointing off, or train with checkpoints"},
});

constexpr auto kWords = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"spot", "Spot capacity"},
    {"on_demand", "capacity on demand"},
    {"plan_type", "capacity of a training plan"},
    {"plan_arn", "training_plan_arn"},
    {"no_plan_arn", "no training_plan_arn"},
    {"flexible", "several instance types"},
    {"type_without_plan", "an instance type without training plans"},
    {"deep_checks", "deep health checks"},
    {"custom_taints", "custom taints"},
    {"type_without_checks", "an instance type without GPU or Trainium"},
    {"interface_mode", "interface_type"},
    {"type_without_efa", "an instance type without EFA"},
    {"two_threads", "two threads per core"},
    {"one_thread_type", "an instance type with one thread a core"},
    {"arm64_type", "an instance type with arm64 processors"},
    {"minimum", "min_count"},
    {"smaller_count", "a smaller count"},
    {"autoscaled", "managed autoscaling of the group"},
    {"own_count", "a count above 0"},
    {"classic", "a cluster without continuous provisioning"},
    {"autoscaling", "managed autoscaling"},
    {"no_node_recovery", "node recovery switched off"},
    {"no_system_group", "a cluster whose groups are all autoscaled"},
    {"unfit_wait", "such a consolidate_after"},
    {"elastic_training", "elastic training"},
    {"tiered_checkpointing", "managed tiered checkpointing"},
    {"checkpointless_training", "checkpointless training"},
});

std::string words_of(const Properties& properties, std::string_view id) {
    const auto found = properties.find(id);
    if (found != properties.end() && !found->second.empty()) return found->second;
    return std::string(property_words(id));
}

}  // namespace

std::span<const Exclusion> exclusions() {
    return kExclusions;
}

std::string_view property_words(std::string_view property) {
    const auto* found = std::find_if(kWords.begin(), kWords.end(),
                                     [property](const auto& row) { return row.first == property; });
    return found == kWords.end() ? std::string_view() : found->second;
}

namespace {

// `property` "" stands for any.
std::vector<base::FieldError> pairs_in(const Properties& properties, std::string_view property,
                                       const std::string& at) {
    std::vector<base::FieldError> faults;
    for (const auto& row : kExclusions) {
        if (!properties.contains(row.first) || !properties.contains(row.second)) continue;
        if (!property.empty() && row.first != property && row.second != property) continue;
        base::FieldError fault;
        fault.pointer = at + std::string(row.pointer);
        fault.message = words_of(properties, row.first) + " and " + words_of(properties, row.second) +
                        " exclude each other: " + std::string(row.why) + "; " + std::string(row.remedy);
        faults.push_back(std::move(fault));
    }
    return faults;
}

}  // namespace

std::vector<base::FieldError> excluded(const Properties& properties, const std::string& at) {
    return pairs_in(properties, "", at);
}

std::vector<base::FieldError> excluded_by(std::string_view property, const Properties& properties,
                                          const std::string& at) {
    return pairs_in(properties, property, at);
}

}  // namespace instantstart::domain
