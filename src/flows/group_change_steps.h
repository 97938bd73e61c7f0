// Steps that change or delete one instance group of a HyperPod cluster.
//
// UpdateCluster takes whole specifications: a member that is left out is reset. So a change reads the group
// as it is, changes what was asked, and sends that one group back, all under the cluster's lease. Other
// groups are never sent, and a count that managed autoscaling sets goes back as it was read.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// From SageMaker's description of a group, for UpdateCluster.
JsonObject specification_of(const JsonObject& details);
// The same with a change: count, min_count, labels, taints, deep_health_checks, training_plan_arn ("" removes
// it), lifecycle_script and autoscaled, as instance_group.update takes them.
JsonObject changed_specification(const JsonObject& details, const JsonObject& changes);
// Whether the group is as the change wants it: nothing would be sent.
bool is_as_asked(const JsonObject& details, const JsonObject& changes);
// sagemaker:UpdateCluster of one group.
JsonObject change_request(const StepCall& call, const JsonObject& details);

// params: group (its name), changes. Ends with "<group>.nodes". "kubernetes_access" is among the steps.
void add_group_change(Steps& steps, const JsonObject& params);
// params: group. Ends with "<group>.gone": neither SageMaker nor Kubernetes has nodes of it.
void add_group_removal(Steps& steps, const JsonObject& params);

}  // namespace instantstart::flows
