#include "twin/kube/controllers/jobs/cron_jobs.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kComponent = "cronjob-controller";

bool is_over(const JsonObject& job) {
    return condition_is(job, "Complete", "True") || condition_is(job, "Failed", "True");
}

base::TimePoint time_at(const JsonObject& object, std::string_view path, base::TimePoint fallback) {
    return base::parse_time(base::get_string(object, path)).value_or(fallback);
}

// The last time that should have been kept and was not; nothing where none is due.
std::optional<base::TimePoint> last_missed(const Schedule& schedule, base::TimePoint since,
                                           base::TimePoint now) {
    std::optional<base::TimePoint> out;
    for (int i = 0; i < 1000; ++i) {
        const auto next = schedule.next(out.value_or(since));
        if (!next || *next > now) break;
        out = next;
    }
    return out;
}

}  // namespace

void CronJobs::clear() {
    known_.clear();
    told_.clear();
    noted_.clear();
}

void CronJobs::changed(const Change& change) {
    const Key key(namespace_of(*change.object), name_of(*change.object));
    if (change.kind == kCronJobs) {
        if (change.type == Change::Type::deleted) {
            known_.erase(key);
            told_.erase(base::get_string(*change.object, "metadata.uid"));
        } else {
            known_.insert(key);
            env_.queue.add(this, key);
        }
    } else if (change.kind == kJobs) {
        if (change.type == Change::Type::deleted)
            noted_.erase(base::get_string(*change.object, "metadata.uid"));
        for (const auto& owner : base::get_array(*change.object, "metadata.ownerReferences")) {
            if (base::get_string(owner, "kind") == "CronJob")
                env_.queue.add(this, Key(key.ns, base::get_string(owner, "name")));
        }
    }
}

void CronJobs::rescale() {
    for (const auto& key : known_) env_.queue.add(this, key);
}

std::vector<ObjectPtr> CronJobs::jobs_of(const JsonObject& cron) const {
    std::vector<ObjectPtr> out;
    for (const auto& name : env_.index.dependents_of(base::get_string(cron, "metadata.uid"))) {
        if (name.kind != kJobs) continue;
        auto job = env_.get(kJobs, name.key);
        if (job && !is_terminating(*job)) out.push_back(std::move(job));
    }
    return out;
}

void CronJobs::tell_once(const JsonObject& cron, std::string_view reason, const std::string& message) {
    auto& last = told_[base::get_string(cron, "metadata.uid")];
    if (last == message) return;
    last = message;
    env_.events.write(cron, "Warning", reason, message, kComponent);
}

void CronJobs::note_finished(const JsonObject& cron, const std::vector<ObjectPtr>& jobs) {
    for (const auto& job : jobs) {
        if (!is_over(*job) || !noted_.insert(base::get_string(*job, "metadata.uid")).second) continue;
        const char* how = condition_is(*job, "Complete", "True") ? "Complete" : "Failed";
        env_.events.write(cron, "Normal", "SawCompletedJob",
                          "Saw completed job: " + name_of(*job) + ", condition: " + how, kComponent);
    }
}

// Of those that are over as many are kept as the limits say, the youngest.
void CronJobs::clean_up(const JsonObject& cron, const std::vector<ObjectPtr>& jobs) {
    for (const auto& [type, member, fallback] : {std::tuple("Complete", "spec.successfulJobsHistoryLimit", 3),
                                                 std::tuple("Failed", "spec.failedJobsHistoryLimit", 1)}) {
        std::vector<ObjectPtr> over;
        for (const auto& job : jobs) {
            if (condition_is(*job, type, "True")) over.push_back(job);
        }
        std::sort(over.begin(), over.end(), [](const ObjectPtr& a, const ObjectPtr& b) {
            return base::get_string(*a, "status.startTime") < base::get_string(*b, "status.startTime");
        });
        const auto keep = static_cast<std::size_t>(base::get_int(cron, member, fallback));
        for (std::size_t i = 0; i + keep < over.size(); ++i) {
            const auto name = name_of(*over[i]);
            env_.remove(kJobs, Key(namespace_of(cron), name));
            env_.events.write(cron, "Normal", "SuccessfulDelete", "Deleted job " + name, kComponent);
        }
    }
}

bool CronJobs::may_start(const JsonObject& cron, const std::vector<ObjectPtr>& jobs) {
    const auto policy = base::get_string(cron, "spec.concurrencyPolicy", "Allow");
    for (const auto& job : jobs) {
        if (is_over(*job)) continue;
        if (policy == "Forbid") {
            env_.events.write(
                cron, "Normal", "JobAlreadyActive",
                "Not starting job because prior execution is running and concurrency policy is Forbid",
                kComponent);
            return false;
        }
        if (policy != "Replace") continue;
        const auto name = name_of(*job);
        env_.remove(kJobs, Key(namespace_of(cron), name));
        env_.events.write(cron, "Normal", "SuccessfulDelete", "Deleted job " + name, kComponent);
    }
    return true;
}

