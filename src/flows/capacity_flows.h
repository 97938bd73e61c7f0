// Flows that change the capacity of a cluster that is there: instance groups, node groups, nodes, software.
#pragma once

#include <vector>

#include "flows/clusters.h"
#include "ops/step.h"

namespace instantstart::flows {

std::vector<ops::Flow> capacity_flows(Clusters& clusters);

}  // namespace instantstart::flows
