// Jobs and CronJobs: counting, indexes, policies, deadlines, schedules.
#include "twin/kube/controllers/controllers_fixture.h"
#include "twin/kube/controllers/jobs/index_set.h"
#include "twin/kube/controllers/jobs/schedule.h"

namespace instantstart::twin::kube::controllers {
namespace {

using testing::Contains;
using testing::HasSubstr;

TEST(IndexSets, are_written_as_intervals) {
    IndexSet set("0-2,5,9-20,x", 11);
    EXPECT_EQ(set.text(), "0-2,5,9,10");
    EXPECT_EQ(set.size(), 6);
    set.add(3);
    set.add(4);
    EXPECT_EQ(set.text(), "0-5,9,10");
    EXPECT_EQ(IndexSet().text(), "");
}

TEST(Schedules, name_their_times) {
    const auto after = [](const char* schedule, const char* time) {
        const auto read = Schedule::parse(schedule);
        const auto next = read ? read->next(*base::parse_time(time)) : std::nullopt;
        return next ? base::format_time(*next) : std::string("none");
    };
    EXPECT_EQ(after("*/15 * * * *", "2026-11-30T10:07:30Z"), "2026-11-30T10:15:00Z");
    EXPECT_EQ(after("0 3 * * 1-5", "2026-11-27T03:00:00Z"), "2026-11-30T03:00:00Z");
    EXPECT_EQ(after("0 0 29 feb *", "2026-01-01T00:00:00Z"), "2028-02-29T00:00:00Z");
    EXPECT_EQ(after("30 6 13 * 5", "2026-11-07T00:00:00Z"), "2026-11-13T06:30:00Z");
    EXPECT_EQ(after("@daily", "2026-11-30T10:00:00Z"), "2026-12-01T00:00:00Z");
    EXPECT_EQ(after("0 12 * * 7", "2026-11-30T10:00:00Z"), "2026-12-06T12:00:00Z");
    EXPECT_EQ(after("0 0 30 2 *", "2026-11-30T10:00:00Z"), "none");
    for (const char* bad : {"", "* * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *"})
        EXPECT_FALSE(Schedule::parse(bad)) << bad;
}

class JobsTest : public ControllersTest {
protected:
    JobsTest() { node("n1", "ml.m5.xlarge", 100); }
    // `script` is what its container does.
    void job(const std::string& name, const std::string& spec, const std::string& script) {
        create(
            kJobs,
            R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")" + name +
                R"(","namespace":"default"},"spec":{)" + spec + (spec.empty() ? "" : ",") +
                R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"job:1","command":["sh","-c",")" +
                script + R"("]}]}}}})");
    }
    std::string condition(const std::string& name, const std::string& type) {
        for (const auto& one : base::get_array(*get(kJobs, name), "status.conditions")) {
            if (base::get_string(one, "type") == type && base::get_string(one, "status") == "True")
                return base::get_string(one, "reason") + ": " + base::get_string(one, "message");
        }
        return {};
    }
    std::int64_t count(const std::string& name, const char* what) {
        return base::get_int(*get(kJobs, name), std::string("status.") + what);
    }
};

TEST_F(JobsTest, parallelism_bounds_what_runs_and_completions_end_it) {
    job("j", R"("completions":5,"parallelism":2)", "sleep 60");
    run(30s);
    EXPECT_EQ(count("j", "active"), 2);
    EXPECT_EQ(count("j", "ready"), 2);
    EXPECT_EQ(pods().size(), 2U);
    run(5min);
    EXPECT_EQ(condition("j", "Complete"), "CompletionsReached: Reached expected number of succeeded pods");
    EXPECT_EQ(count("j", "succeeded"), 5);
    EXPECT_EQ(event_message("Completed"), "Job completed");
    for (const auto& one : pods()) EXPECT_FALSE(has_finalizer(*one, "batch.kubernetes.io/job-tracking"));
}

