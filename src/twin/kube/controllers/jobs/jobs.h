// Jobs: pods that run to their end, so many times.
//
// Every pod carries a finalizer until its end has been counted, so that none is lost or counted twice.
#pragma once

#include "twin/kube/controllers/jobs/job_rules.h"
#include "twin/kube/controllers/workloads.h"

namespace instantstart::twin::kube::controllers {

class Jobs final : public WorkloadController {
public:
    explicit Jobs(Env& env) : WorkloadController(env, kJobs, kPods, "Job") {}
    void sync(const Key& key) override;
    void rescale(double factor);
    void clear() { lives_.clear(); }

private:
    struct Life {
        Life() = default;
        base::Duration deadline{0};    // of activeDeadlineSeconds; 0 where not set yet
        base::Duration not_before{0};  // the next pod, after a failure
        base::Duration ends_at{0};     // of ttlSecondsAfterFinished
        int failures = 0;              // since the last success
    };
    // What stands at the moment.
    struct Look;
    void sync_object(const JsonObject& job) override;
    void other_changed(const Change& change) override;
    void release(const JsonObject& pod);
    void count_pods(Look& look, Life& life);
    void count_failure(Look& look, Life& life, const JsonObject& pod);
    void remove_after_its_time(const JsonObject& job, Life& life);
    void decide(Look& look, Life& life);
    void decide_failure(Look& look);
    void fill(Look& look, Life& life);
    void suspend(Look& look, bool suspended);
    void create_pod(Look& look, std::optional<std::int64_t> index);
    std::optional<std::int64_t> next_index(const Look& look) const;
    void stop_pods(Look& look, std::int64_t keep);
    void finish(Look& look);
    void write(Look& look);
    std::map<std::string, Life, std::less<>> lives_;  // by uid
};

}  // namespace instantstart::twin::kube::controllers
