// Whether a pod may stand on a node with these labels and taints: what HyperPod's own components need to know
// of the scheduler's rules.
#pragma once

#include "base/json.h"

namespace instantstart::twin::sagemaker {

// nodeSelector and required node affinity by labels.
bool selects(const base::JsonObject& pod_spec, const base::JsonObject& labels);
// Every taint that keeps pods away is tolerated.
bool tolerates(const base::JsonObject& pod_spec, const base::JsonArray& taints);
// A list of requirements {key, operator, values}, all of which must hold.
bool meets(const base::JsonArray& requirements, const base::JsonObject& labels);

}  // namespace instantstart::twin::sagemaker
