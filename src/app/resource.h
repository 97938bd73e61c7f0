// The name of the object that a request acts on, made from the path: conflicts and replays are judged on it.
//   POST  /clusters {"name": "demo"}                          cluster/demo
//   PATCH /clusters/{cluster}/instance-groups/{group}         cluster/demo/instance-group/workers
//   POST  /clusters/{cluster}/dependencies/reconcile          cluster/demo/dependencies
#pragma once

#include <string>

#include "app/operation.h"

namespace instantstart::app {

// `normalized` is the canonical request, its `cluster` a real name. Where an object is created its `name` is
// the last part.
std::string resource_of(const Meta& meta, const JsonObject& normalized);

}  // namespace instantstart::app
