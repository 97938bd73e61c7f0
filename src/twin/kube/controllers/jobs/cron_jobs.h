// CronJobs: a Job at each time of a schedule. Times are of the wall clock, whatever the twin's speed.
#pragma once

#include "twin/kube/controllers/env.h"
#include "twin/kube/controllers/jobs/schedule.h"

namespace instantstart::twin::kube::controllers {

class CronJobs final : public Controller {
public:
    explicit CronJobs(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;
    // Waits follow the wall clock: they are measured anew.
    void rescale();
    void clear();

private:
    std::vector<ObjectPtr> jobs_of(const JsonObject& cron) const;
    void tell_once(const JsonObject& cron, std::string_view reason, const std::string& message);
    void note_finished(const JsonObject& cron, const std::vector<ObjectPtr>& jobs);
    void clean_up(const JsonObject& cron, const std::vector<ObjectPtr>& jobs);
    bool may_start(const JsonObject& cron, const std::vector<ObjectPtr>& jobs);
    void start(const JsonObject& cron, base::TimePoint time);
    void write_status(const JsonObject& cron, const std::string& scheduled);

    Env& env_;
    std::set<Key> known_;
    std::map<std::string, std::string, std::less<>> told_;  // by uid
    std::set<std::string, std::less<>> noted_;              // uids of jobs whose end has been told
};

}  // namespace instantstart::twin::kube::controllers
