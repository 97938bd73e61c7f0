#include "twin/kube/controllers/jobs/jobs.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kComponent = "job-controller";
constexpr double kFirstBackOff = 10, kMostBackOff = 600;  // seconds

bool has_phase(const JsonObject& pod, std::string_view phase) {
    return base::get_string(pod, "status.phase") == phase;
}

Key key_of(const JsonObject& object) {
    return {namespace_of(object), name_of(object)};
}

std::int64_t restarts_of(const JsonObject& pod) {
    std::int64_t sum = 0;
    for (const char* list : {"status.initContainerStatuses", "status.containerStatuses"}) {
        for (const auto& status : base::get_array(pod, list)) sum += base::get_int(status, "restartCount");
    }
    return sum;
}

}  // namespace

struct Jobs::Look {
    explicit Look(const JsonObject& j) : job(j) {}
    const JsonObject& job;
    std::vector<ObjectPtr> active;
    std::int64_t terminating = 0, ready = 0, succeeded = 0, failed = 0, restarts = 0;
    IndexSet completed, failed_indexes;
    std::set<std::int64_t> taken;  // indexes with an active pod
    std::map<std::int64_t, std::int64_t> index_failures;
    bool indexed = false, counted_failure = false;
    std::string verdict, reason, message;  // FailureTarget or SuccessCriteriaMet, and why
    JsonArray conditions;
    bool suspended = false;

    std::int64_t completions() const { return base::get_int(job, "spec.completions", 0); }
    const JsonValue* per_index() const { return base::find_path(job, "spec.backoffLimitPerIndex"); }
    void fail(std::string why, std::string text) {
        if (!verdict.empty()) return;
        verdict = "FailureTarget";
        reason = std::move(why);
        message = std::move(text);
    }
};

// A pod whose job is gone is held by nobody.
void Jobs::other_changed(const Change& change) {
    if (change.kind == kJobs && change.type == Change::Type::deleted) {
        lives_.erase(base::get_string(*change.object, "metadata.uid"));
        for (const auto& key : env_.index.pods_of(base::get_string(*change.object, "metadata.uid")))
            env_.queue.add(this, Key(key.ns, name_of(*change.object)));
    }
}

void Jobs::sync(const Key& key) {
    const auto job = env_.get(kJobs, key);
    if (job && !is_terminating(*job)) return sync_object(*job);
    for (const auto& pod : env_.objects.list(kPods, key.ns)) {
        if (!has_finalizer(*pod, kTracking)) continue;
        const auto& owners = base::get_array(*pod, "metadata.ownerReferences");
        const bool of_this = std::any_of(owners.begin(), owners.end(), [&key](const JsonValue& owner) {
            return base::get_string(owner, "kind") == "Job" && base::get_string(owner, "name") == key.name;
        });
        if (of_this) release(*pod);
    }
}

void Jobs::release(const JsonObject& pod) {
    const auto present = env_.get(kPods, key_of(pod));
    if (!present) return;
    JsonObject next = *present;
    if (remove_finalizer(next, kTracking)) env_.write(kPods, std::move(next));
}

void Jobs::count_failure(Look& look, Life& life, const JsonObject& pod) {
    const auto meaning = meaning_of_failure(look.job, pod);
    using Action = FailureMeaning::Action;
    if (meaning.action == Action::fail_job) look.fail("PodFailurePolicy", meaning.message);
    if (meaning.action == Action::ignore) return;
    ++look.failed;
    look.counted_failure = true;
    const double wait =
        std::min(kMostBackOff, kFirstBackOff * static_cast<double>(1 << std::min(life.failures++, 6)));
    life.not_before = env_.clock.monotonic() + env_.scaled(wait);
    const auto index = index_of_pod(pod);
    if (!index) return;
    const auto count = index_failures_of(pod) + 1;
    look.index_failures[*index] = std::max(look.index_failures[*index], count);
    const bool too_many = look.per_index() != nullptr && count > look.per_index()->to_number<std::int64_t>();
    if (meaning.action == Action::fail_index || too_many) look.failed_indexes.add(*index);
}

