// What nodes of an EKS node group take of the account: addresses of their subnet, network interfaces, quotas
// of EC2 and EKS, and their price. They are the account's own EC2 instances, unlike HyperPod's.
#pragma once

#include "app/preflight.h"

namespace instantstart::app {

struct NodeGroupDemand {
    NodeGroupDemand() = default;
    std::string name, zone, capacity;
    std::vector<std::string> types;  // EC2's names
    std::int64_t count = 0;          // nodes that come on top
    bool efa = false;
    std::string subnet;  // where the group stands; "" where it is only going to be made
};
// `cluster` is ours, `eks_name` EKS's.
Task<void> check_node_group(Call call, flows::ClusterRef cluster, NodeGroupDemand demand, Findings& found);

// What all nodes of the group cost by the hour, as put_cost says it.
Task<void> put_node_group_cost(Call call, NodeGroupDemand whole, Plan& plan);

}  // namespace instantstart::app
