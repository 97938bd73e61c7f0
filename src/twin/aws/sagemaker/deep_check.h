// Deep health checks: two hours in which an instance is tried hard; what fails them is replaced.
#pragma once

#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

// The node's instance is in Kubernetes and from now on checked, closed to pods.
void start_deep_checks(State& state, const Record& cluster, Record& node, const JsonArray& checks);
void deep_check_timer(State& state, const std::string& kind, const JsonObject& payload);
void add_deep_check_operations(Operations& operations);
bool supports_deep_checks(std::string_view instance_type);

}  // namespace instantstart::twin::sagemaker
