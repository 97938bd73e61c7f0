#include "twin/kube/controllers/jobs/job_rules.h"

#include <algorithm>
#include <charconv>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

using Action = FailureMeaning::Action;

std::optional<std::int64_t> annotated(const JsonObject& pod, std::string_view key) {
    const auto* value = base::get_object(pod, "metadata.annotations").if_contains(key);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    const std::string_view text(value->get_string());
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc() ? std::optional(out) : std::nullopt;
}

std::string qualified(const JsonObject& pod) {
    return namespace_of(pod) + "/" + name_of(pod);
}

// "Container main for pod default/job-x failed with exit code 42", "" where no container matches.
std::string matching_container(const JsonObject& pod, const JsonValue& wanted) {
    const auto only = base::get_string(wanted, "containerName");
    const auto& values = base::get_array(wanted, "values");
    const bool in = base::get_string(wanted, "operator") == "In";
    for (const char* list : {"status.initContainerStatuses", "status.containerStatuses"}) {
        for (const auto& status : base::get_array(pod, list)) {
            const auto* ended = base::find_path(status, "state.terminated");
            const auto code = ended == nullptr ? 0 : base::get_int(*ended, "exitCode");
            const auto name = base::get_string(status, "name");
            if (code == 0 || (!only.empty() && only != name)) continue;
            const bool listed = std::find(values.begin(), values.end(), JsonValue(code)) != values.end();
            if (listed == in)
                return "Container " + name + " for pod " + qualified(pod) + " failed with exit code " +
                       std::to_string(code);
        }
    }
    return {};
}

// "Pod default/job-x has condition DisruptionTarget", "" where none is.
std::string matching_condition(const JsonObject& pod, const JsonArray& wanted) {
    for (const auto& pattern : wanted) {
        const auto type = base::get_string(pattern, "type");
        for (const auto& condition : base::get_array(pod, "status.conditions")) {
            if (base::get_string(condition, "type") == type &&
                base::get_string(condition, "status") == base::get_string(pattern, "status", "True"))
                return "Pod " + qualified(pod) + " has condition " + type;
        }
    }
    return {};
}

Action action_of(std::string_view word) {
    if (word == "FailJob") return Action::fail_job;
    if (word == "Ignore") return Action::ignore;
    return word == "FailIndex" ? Action::fail_index : Action::count;
}

}  // namespace

std::optional<std::int64_t> index_of_pod(const JsonObject& pod) {
    return annotated(pod, kCompletionIndex);
}

std::int64_t index_failures_of(const JsonObject& pod) {
    return annotated(pod, kIndexFailures).value_or(0);
}

FailureMeaning meaning_of_failure(const JsonObject& job, const JsonObject& pod) {
    FailureMeaning out;
    const auto& rules = base::get_array(job, "spec.podFailurePolicy.rules");
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto* codes = base::find_path(rules[i], "onExitCodes");
        const auto found = codes != nullptr
                               ? matching_container(pod, *codes)
                               : matching_condition(pod, base::get_array(rules[i], "onPodConditions"));
        if (found.empty()) continue;
        const auto word = base::get_string(rules[i], "action");
        out.action = action_of(word);
        out.message = found + " matching " + word + " rule at index " + std::to_string(i);
        return out;
    }
    return out;
}

std::optional<std::size_t> met_success_rule(const JsonObject& job, const IndexSet& completed) {
    const auto& rules = base::get_array(job, "spec.successPolicy.rules");
    const auto total = base::get_int(job, "spec.completions");
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const auto text = base::get_string(rules[i], "succeededIndexes");
        const IndexSet listed(text, total);
        std::int64_t done = 0;
        for (std::int64_t index = 0; index < total; ++index) {
            if (completed.has(index) && (text.empty() || listed.has(index))) ++done;
        }
        const auto needed = base::get_int(rules[i], "succeededCount", text.empty() ? total : listed.size());
        if (done >= needed) return i;
    }
    return std::nullopt;
}

}  // namespace instantstart::twin::kube::controllers
