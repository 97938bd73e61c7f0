// Steps on single HyperPod nodes: reboot, replace and delete, by SageMaker's batch calls. These succeed in
// part with HTTP 200: what was refused is part of the result, and only where all were refused the step fails.
//
// Of these calls none takes a client token. A reboot is known by the node's boot id, a replacement by the
// instance id behind the logical one, a deletion by what is gone; so a lost answer never makes a second one.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// The Kubernetes node of an instance.
std::string node_name_of(const std::string& instance_id);
// And back; another name stays what it is.
std::string instance_id_of(const std::string& node_name);
// SageMaker's description of a node by instance id, Kubernetes name or logical id; {} where it knows none.
Task<JsonObject> find_hyperpod_node(Clusters& env, Context context, std::string hyperpod, std::string node);

// params: nodes, a list of {instance_id, logical_id, group}. The steps end with the nodes usable again, or
// gone. "kubernetes_access" is among the steps.
void add_node_reboot(Steps& steps);
void add_node_replacement(Steps& steps);
void add_node_removal(Steps& steps);

}  // namespace instantstart::flows
