// Flows: the long operations, by name. A flow's steps come from its parameters alone.
#pragma once

#include <vector>

#include "flows/clusters.h"
#include "ops/step.h"

namespace instantstart::flows {

// cluster_create, cluster_launch, cluster_import, cluster_delete, hyperpod_create, hyperpod_delete,
// instance_group_add, dependency_reconcile, feature_update, storage_create, storage_delete. `clusters`
// outlives them.
std::vector<ops::Flow> make_flows(Clusters& clusters);

}  // namespace instantstart::flows
