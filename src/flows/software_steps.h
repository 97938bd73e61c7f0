// Steps that bring the newest HyperPod image to instance groups, in batches.
#pragma once

#include "flows/step_kit.h"

namespace instantstart::flows {

// params: groups_to_update (names), max_batch_percent, image_id (""; "default" or an AMI). Done when
// SageMaker says Succeeded of every group.
void add_software_update(Steps& steps, const JsonObject& params);
JsonObject software_request(const StepCall& call);

}  // namespace instantstart::flows
