// The active cluster: per principal, durable. Written by flows::Clusters::set_active(), to the same table.
#pragma once

#include <string>

#include "rt/context.h"
#include "rt/task.h"
#include "store/store.h"

namespace instantstart::app {

inline constexpr const char* kActive = "active";  // the reserved name that stands for it in a path

// The principal's active cluster, "" where none is chosen.
rt::Task<std::string> active_cluster(rt::Context context, store::Store& store, std::string principal);

}  // namespace instantstart::app
