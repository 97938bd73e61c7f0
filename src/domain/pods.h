// How many pods a HyperPod node holds, and how many of them the system itself takes: a node has one interface
// for pods, so small types hold few.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "domain/instance_group.h"

namespace instantstart::domain {

struct PodNeeds {
    PodNeeds() = default;
    bool s3 = false;                  // the mount driver: a pod on each node and a controller
    bool inference_operator = false;  // with its load balancer controller, KEDA, cert-manager and metrics
    bool whole_cluster = false;       // these groups are all nodes that there will be
};

constexpr std::int64_t kInferenceOperatorPods = 13;

// Pods of DaemonSets on each node of a type.
std::int64_t daemonset_pods(const std::string& instance_type, bool s3);
// Pods of Deployments that stand anywhere in the cluster.
std::int64_t deployment_pods(const PodNeeds& needs);
// What cannot work: a node that its DaemonSets fill, or nodes that together cannot hold the operators and one
// pod of the user's. Pointers as in check_groups.
std::vector<base::FieldError> check_pods(const std::vector<InstanceGroup>& groups, const std::string& at,
                                         const PodNeeds& needs);

}  // namespace instantstart::domain