TEST_F(JobsTest, indexed_pods_know_their_index_and_a_lost_one_is_made_again) {
    job("j", R"("completions":3,"parallelism":3,"completionMode":"Indexed")", "sleep 100");
    run(30s);
    std::set<std::string> hosts;
    for (const auto& one : pods()) {
        hosts.insert(base::get_string(*one, "spec.hostname"));
        EXPECT_EQ(base::get_string(*one, "spec.containers.0.env.0.name"), "JOB_COMPLETION_INDEX");
    }
    EXPECT_EQ(hosts, (std::set<std::string>{"j-0", "j-1", "j-2"}));
    ASSERT_TRUE(controllers->append_log("default", name_of(*pods()[0]), "main", {}, 9));
    run(90s);
    EXPECT_EQ(text(kJobs, "j", "status.completedIndexes"), "1,2");
    EXPECT_EQ(count("j", "failed"), 1);
    run(3min);
    EXPECT_EQ(text(kJobs, "j", "status.completedIndexes"), "0-2");
    EXPECT_NE(condition("j", "Complete"), "");
}

TEST_F(JobsTest, failures_wait_longer_each_time_and_then_end_it) {
    job("j", R"("backoffLimit":2)", "exit 1");
    run(15s);
    EXPECT_EQ(count("j", "failed"), 1);
    run(2min);
    EXPECT_EQ(count("j", "failed"), 3);
    EXPECT_EQ(condition("j", "Failed"), "BackoffLimitExceeded: Job has reached the specified backoff limit");
    EXPECT_EQ(event_message("BackoffLimitExceeded"), "Job has reached the specified backoff limit");
}

TEST_F(JobsTest, an_end_is_counted_though_the_pod_is_gone) {
    job("j", R"("completions":2,"parallelism":1)", "sleep 30");
    run(45s);
    EXPECT_EQ(count("j", "succeeded"), 1);
    for (const auto& one : pods()) {
        if (is_finished(*one)) {
            ASSERT_TRUE(store.remove(kPods, "default", name_of(*one)));
        }
    }
    run(2min);
    EXPECT_EQ(count("j", "succeeded"), 2);
    EXPECT_NE(condition("j", "Complete"), "");
}

TEST_F(JobsTest, a_deadline_ends_it) {
    job("j", R"("activeDeadlineSeconds":60)", "sleep infinity");
    run(30s);
    EXPECT_EQ(count("j", "active"), 1);
    run(1min);
    EXPECT_EQ(condition("j", "Failed"), "DeadlineExceeded: Job was active longer than specified deadline");
    EXPECT_TRUE(pods().empty() || is_finished(*pods()[0]));
}

TEST_F(JobsTest, time_after_its_end_removes_it_with_its_pods) {
    job("j", R"("ttlSecondsAfterFinished":100)", "sleep 5");
    run(1min);
    EXPECT_NE(condition("j", "Complete"), "");
    run(2min);
    EXPECT_EQ(get(kJobs, "j"), nullptr);
    EXPECT_TRUE(pods().empty());
}

TEST_F(JobsTest, policy_for_failures_decides_what_counts) {
    const std::string policy =
        R"("backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"main","operator":"In","values":[42]}},
        {"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"True"}]}]})";
    job("bug", R"("backoffLimit":6,)" + policy.substr(policy.find("\"podFailurePolicy\"")), "exit 42");
    run(15s);
    EXPECT_THAT(condition("bug", "Failed"),
                HasSubstr("PodFailurePolicy: Container main for pod default/bug-"));
    EXPECT_THAT(condition("bug", "Failed"),
                HasSubstr("failed with exit code 42 matching FailJob rule at index 0"));
    job("moved", policy, "sleep 100");
    run(30s);
    taint_node("n1", "repair", "", "NoExecute");
    run(10s);
    edit(kNodes, "n1", "", [](JsonObject& n1) { object_at(n1, "spec").erase("taints"); });
    run(3min);
    EXPECT_EQ(count("moved", "failed"), 0);
    EXPECT_NE(condition("moved", "Complete"), "");
}

TEST_F(JobsTest, a_limit_for_each_index_fails_that_index_only) {
    create(
        kJobs,
        R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","namespace":"default"},"spec":{"completions":2,"parallelism":2,
        "completionMode":"Indexed","backoffLimitPerIndex":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"job:1","command":["sleep","200"]}]}}}})");
    for (int i = 0; i < 2; ++i) {
        run(40s);
        for (const auto& one : pods()) {
            const bool first = base::get_string(*one, "spec.hostname") == "j-0";
            if (first && !is_finished(*one)) {
                ASSERT_TRUE(controllers->append_log("default", name_of(*one), "main", {}, 1));
            }
        }
    }
    run(5min);
    EXPECT_EQ(text(kJobs, "j", "status.failedIndexes"), "0");
    EXPECT_EQ(text(kJobs, "j", "status.completedIndexes"), "1");
    EXPECT_EQ(condition("j", "Failed"), "FailedIndexes: Job has failed indexes");
}

