// What node.get says beyond a row of node.list: image, capacity, deep health check, faults and the history of
// recoveries. Read when it is asked for: it is one node.
#pragma once

#include <memory>

#include "app/fleet.h"

namespace instantstart::app {

// Adds to `row`, which has `name` and perhaps `instance_id` and `group`. `present` are the nodes that are
// there: what befell an instance that is not among them may be of this node's past. What cannot be read is a
// warning.
Task<std::vector<std::string>> add_node_details(Call call, Target target,
                                                std::shared_ptr<const HyperpodNodes> present,
                                                JsonObject& row);
// The Kubernetes name of the node with that logical id; "" where SageMaker knows none.
Task<std::string> name_by_logical_id(Call call, Target target, std::string logical_id);

}  // namespace instantstart::app
