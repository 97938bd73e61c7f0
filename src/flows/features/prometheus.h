// Kinds of parts that observability alone has. Both take args: workspace_arn, "" for a workspace of ours.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

// A workspace of Amazon Managed Service for Prometheus. A given one is only looked at.
const PartKind& workspace_kind();
// addon_kind() whose configuration names the workspace. Further args: name.
const PartKind& observer_kind();

// ARN of the workspace that was made for this cluster; "" where there is none.
Task<std::string> own_workspace(Clusters& env, StepCall call);
// All workspaces with our tags, however they stand: {id, arn, status}.
Task<JsonArray> workspaces_made(Clusters& env, StepCall call);

}  // namespace instantstart::flows
