// What the API server fills in where a writer left it open.
#pragma once

#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

// True for kinds whose metadata counts changes of the specification.
bool has_generation(const Kind& kind);
// Fills defaults; repeatable. For every create and update.
void default_object(const Kind& kind, JsonObject& object);
// Fills what admission adds and no client owns: a pod's account and priority, a service's families. After the
// defaults.
void admit_object(const Kind& kind, JsonObject& object);
// A pod template's or pod's specification.
void default_pod_spec(JsonObject& spec);

}  // namespace instantstart::twin::kube
