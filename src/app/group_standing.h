// An instance group as it stands, for operations that change it: SageMaker's description, the same as our
// own value, and who scales it.
#pragma once

#include "app/cluster_inputs.h"
#include "app/preflight.h"

namespace instantstart::app {

struct GroupStanding {
    GroupStanding() = default;
    JsonObject details;                // SageMaker's
    domain::InstanceGroup group;       // `count` is the target count; `autoscaled`: marked, or in a class
    std::vector<std::string> classes;  // HyperpodNodeClasses that name it: managed autoscaling sets its count
};
// Error{not_found} where there is no such group, with the nearest name. `found` gets a warning where the API
// server cannot be asked which groups are autoscaled, an error is returned where they are.
Task<GroupStanding> find_group(Call call, Target target, std::string name, Findings& found);

// Our value from SageMaker's description; the zone is the subnet's.
domain::InstanceGroup group_of(const JsonObject& details, std::string zone);

// Of a group that is marked for managed autoscaling and that no class names yet.
void warn_of_waiting(Findings& found);

// Error{conflict}: UpdateCluster needs a cluster that takes it. `properties` of what is asked for.
base::Result<void> check_provisioning(const JsonObject& hyperpod, domain::Properties properties);

}  // namespace instantstart::app
