// The features, one maker each.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

Feature tiered_checkpointing();
Feature autoscaling();
Feature observability();
Feature mlflow();
Feature task_governance();
Feature training_operator();
Feature inference_operator();
Feature kuberay();
Feature keda();
Feature load_balancer_controller();

}  // namespace instantstart::flows
