// What is wanted of a cluster's features: one document per cluster in the store.
//   {"tiered_checkpointing": {"enabled": true, "memory_percent": 30}, …}
// A feature that it does not name was never switched by us: the cluster itself says how it is.
#pragma once

#include "flows/clusters.h"

namespace instantstart::flows {

Task<JsonObject> desired_features(Clusters& env, Context context, std::string cluster);
Task<void> remember_features(Clusters& env, Context context, std::string cluster, JsonObject desired);
Task<void> forget_features(Clusters& env, Context context, std::string cluster);

}  // namespace instantstart::flows
