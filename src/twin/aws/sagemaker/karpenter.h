// Managed autoscaling: Karpenter as AWS runs it beside the cluster. It adds nodes to pre-made instance groups
// for pods that find no place and removes nodes that stand empty. A pass over the cluster's objects is
// planned by whatever may change its result (watch.cc), so that nothing runs where nothing happens.
#pragma once

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/state.h"
#include "twin/kube/controllers/quantity.h"

namespace instantstart::twin::sagemaker {

inline const kube::Kind kNodeClasses("karpenter.sagemaker.amazonaws.com", "hyperpodnodeclasses");
inline const kube::Kind kNodePools("karpenter.sh", "nodepools");
inline const kube::Kind kNodeClaims("karpenter.sh", "nodeclaims");

// AutoScaling of CreateCluster or UpdateCluster: it takes some minutes to come, one to go.
void set_scaling(State& state, Record& cluster, const JsonObject& wanted);
void scaling_timer(State& state, const std::string& kind, const JsonObject& payload);
// Looks at the cluster some seconds from now, once however often it is asked for.
void plan_pass(State& state, const Record& cluster);
bool scales(const Record& cluster);  // autoscaling is in service

// The kinds, as AWS puts them into the cluster. False where others are there that it cannot work with.
bool put_karpenter_kinds(kube::ObjectStore& objects);

struct NodeClass {
    std::string name;
    bool ready = false;
    std::vector<Record*> groups;
};
// The classes, with their statuses written; groups that they name are Karpenter's from now on.
std::vector<NodeClass> read_classes(State& state, const Record& cluster, kube::ObjectStore& objects);

struct NodePool {
    std::string name;
    JsonObject spec;
    const NodeClass* node_class = nullptr;  // null where it has none that is ready
};
std::vector<NodePool> read_pools(State& state, const Record& cluster, kube::ObjectStore& objects,
                                 const std::vector<NodeClass>& classes);
// NodeClaims for the nodes that there are.
void write_claims(State& state, const Record& cluster, kube::ObjectStore& objects);
// Sets the conditions {type, status, reason, message}; writes where one changed.
void write_status(State& state, kube::ObjectStore& objects, const kube::Kind& kind, const JsonObject& object,
                  const JsonArray& conditions, JsonObject members);

// Nodes for the pods that wait; true where pods wait or nodes are on their way.
bool place_pods(State& state, Record& cluster, kube::ObjectStore& objects,
                const std::vector<NodePool>& pools);
// Lets go of a node: it leaves, and its group wants one less.
void release_node(State& state, const Record& cluster, Record& node);

}  // namespace instantstart::twin::sagemaker
