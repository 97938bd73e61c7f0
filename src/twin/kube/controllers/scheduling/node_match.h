// What a pod's specification says of nodes: selectors, node affinity, tolerations.
#pragma once

#include "twin/kube/cluster.h"
#include "twin/kube/controllers/scheduling/node_table.h"

namespace instantstart::twin::kube::controllers {

// One term of a node selector (In, NotIn, Exists, DoesNotExist, Gt, Lt; matchFields of metadata.name). An
// empty term matches nothing.
bool matches_node_term(const JsonValue& term, const NodeFacts& node);
// nodeSelectorTerms: any of them.
bool matches_node_terms(const JsonArray& terms, const NodeFacts& node);
// nodeSelector and required node affinity of a pod's specification.
bool matches_node_affinity(const JsonObject& pod_spec, const NodeFacts& node);
// The nodes that every required term names by metadata.name; empty where the pod may go to others.
std::vector<std::string> pinned_nodes(const JsonObject& pod_spec);

bool tolerates(const JsonValue& toleration, const Taint& taint);
// The first taint that refuses new pods (NoSchedule, NoExecute) and is not tolerated; nullptr for none.
const Taint* untolerated_taint(const JsonArray& tolerations, const NodeFacts& node,
                               bool no_execute_only = false);

}  // namespace instantstart::twin::kube::controllers
