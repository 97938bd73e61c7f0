// The objects that every new cluster has.
#pragma once

#include "twin/kube/api_server.h"

namespace instantstart::twin::kube {

void add_system_objects(ClusterState& state);
// Gives Services their addresses, and so on: what only the whole cluster knows.
void fill_cluster_defaults(ClusterState& state, const Kind& kind, JsonObject& object);

// A definition that goes takes the objects of its kind with it, finalizers or not: nobody could reach them
// any more.
void remove_orphaned_objects(ClusterState& state, const Change& change);

}  // namespace instantstart::twin::kube
