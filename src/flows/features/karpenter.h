// Kinds of parts that managed autoscaling alone has, and which instance groups it may scale.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

inline constexpr const char* kNodeClassName = "instantstart";
inline constexpr const char* kConsolidateAfter = "60s";  // where nobody says how long

// AutoScaling of the HyperPod cluster with our cluster role. args: purpose (the role's).
const PartKind& karpenter_kind();
// The HyperpodNodeClass. args: groups (names; those with the label where empty).
const PartKind& node_class_kind();
// The NodePool: objects_kind(), whose limits are compared whole, so that one that was taken away goes.
const PartKind& node_pool_kind();
// That Karpenter calls the class and the pool ready.
const PartKind& karpenter_ready_kind();

// The groups that autoscaling is to have: `chosen`, or those that were added with `autoscaled`
// (domain::kAutoscaledLabel: HyperPod keeps no other mark).
std::vector<std::string> groups_to_scale(const JsonObject& hyperpod, const JsonArray& chosen);

}  // namespace instantstart::flows
