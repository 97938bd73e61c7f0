// What feature.list, feature.update and cluster.launch settle of features: how they stand, what is wanted
// afterwards, what that would bring, change and take away.
#pragma once

#include "app/feature_inputs.h"
#include "flows/features/sight.h"

namespace instantstart::app {

// A cluster with its features' wishes. `desired` names every feature of the table.
struct FeatureScene {
    FeatureScene() = default;
    Target target;
    JsonObject params;   // of the flow, without features and desired
    JsonObject stored;   // as the store has it
    JsonObject desired;  // completed by what was found switched on
};
Task<FeatureScene> feature_scene(Call call, std::string cluster);
// The call to look with; `desired` is what will be wanted.
flows::StepCall scene_call(const Call& call, const FeatureScene& scene, JsonObject desired);

// The wish of a request: {"tiered_checkpointing": {"memory_percent": 40}}.
JsonObject wish_of(const FeaturesInput& input);

// The state after the request.
struct Wanted {
    Wanted() = default;
    JsonObject desired;  // of all features
    JsonObject changed;  // of those in the request, complete; one that goes off has the settings it had
    std::vector<base::FieldError> faults;
};
Wanted wanted_after(const JsonObject& desired, const JsonObject& wish, const std::string& at);
// conflict "features_exclude_each_other" or "feature_needed", naming the pair and the way out.
base::Result<void> check_pairs(const JsonObject& desired, const JsonObject& wish);

// Into `plan`: sentences, params.features, params.desired, no_change.
Task<void> plan_features(Call call, FeatureScene scene, Wanted wanted, Plan& plan);
// For a cluster that is only being made, with these groups: those that are to be on. What feature.update
// would refuse later is a fault now, by the field; a pair that excludes each other is an error.
base::Result<Wanted> first_features(const FeaturesInput& input,
                                    const std::vector<domain::InstanceGroup>& groups);
void plan_first_features(const Wanted& wanted, Plan& plan);

}  // namespace instantstart::app
