// Projections: the shapes of answers, the same on every face.
#pragma once

#include <optional>
#include <string>

#include "app/operation.h"
#include "app/services.h"

namespace instantstart::app {

// {"steps", "creates", "changes", "removes", "quota", "cost", "warnings", "plan_digest", …} of a plan.
JsonObject project_plan(const Meta& meta, const Plan& plan, const Services& services);
// Equal plans have equal digests; figures that move by themselves (quota, cost) do not enter.
std::string plan_digest(const Meta& meta, const Plan& plan);

bool is_terminal(const JsonObject& operation);
// How long a client should leave a running operation alone: short near the expected end, a minute in long
// phases.
std::int64_t poll_after_seconds(const JsonObject& operation);
// {"operation", "status_tool", "poll_after_seconds", "replayed"?}
JsonObject operation_envelope(JsonObject operation, bool replayed);

// Nulls and empty lists dropped at every level, but for the answer's own list.
void tidy_answer(JsonObject& body);

// {"cluster"?, "account"?, "region"}
JsonObject resolved(const std::string& cluster, const std::string& account, const std::string& region);

// The error as a user of any face sees it: errors of AWS and Kubernetes get our codes (aws_access_denied,
// upstream_error, upstream_timeout, credentials_unavailable) with theirs beside, the AWS operation
// named and a hint where the fault may pass; our own pass through.
base::Error public_error(base::Error error);

}  // namespace instantstart::app
