// What storage.create of kind fsx_lustre settles: that the file system is there, in the cluster's VPC, in a
// zone of its groups, and that Lustre's ports get through.
#pragma once

#include "app/cluster_inputs.h"
#include "app/preflight.h"

namespace instantstart::app {

// params.storage from the request; faults where the file system cannot be mounted, with what to change.
Task<void> put_lustre_storage(Call call, Target target, StorageInput input, JsonObject& params,
                              Findings& found);

}  // namespace instantstart::app
