// MLflow's server or app of a cluster: its name, and the one that is there.
#pragma once

#include "flows/features/feature.h"

namespace instantstart::flows {

// Where artifacts go in the cluster's bucket.
inline constexpr const char* kMlflowPrefix = "mlflow";

const PartKind& mlflow_server_kind();
const PartKind& mlflow_app_kind();

std::string mlflow_name(const StepCall& call);
// {kind, arn, status, usable} of the one that is ours; {} where there is none.
Task<JsonObject> mlflow_found(Clusters& env, StepCall call);
// Everything with our tags, however it stands: {kind: tracking_server or app, name, arn, status}.
Task<JsonArray> mlflow_made(Clusters& env, StepCall call);

}  // namespace instantstart::flows
