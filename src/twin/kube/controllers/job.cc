// Job: pods that run to their end, so many times.
#include <algorithm>
#include <set>

#include "twin/kube/controllers/workloads.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kIndex = "batch.kubernetes.io/job-completion-index";

std::string index_of(const JsonObject& pod) {
    const auto* value = base::get_object(pod, "metadata.annotations").if_contains(kIndex);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool has_phase(const JsonObject& pod, std::string_view phase) {
    return base::get_string(pod, "status.phase") == phase;
}

}  // namespace

void Jobs::create_pods(const JsonObject& job, const std::vector<ObjectPtr>& pods, std::int64_t count) {
    const bool indexed = base::get_string(job, "spec.completionMode") == "Indexed";
    std::set<std::string> taken;
    for (const auto& pod : pods) {
        if (!has_phase(*pod, "Failed") && !is_terminating(*pod)) taken.insert(index_of(*pod));
    }
    std::int64_t index = 0;
    for (; count > 0; --count) {
        std::string prefix = name_of(job) + "-";
        while (indexed && taken.contains(std::to_string(index))) ++index;
        if (indexed) prefix += std::to_string(index) + "-";
        JsonObject pod = pod_from_template(base::get_object(job, "spec.template"), namespace_of(job),
                                           env_.name_after(prefix), owner_reference("batch/v1", "Job", job));
        metadata_of(pod)["generateName"] = prefix;
        if (indexed) {
            object_at(metadata_of(pod), "annotations")[kIndex] = std::to_string(index);
            object_at(metadata_of(pod), "labels")[kIndex] = std::to_string(index);
            taken.insert(std::to_string(index));
        }
        const auto name = name_of(pod);
        if (env_.create(kPods, std::move(pod)))
            env_.events.write(job, "Normal", "SuccessfulCreate", "Created pod: " + name, "job-controller");
    }
}

void Jobs::end(const JsonObject& job, JsonObject status, bool complete, std::string_view reason,
               std::string_view message) {
    const auto now = env_.clock.now();
    JsonArray conditions = base::get_array(job, "status.conditions");
    set_condition(conditions, complete ? "SuccessCriteriaMet" : "FailureTarget", true, reason, message, now);
    set_condition(conditions, complete ? "Complete" : "Failed", true, reason, message, now);
    status["conditions"] = std::move(conditions);
    if (complete) status["completionTime"] = base::format_time(now);
    env_.events.write(job, complete ? "Normal" : "Warning", complete ? "Completed" : std::string(reason),
                      complete ? "Job completed" : std::string(message), "job-controller");
    put_status(job, std::move(status));
}

void Jobs::sync_object(const JsonObject& job) {
    const Key key(namespace_of(job), name_of(job));
    if (condition_is(job, "Complete", "True") || condition_is(job, "Failed", "True")) {
        const auto* ttl = base::find_path(job, "spec.ttlSecondsAfterFinished");
        if (ttl == nullptr || !ttl->is_int64()) return;
        const auto& conditions = base::get_array(job, "status.conditions");
        const auto ended = base::parse_time(base::get_string(conditions.back(), "lastTransitionTime"));
        const base::Duration left = (ended ? *ended : env_.clock.now()) +
                                    env_.scaled(static_cast<double>(ttl->get_int64())) - env_.clock.now();
        return left <= base::Duration::zero() ? env_.remove(kJobs, key)
                                              : env_.queue.add_after(this, key, left);
    }
    const auto pods = pods_of(job);
    std::int64_t active = 0, succeeded = 0, failed = 0, ready = 0;
    for (const auto& pod : pods) {
        if (has_phase(*pod, "Succeeded"))
            ++succeeded;
        else if (has_phase(*pod, "Failed"))
            ++failed;
        else if (!is_terminating(*pod))
            ++active, ready += is_ready(*pod) ? 1 : 0;
    }
    const bool suspended = base::get_bool(job, "spec.suspend");
    const std::int64_t parallel = base::get_int(job, "spec.parallelism", 1);
    const std::int64_t completions =
        base::get_int(job, "spec.completions", 0);  // 0: as soon as one succeeded
    JsonObject status;
    const auto started = base::get_string(job, "status.startTime");
    if (!suspended) status["startTime"] = started.empty() ? base::format_time(env_.clock.now()) : started;
    if (succeeded > 0) status["succeeded"] = succeeded;
    if (failed > 0) status["failed"] = failed;
    const auto stop_active = [&] {
        for (const auto& pod : pods) {
            if (!is_finished(*pod)) env_.remove(kPods, Key(namespace_of(*pod), name_of(*pod)));
        }
    };
    if (failed > base::get_int(job, "spec.backoffLimit", 6)) {
        stop_active();
        return end(job, std::move(status), false, "BackoffLimitExceeded",
                   "Job has reached the specified backoff limit");
    }
    const bool complete = completions > 0 ? succeeded >= completions : succeeded > 0 && active == 0;
    if (complete)
        return end(job, std::move(status), true, "CompletionsReached",
                   "Reached expected number of succeeded pods");
    JsonArray conditions = base::get_array(job, "status.conditions");
    if (suspended || base::find_path(job, "status.conditions.0") != nullptr) {
        set_condition(conditions, "Suspended", suspended, suspended ? "JobSuspended" : "JobResumed",
                      suspended ? "Job suspended" : "Job resumed", env_.clock.now());
    }
    if (suspended) {
        stop_active();
    } else {
        const std::int64_t left = completions > 0 ? completions - succeeded : (succeeded > 0 ? 0 : parallel);
        const std::int64_t wanted = std::min(parallel, left);
        if (wanted > active) create_pods(job, pods, wanted - active);
        active = std::max(active, wanted);
    }
    if (!suspended) status["active"] = active;
    status["ready"] = ready;
    if (!conditions.empty()) status["conditions"] = std::move(conditions);
    put_status(job, std::move(status));
}

}  // namespace instantstart::twin::kube::controllers
