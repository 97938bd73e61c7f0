// The options of a write: dryRun, fieldManager, fieldValidation, force.
#pragma once

#include "twin/kube/call.h"

namespace instantstart::twin::kube {

// 422 with a cause per fault, in the words of CreateOptions, UpdateOptions or PatchOptions.
base::Result<void> check_write_options(const ApiCall& call);

}  // namespace instantstart::twin::kube