TEST_F(JobsTest, success_policy_ends_it_early) {
    job("j",
        R"("completions":3,"parallelism":3,"completionMode":"Indexed","successPolicy":{"rules":[{"succeededIndexes":"0","succeededCount":1}]})",
        "sleep infinity");
    run(30s);
    for (const auto& one : pods()) {
        if (base::get_string(*one, "spec.hostname") == "j-0") {
            ASSERT_TRUE(controllers->append_log("default", name_of(*one), "main", {}, 0));
        }
    }
    run(10s);
    EXPECT_EQ(condition("j", "SuccessCriteriaMet"), "SuccessPolicy: Matched rules at index 0");
    EXPECT_NE(condition("j", "Complete"), "");
}

TEST_F(JobsTest, suspended_it_has_no_pods) {
    job("j", R"("suspend":true)", "sleep 20");
    run(30s);
    EXPECT_TRUE(pods().empty());
    EXPECT_EQ(condition("j", "Suspended"), "JobSuspended: Job suspended");
    edit(kJobs, "j", "default", [](JsonObject& j) { object_at(j, "spec")["suspend"] = false; });
    run(1min);
    EXPECT_NE(condition("j", "Complete"), "");
    EXPECT_EQ(event_message("Resumed"), "Job resumed");
}

TEST_F(JobsTest, a_deleted_job_lets_its_pods_go) {
    job("j", "", "sleep infinity");
    run(30s);
    ASSERT_TRUE(store.remove(kJobs, "default", "j"));
    run(1min);
    EXPECT_TRUE(pods().empty());
}

class CronJobsTest : public JobsTest {
protected:
    void cron(const std::string& spec, const std::string& script) {
        create(
            kCronJobs,
            R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c","namespace":"default"},"spec":{"schedule":"*/5 * * * *")" +
                spec +
                R"(,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"job:1","command":["sh","-c",")" +
                script + R"("]}]}}}}}})");
    }
    std::size_t jobs() { return store.list(kJobs, "default").size(); }
};

TEST_F(CronJobsTest, makes_a_job_at_each_time_and_keeps_the_last_ones) {
    cron("", "sleep 5");
    run(6min);
    EXPECT_EQ(jobs(), 1U);
    EXPECT_THAT(event_message("SuccessfulCreate"),
                testing::AnyOf(HasSubstr("Created job c-"), HasSubstr("Created pod: c-")));
    EXPECT_NE(text(kCronJobs, "c", "status.lastScheduleTime"), "");
    EXPECT_NE(text(kCronJobs, "c", "status.lastSuccessfulTime"), "");
    run(1h);
    EXPECT_EQ(jobs(), 3U);
    EXPECT_THAT(event_message("SawCompletedJob"), HasSubstr(", condition: Complete"));
}

TEST_F(CronJobsTest, forbid_waits_and_replace_exchanges) {
    cron(R"(,"concurrencyPolicy":"Forbid")", "sleep infinity");
    run(20min);
    EXPECT_EQ(jobs(), 1U);
    EXPECT_THAT(event_message("JobAlreadyActive"), HasSubstr("concurrency policy is Forbid"));
    const auto first = name_of(*store.list(kJobs, "default")[0]);
    edit(kCronJobs, "c", "default",
         [](JsonObject& c) { object_at(c, "spec")["concurrencyPolicy"] = "Replace"; });
    run(6min);
    EXPECT_EQ(jobs(), 1U);
    EXPECT_NE(name_of(*store.list(kJobs, "default")[0]), first);
}

TEST_F(CronJobsTest, suspended_or_unreadable_it_makes_nothing) {
    cron(R"(,"suspend":true)", "sleep 5");
    run(20min);
    EXPECT_EQ(jobs(), 0U);
    edit(kCronJobs, "c", "default", [](JsonObject& c) {
        object_at(c, "spec")["suspend"] = false;
        object_at(c, "spec")["schedule"] = "every day";
    });
    run(10min);
    EXPECT_EQ(jobs(), 0U);
    EXPECT_EQ(event_message("UnparseableSchedule"), "unparseable schedule: every day");
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