// Ends are counted once: with the finalizer goes the pod's claim to be counted.
void Jobs::count_pods(Look& look, Life& life) {
    const auto& job = look.job;
    look.indexed = base::get_string(job, "spec.completionMode") == "Indexed";
    look.succeeded = base::get_int(job, "status.succeeded");
    look.failed = base::get_int(job, "status.failed");
    look.completed = IndexSet(base::get_string(job, "status.completedIndexes"), look.completions());
    look.failed_indexes = IndexSet(base::get_string(job, "status.failedIndexes"), look.completions());
    const bool replaces_ended_only = base::get_string(job, "spec.podReplacementPolicy") == "Failed";
    for (const auto& pod : pods_of(job)) {
        const auto index = index_of_pod(*pod);
        if (!is_finished(*pod)) {
            look.restarts += restarts_of(*pod);
            if (is_terminating(*pod)) ++look.terminating;
            if (index && (!is_terminating(*pod) || replaces_ended_only)) look.taken.insert(*index);
            if (is_terminating(*pod)) continue;
            look.ready += is_ready(*pod) ? 1 : 0;
            look.active.push_back(pod);
            continue;
        }
        if (index) {
            auto& failures = look.index_failures[*index];
            if (has_phase(*pod, "Failed")) failures = std::max(failures, index_failures_of(*pod) + 1);
        }
        if (!has_finalizer(*pod, kTracking)) continue;
        if (has_phase(*pod, "Succeeded")) {
            life.failures = 0;
            ++look.succeeded;
            if (index) look.completed.add(*index);
        } else {
            count_failure(look, life, *pod);
        }
        release(*pod);
    }
    if (look.indexed) look.succeeded = look.completed.size();
}

void Jobs::remove_after_its_time(const JsonObject& job, Life& life) {
    const auto* ttl = base::find_path(job, "spec.ttlSecondsAfterFinished");
    if (ttl == nullptr || !ttl->is_int64()) return;
    const auto now = env_.clock.monotonic();
    if (life.ends_at == base::Duration(0))
        life.ends_at = now + env_.scaled(static_cast<double>(ttl->get_int64()));
    if (life.ends_at > now) return env_.queue.add_after(this, key_of(job), life.ends_at - now);
    env_.remove(kJobs, key_of(job));
}

void Jobs::decide_failure(Look& look) {
    const auto limit =
        base::get_int(look.job, "spec.backoffLimit", look.per_index() != nullptr ? INT32_MAX : 6);
    const bool in_place = base::get_string(look.job, "spec.template.spec.restartPolicy") == "OnFailure";
    const bool restarted_too_often = in_place && (limit == 0 ? look.restarts > 0 : look.restarts >= limit);
    if (look.failed > limit || restarted_too_often)
        look.fail("BackoffLimitExceeded", "Job has reached the specified backoff limit");
    const auto* most = base::find_path(look.job, "spec.maxFailedIndexes");
    if (most != nullptr && most->is_int64() && look.failed_indexes.size() > most->get_int64())
        look.fail("MaxFailedIndexesExceeded",
                  "Job has exceeded the specified maximal number of failed indexes");
    const bool none_left =
        look.indexed && look.completed.size() + look.failed_indexes.size() >= look.completions();
    if (none_left && !look.failed_indexes.empty()) look.fail("FailedIndexes", "Job has failed indexes");
}

// Whether the job is to end, and how. What was decided before stands.
void Jobs::decide(Look& look, Life& life) {
    for (const auto& condition : base::get_array(look.job, "status.conditions")) {
        const auto type = base::get_string(condition, "type");
        if (type != "FailureTarget" && type != "SuccessCriteriaMet") continue;
        look.verdict = type;
        look.reason = base::get_string(condition, "reason");
        look.message = base::get_string(condition, "message");
        return;
    }
    decide_failure(look);
    const auto* deadline = base::find_path(look.job, "spec.activeDeadlineSeconds");
    if (deadline != nullptr && deadline->is_int64() && !look.suspended) {
        const auto now = env_.clock.monotonic();
        if (life.deadline == base::Duration(0))
            life.deadline = now + env_.scaled(static_cast<double>(deadline->get_int64()));
        if (life.deadline <= now) {
            look.fail("DeadlineExceeded", "Job was active longer than specified deadline");
        } else {
            env_.queue.add_after(this, key_of(look.job), life.deadline - now);
        }
    }
    if (!look.verdict.empty()) return;
    const auto rule = look.indexed ? met_success_rule(look.job, look.completed) : std::nullopt;
    const bool has_count = base::find_path(look.job, "spec.completions") != nullptr;
    const bool complete = has_count ? look.succeeded >= look.completions()
                                    : look.succeeded > 0 && look.active.empty() && look.terminating == 0;
    if (!rule && !complete) return;
    look.verdict = "SuccessCriteriaMet";
    look.reason = rule ? "SuccessPolicy" : "CompletionsReached";
    look.message = rule ? "Matched rules at index " + std::to_string(*rule)
                        : "Reached expected number of succeeded pods";
}

