// Which instance groups managed Karpenter scales: those that a HyperpodNodeClass names. Their counts are
// Karpenter's alone, and a class that names a group which is gone provisions nothing any more.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "flows/clusters.h"

namespace instantstart::flows {

using ManagedGroups = std::map<std::string, std::vector<std::string>>;  // group → classes that name it
// None where the cluster does not know the kind.
Task<ManagedGroups> managed_groups(Clusters& env, Context context, std::string eks_name);

}  // namespace instantstart::flows
