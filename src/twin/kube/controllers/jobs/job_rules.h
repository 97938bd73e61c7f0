// The rules of a Job about its pods: what a failure means, and when enough have succeeded.
#pragma once

#include <optional>

#include "twin/kube/cluster.h"
#include "twin/kube/controllers/jobs/index_set.h"

namespace instantstart::twin::kube::controllers {

inline constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kIndexFailures = "batch.kubernetes.io/job-index-failure-count";
inline constexpr std::string_view kTracking = "batch.kubernetes.io/job-tracking";  // a finalizer

// Indexed: the pod's index; nothing where it has none.
std::optional<std::int64_t> index_of_pod(const JsonObject& pod);
std::int64_t index_failures_of(const JsonObject& pod);

struct FailureMeaning {
    enum class Action : std::uint8_t { count, ignore, fail_index, fail_job };
    FailureMeaning() = default;
    Action action = Action::count;
    std::string message;  // of fail_job
};
// What spec.podFailurePolicy says of a failed pod: the first rule that matches.
FailureMeaning meaning_of_failure(const JsonObject& job, const JsonObject& pod);
// The rule of spec.successPolicy that is met; nothing where none is.
std::optional<std::size_t> met_success_rule(const JsonObject& job, const IndexSet& completed);

}  // namespace instantstart::twin::kube::controllers