void CronJobs::start(const JsonObject& cron, base::TimePoint time) {
    const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count();
    const auto name = name_of(cron) + "-" + std::to_string(minutes);
    const auto& made_from = base::get_object(cron, "spec.jobTemplate");
    JsonObject job{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
    JsonObject annotations = base::get_object(made_from, "metadata.annotations");
    annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"] = base::format_time(time);
    job["metadata"] =
        JsonObject{{"name", name},
                   {"namespace", namespace_of(cron)},
                   {"labels", base::get_object(made_from, "metadata.labels")},
                   {"annotations", std::move(annotations)},
                   {"ownerReferences", JsonArray{owner_reference("batch/v1", "CronJob", cron)}}};
    job["spec"] = base::get_object(made_from, "spec");
    const auto made = env_.admit_and_create(kJobs, std::move(job));
    if (made) {
        env_.events.write(cron, "Normal", "SuccessfulCreate", "Created job " + name, kComponent);
    } else if (made.error().code != "AlreadyExists") {
        env_.events.write(cron, "Warning", "FailedCreate", "Error creating job: " + made.error().message,
                          kComponent);
    }
}

void CronJobs::write_status(const JsonObject& cron, const std::string& scheduled) {
    JsonObject status;
    JsonArray active;
    std::string succeeded = base::get_string(cron, "status.lastSuccessfulTime");
    for (const auto& job : jobs_of(cron)) {
        succeeded = std::max(succeeded, base::get_string(*job, "status.completionTime"));
        if (is_over(*job)) continue;
        active.push_back(JsonObject{{"apiVersion", "batch/v1"},
                                    {"kind", "Job"},
                                    {"name", name_of(*job)},
                                    {"namespace", namespace_of(*job)},
                                    {"resourceVersion", base::get_string(*job, "metadata.resourceVersion")},
                                    {"uid", base::get_string(*job, "metadata.uid")}});
    }
    if (!active.empty()) {
        // The version is that of the moment when it was first seen.
        const auto& before = base::get_array(cron, "status.active");
        for (auto& one : active) {
            for (const auto& known : before) {
                if (base::get_string(known, "uid") == base::get_string(one, "uid")) one = known;
            }
        }
        status["active"] = std::move(active);
    }
    if (!scheduled.empty()) status["lastScheduleTime"] = scheduled;
    if (!succeeded.empty()) status["lastSuccessfulTime"] = succeeded;
    if (base::get_object(cron, "status") == status) return;
    const auto present = env_.get(kCronJobs, Key(namespace_of(cron), name_of(cron)));
    if (!present) return;
    JsonObject next = *present;
    metadata_of(next).erase("resourceVersion");
    next["status"] = std::move(status);
    env_.write(kCronJobs, std::move(next));
}

void CronJobs::sync(const Key& key) {
    const auto cron = env_.get(kCronJobs, key);
    if (!cron || is_terminating(*cron)) return;
    auto jobs = jobs_of(*cron);
    note_finished(*cron, jobs);
    clean_up(*cron, jobs);
    std::string scheduled = base::get_string(*cron, "status.lastScheduleTime");
    const auto text = base::get_string(*cron, "spec.schedule");
    const auto schedule = Schedule::parse(text);
    const auto zone = base::get_string(*cron, "spec.timeZone", "Etc/UTC");
    const bool knows_zone = zone == "Etc/UTC" || zone == "UTC";
    if (!schedule) tell_once(*cron, "UnparseableSchedule", "unparseable schedule: " + text);
    if (!knows_zone)
        tell_once(*cron, "UnknownTimeZone", "invalid timeZone: \"" + zone + "\": unknown time zone " + zone);
    if (!schedule || !knows_zone || base::get_bool(*cron, "spec.suspend"))
        return write_status(*cron, scheduled);
    const auto now = env_.clock.now();
    const auto created = time_at(*cron, "metadata.creationTimestamp", now);
    const auto due = last_missed(*schedule, time_at(*cron, "status.lastScheduleTime", created), now);
    const auto* limit = base::find_path(*cron, "spec.startingDeadlineSeconds");
    const bool too_late =
        due && limit != nullptr && limit->is_int64() && now - *due > std::chrono::seconds(limit->get_int64());
    if (too_late)
        tell_once(*cron, "MissSchedule", "Missed scheduled time to start a job: " + base::format_time(*due));
    if (due && !too_late && may_start(*cron, jobs)) {
        start(*cron, *due);
        scheduled = base::format_time(*due);
    }
    write_status(*cron, scheduled);
    if (const auto next = schedule->next(now)) env_.queue.add_after(this, key, *next - now);
}

}  // namespace instantstart::twin::kube::controllers
