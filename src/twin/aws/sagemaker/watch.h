// What HyperPod sees of its Kubernetes clusters: labels by which recovery is asked for, and what managed
// autoscaling follows.
#pragma once

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

// Follows the objects of the cluster from now on. State outlives the subscription, which is kept in it.
void watch_cluster(State& state, const Record& cluster);

}  // namespace instantstart::twin::sagemaker