// The last to come go first, those that are not ready before those that are.
void Jobs::stop_pods(Look& look, std::int64_t keep) {
    std::sort(look.active.begin(), look.active.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
        const bool first = is_ready(*a), second = is_ready(*b);
        return first != second ? first : name_of(*a) < name_of(*b);
    });
    while (static_cast<std::int64_t>(look.active.size()) > keep) {
        const auto pod = look.active.back();
        look.active.pop_back();
        const auto name = name_of(*pod);
        env_.remove(kPods, key_of(*pod));
        if (const auto left = env_.get(kPods, key_of(*pod))) {
            ++look.terminating;
            // One that never ran has no end to be counted.
            if (base::get_string(*left, "spec.nodeName").empty()) release(*left);
        }
        env_.events.write(look.job, "Normal", "SuccessfulDelete", "Deleted pod: " + name, kComponent);
    }
}

std::optional<std::int64_t> Jobs::next_index(const Look& look) const {
    for (std::int64_t index = 0; index < look.completions(); ++index) {
        if (!look.completed.has(index) && !look.failed_indexes.has(index) && !look.taken.contains(index))
            return index;
    }
    return std::nullopt;
}

void Jobs::create_pod(Look& look, std::optional<std::int64_t> index) {
    const auto& job = look.job;
    std::string prefix = name_of(job) + "-";
    if (index) prefix += std::to_string(*index) + "-";
    JsonObject pod = pod_from_template(base::get_object(job, "spec.template"), namespace_of(job),
                                       env_.name_after(prefix), owner_reference("batch/v1", "Job", job));
    auto& metadata = metadata_of(pod);
    metadata["generateName"] = prefix;
    metadata["finalizers"] = JsonArray{JsonValue(kTracking)};
    if (index) {
        const auto text = std::to_string(*index);
        auto& annotations = object_at(metadata, "annotations");
        annotations[kCompletionIndex] = text;
        if (look.per_index() != nullptr)
            annotations[kIndexFailures] = std::to_string(look.index_failures[*index]);
        object_at(metadata, "labels")[kCompletionIndex] = text;
        auto& spec = object_at(pod, "spec");
        if (!spec.contains("hostname")) spec["hostname"] = name_of(job) + "-" + text;
        for (auto& container : list_at(spec, "containers")) {
            if (!container.is_object()) continue;
            list_at(container.get_object(), "env")
                .push_back(JsonObject{{"name", "JOB_COMPLETION_INDEX"}, {"value", text}});
        }
        look.taken.insert(*index);
    }
    create_child(job, std::move(pod), kComponent);
}

// Brings the number of active pods to what is wanted now.
void Jobs::fill(Look& look, Life& life) {
    const auto parallel = base::get_int(look.job, "spec.parallelism", 1);
    const bool has_count = base::find_path(look.job, "spec.completions") != nullptr;
    const auto left = look.indexed ? look.completions() - look.completed.size() - look.failed_indexes.size()
                      : has_count  ? look.completions() - look.succeeded
                      : look.succeeded > 0 ? static_cast<std::int64_t>(look.active.size())
                                           : parallel;
    const auto wanted = std::max<std::int64_t>(0, std::min(parallel, left));
    auto have = static_cast<std::int64_t>(look.active.size());
    if (have > wanted) return stop_pods(look, wanted);
    if (base::get_string(look.job, "spec.podReplacementPolicy") == "Failed") have += look.terminating;
    const auto now = env_.clock.monotonic();
    if (have < wanted && life.not_before > now)
        return env_.queue.add_after(this, key_of(look.job), life.not_before - now);
    constexpr int kBurst = 500;  // in one look; the pods' own changes bring the job back
    for (int made = 0; have < wanted && made < kBurst; ++have, ++made) {
        const auto index = look.indexed ? next_index(look) : std::nullopt;
        if (look.indexed && !index) return;
        create_pod(look, index);
    }
}

