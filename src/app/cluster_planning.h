// What cluster.create and cluster.launch settle before they start: version, zones, address range, names.
#pragma once

#include "app/cluster_inputs.h"
#include "app/preflight.h"

namespace instantstart::app {

// The flow's parameters of the control plane and its network; faults and warnings go into `found`.
Task<JsonObject> plan_cluster(Call call, ClusterInput input, Findings& found);
// Appends b to a.
void merge(Findings& a, Findings b);
// Sentences of a plan on what a cluster makes.
std::vector<std::string> cluster_creates(const JsonObject& params);
// Puts findings, parameters and flow into a plan; the error where there are faults.
Task<Plan> finish_plan(Call call, Plan plan, Findings found);

}  // namespace instantstart::app
