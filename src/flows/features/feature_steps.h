// The steps that switch features on and off.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

// The flow feature_update: params.features are the changed ones with all their settings ("enabled" included;
// of one that goes off those that it had), params.desired what is wanted of all afterwards.
std::vector<Step> feature_update_steps(Clusters& env, const JsonObject& params);

// The same within a larger flow that has "eks" and "kubernetes_access": after `needs`. Parts that the flow
// brings already are not brought twice.
void add_features(Steps& steps, const JsonObject& params, std::vector<std::string> needs);

}  // namespace instantstart::flows
