// What managed autoscaling asks of settings, of a cluster that runs, and of one that is only being made.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

std::vector<base::FieldError> autoscaling_faults(const JsonObject& settings);
std::vector<base::FieldError> autoscaling_launch_faults(const std::vector<domain::InstanceGroup>& groups,
                                                        const JsonObject& settings);
Task<std::vector<std::string>> autoscaling_obstacles(Clusters& env, StepCall call);

}  // namespace instantstart::flows