void Jobs::suspend(Look& look, bool suspended) {
    const bool was = condition_is(look.job, "Suspended", "True");
    const bool has = base::find_path(look.job, "status.conditions.0") != nullptr;
    if (!suspended && !has) return;
    const bool changes =
        set_condition(look.conditions, "Suspended", suspended, suspended ? "JobSuspended" : "JobResumed",
                      suspended ? "Job suspended" : "Job resumed", env_.clock.now());
    if (changes && suspended != was)
        env_.events.write(look.job, "Normal", suspended ? "Suspended" : "Resumed",
                          suspended ? "Job suspended" : "Job resumed", kComponent);
}

// The verdict stands at once; the job has ended when its last pod has.
void Jobs::finish(Look& look) {
    const bool failed = look.verdict == "FailureTarget";
    const auto now = env_.clock.now();
    set_condition(look.conditions, look.verdict, true, look.reason, look.message, now);
    stop_pods(look, 0);
    if (look.terminating > 0) return;
    set_condition(look.conditions, failed ? "Failed" : "Complete", true, look.reason, look.message, now);
    env_.events.write(look.job, failed ? "Warning" : "Normal", failed ? look.reason : "Completed",
                      failed ? look.message : "Job completed", kComponent);
}

void Jobs::write(Look& look) {
    const auto& job = look.job;
    JsonObject status;
    const auto started = base::get_string(job, "status.startTime");
    if (!look.suspended)
        status["startTime"] = started.empty() ? base::format_time(env_.clock.now()) : started;
    const auto put = [&status](const char* member, std::int64_t count) {
        if (count > 0) status[member] = count;
    };
    // Pods that were made just now are active already.
    std::int64_t active = 0;
    for (const auto& pod : pods_of(job)) active += is_finished(*pod) || is_terminating(*pod) ? 0 : 1;
    put("active", active);
    put("succeeded", look.succeeded);
    put("failed", look.failed);
    status["ready"] = look.ready;
    status["terminating"] = look.terminating;
    status["uncountedTerminatedPods"] = JsonObject();
    if (look.indexed && !look.completed.empty()) status["completedIndexes"] = look.completed.text();
    if (look.indexed && look.per_index() != nullptr) status["failedIndexes"] = look.failed_indexes.text();
    const auto is_set = [&look](const char* type) {
        return std::any_of(look.conditions.begin(), look.conditions.end(), [type](const JsonValue& one) {
            return base::get_string(one, "type") == type && base::get_string(one, "status") == "True";
        });
    };
    if (is_set("Complete"))
        status["completionTime"] =
            base::get_string(job, "status.completionTime", base::format_time(env_.clock.now()));
    if (!look.conditions.empty()) status["conditions"] = std::move(look.conditions);
    put_status(job, std::move(status));
}

void Jobs::sync_object(const JsonObject& job) {
    Life& life = lives_[base::get_string(job, "metadata.uid")];
    const bool ended = condition_is(job, "Complete", "True") || condition_is(job, "Failed", "True");
    if (ended) {
        for (const auto& pod : pods_of(job)) release(*pod);
        return remove_after_its_time(job, life);
    }
    Look look(job);
    look.conditions = base::get_array(job, "status.conditions");
    look.suspended = base::get_bool(job, "spec.suspend");
    count_pods(look, life);
    decide(look, life);
    if (!look.verdict.empty()) {
        finish(look);
    } else if (look.suspended) {
        life.deadline = base::Duration(0);
        stop_pods(look, 0);
        suspend(look, true);
    } else {
        suspend(look, false);
        fill(look, life);
    }
    write(look);
}

void Jobs::rescale(double factor) {
    const auto now = env_.clock.monotonic();
    const auto move = [&](base::Duration& at) {
        if (at != base::Duration(0)) at = now + scale_left(at - now, factor);
    };
    for (auto& [uid, life] : lives_) {
        move(life.deadline);
        move(life.not_before);
        move(life.ends_at);
    }
}

}  // namespace instantstart::twin::kube::controllers
