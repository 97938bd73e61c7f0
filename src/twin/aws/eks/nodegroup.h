// Managed node groups: their nodes, as their Auto Scaling group would start and end them.
#pragma once

#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

// Starts or ends nodes until the group has what it desires; false where some could not be had, with
// health.issues that say why.
bool reach_size(State& state, Record& group);
void drop_nodes(State& state, Record& group, std::size_t left);
// Labels and taints as the group has them now, on the nodes that there are; `before` is what they were.
void relabel_nodes(State& state, const Record& group, const JsonObject& before);
// The version of the launch template that the group was made from; empty where it has none.
JsonObject template_data(State& state, const Record& group);

}  // namespace instantstart::twin::eks
