// Admission by a namespace's LimitRanges and ResourceQuotas: what the API server and the controllers' own
// creations both pass.
#pragma once

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

// Fills the defaults of the namespace's LimitRanges into a pod and checks the bounds. Forbidden (403) names
// every bound that is broken.
base::Result<void> admit_by_limits(const ObjectStore& objects, const Kind& kind, JsonObject& object);

enum class QuotaUse : std::uint8_t { checked, taken };
// Forbidden (403) with what was asked, used and allowed. `taken` adds it to the quota's status at once; the
// controller of quotas counts anew when objects go.
base::Result<void> admit_by_quotas(ObjectStore& objects, const Kind& kind, const JsonObject& object,
                                   QuotaUse use);
// A pod may be evicted: 429 where a PodDisruptionBudget forbids it. Counts the eviction in the budget.
base::Result<void> admit_eviction(ObjectStore& objects, const JsonObject& pod, QuotaUse use);

}  // namespace instantstart::twin::kube
