// Steps of a cluster's network: the VPC with its gateways, subnets, routes and security group; the ONE place
// that provides a compute subnet; and the look that finds the network again in flows that did not make it.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// Makes (or takes what `network.vpc_id` names): vpc, subnets, gateways, routes, security_group. Parameters:
// `network` {vpc_cidr, zones, nat, vpc_id?, subnet_ids?}.
void add_network(Steps& steps, const JsonObject& params);
// The two rules that join our group with the one EKS makes; else DNS of HyperPod pods is dropped. Needs
// "eks".
void add_cross_rules(Steps& steps);
// "network": {vpc_id, security_group_id, route_tables: {zone: id, "*": id}, cidrs} of the cluster, found by
// tags and EKS. Waits for those steps of the network that this flow has.
void add_find_network(Steps& steps);
// "compute_subnet.<zone>": the /20 of that zone with its route and S3 association; result {id}. Needs
// "network". Returns the id of the last step: what users of the subnet wait for.
std::string add_compute_subnet(Steps& steps, const JsonObject& params, const std::string& zone);

}  // namespace instantstart::flows
