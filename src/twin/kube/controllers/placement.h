// Placement: may a pod stand on a node? The rules of the scheduler's filters, and the reasons in its words.
#pragma once

#include <string>
#include <vector>

#include "twin/kube/controllers/index.h"

namespace instantstart::twin::kube::controllers {

// nodeSelector and required node affinity (In, NotIn, Exists, DoesNotExist, Gt, Lt; matchFields of
// metadata.name).
bool matches_node_affinity(const JsonObject& pod_spec, const JsonObject& node);
// The first taint of these effects that nothing tolerates ("{key: value}"), "" for none.
std::string untolerated_taint(const JsonObject& pod_spec, const JsonObject& node,
                              bool no_execute_only = false);
// Why not; empty where it may. `used` is what the node's pods ask for.
std::vector<std::string> refusals(const JsonObject& pod, const Amounts& requests, const JsonObject& node,
                                  const Amounts& used);

}  // namespace instantstart::twin::kube::controllers
