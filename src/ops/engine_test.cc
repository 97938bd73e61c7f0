// The engine on virtual time: order, failures, kills, cancelling.
#include <gtest/gtest.h>

#include "ops/engine_fixture.h"

namespace instantstart::ops::toy {
namespace {

TEST_F(EngineTest, steps_without_dependency_run_side_by_side) {
    world.act_takes = 10s;
    begin();
    const auto id = submit_id(request());
    const auto before = life->clock.now();
    const auto ended = life->wait(id);
    EXPECT_EQ(state(ended), "succeeded");
    EXPECT_EQ(world.acting_most, 2);
    EXPECT_LT(life->clock.now() - before, 35s);
    EXPECT_EQ(base::get_int(ended, "result.made"), 4);
    EXPECT_EQ(base::get_string(ended, "requested_by.face"), "rest");
    EXPECT_FALSE(ended.contains("error"));
    EXPECT_FALSE(ended.contains("eta_seconds"));
    for (const auto& [name, count] : world.acts) EXPECT_EQ(count, 1) << name;
}

TEST_F(EngineTest, projection_tells_phase_progress_and_eta) {
    world.takes = 10s;
    begin();
    const auto id = submit_id(request());
    const auto now = life->wait(id, 12s);
    EXPECT_EQ(state(now), "waiting");
    EXPECT_TRUE(base::get_string(now, "phase") == "b" || base::get_string(now, "phase") == "c");
    EXPECT_GT(now.at("progress").to_number<double>(), 0.2);
    EXPECT_LT(now.at("progress").to_number<double>(), 0.6);
    EXPECT_GT(base::get_int(now, "eta_seconds"), 10);
    EXPECT_LT(base::get_int(now, "eta_seconds"), 25);
    EXPECT_EQ(base::get_string(now, "steps.0.state"), "succeeded");
    EXPECT_EQ(base::get_string(now, "steps.3.state"), "pending");
}

TEST_F(EngineTest, what_exists_already_is_not_made_again) {
    world.things = {{"a", kStart - 1h}, {"b", kStart - 1h}, {"c", kStart - 1h}, {"d", kStart - 1h}};
    begin();
    EXPECT_EQ(state(life->wait(submit_id(request()))), "succeeded");
    EXPECT_TRUE(world.acts.empty());
}

// Kills the process at every commit, before and after it, and goes on in the next life: nothing is made
// twice.
TEST_F(EngineTest, a_kill_at_any_commit_loses_nothing_and_repeats_nothing) {
    for (const auto fault : {store::CommitFault::crash_before, store::CommitFault::crash_after}) {
        for (int at = 0; at < 40; ++at) {
            world = World();
            world.takes = 3s;
            disk = store::make_memory_disk();
            life.reset();
            int commits = 0;
            bool crashed = false;
            begin([&](const store::Batch&) {
                crashed = crashed || commits == at;
                return commits++ == at ? fault : store::CommitFault::none;
            });
            auto first = request();
            first.idempotency_key = "k1";
            auto submitted = life->run(life->engine->submit(Context(), first), 1min);
            life->clock.run_until([&] { return crashed; }, 10min);
            begin();
            auto again = submit(first);
            ASSERT_TRUE(again) << again.error().chain();
            if (submitted) {
                EXPECT_TRUE(again->replayed);
                EXPECT_EQ(base::get_string(again->operation, "id"),
                          base::get_string(submitted->operation, "id"));
            }
            const auto ended = life->wait(base::get_string(again->operation, "id"));
            EXPECT_EQ(state(ended), "succeeded") << at;
            for (const auto& [name, count] : world.acts) EXPECT_EQ(count, 1) << name << " at " << at;
            if (!crashed) break;
        }
    }
}

TEST_F(EngineTest, lost_answer_is_looked_for_before_acting_again) {
    world.hidden = 20s;
    world.act_errors["a"] = {base::Error(base::ErrorKind::unknown_outcome, "lost_after", "connection reset")};
    begin();
    auto first = request();
    first.params["look_first"] = true;
    EXPECT_EQ(state(life->wait(submit_id(first))), "succeeded");
    EXPECT_EQ(world.acts["a"], 1);
}

TEST_F(EngineTest, lost_before_it_was_done_acts_again_after_the_window_only) {
    world.act_errors["a"] = {
        base::Error(base::ErrorKind::unknown_outcome, "lost_before", "connection reset")};
    begin();
    auto first = request();
    first.params["look_first"] = true;
    EXPECT_EQ(state(life->wait(submit_id(first))), "succeeded");
    ASSERT_EQ(world.acts["a"], 2);
    EXPECT_GE(world.act_times["a"][1] - world.act_times["a"][0], 60s);
}

TEST_F(EngineTest, repeatable_act_is_repeated_soon_after_a_lost_answer) {
    world.act_errors["a"] = {
        base::Error(base::ErrorKind::unknown_outcome, "lost_before", "connection reset")};
    begin();
    EXPECT_EQ(state(life->wait(submit_id(request()))), "succeeded");
    EXPECT_EQ(world.acts["a"], 2);
    EXPECT_LT(world.act_times["a"][1] - world.act_times["a"][0], 5s);
}

TEST_F(EngineTest, throttling_is_retried_and_conflicts_are_waited_out) {
    world.act_errors["a"] = {base::Error(base::ErrorKind::throttled, "Throttling", "slow down"),
                             base::conflict_error("InUse", "another change is in progress")};
    world.observe_errors["b"] = {base::Error(base::ErrorKind::unavailable, "refused", "connection refused")};
    begin();
    EXPECT_EQ(state(life->wait(submit_id(request()))), "succeeded");
    EXPECT_EQ(world.acts["a"], 3);
}

// The toy's looks come every 5 s at most, with jitter.
TEST_F(EngineTest, a_look_that_is_throttled_on_the_way_waits_for_its_schedule) {
    world.takes = 2min;
    begin();
    auto wanted = request();
    wanted.params["steps"] = JsonObject{{"a", base::JsonArray{}}};
    const auto id = submit_id(wanted);
    life->wait(id, 30s);
    const std::size_t before = world.looks["a"].size();
    const base::Error throttled(base::ErrorKind::throttled, "Throttling", "slow down");
    world.observe_errors["a"] = std::vector<base::Error>(4, throttled);
    EXPECT_EQ(state(life->wait(id)), "succeeded");
    EXPECT_TRUE(world.observe_errors["a"].empty());
    EXPECT_EQ(world.acts["a"], 1);
    const auto& looks = world.looks["a"];
    EXPECT_FALSE(looks.front().polling);
    EXPECT_TRUE(looks.back().polling);
    for (std::size_t i = before; i < before + 4; ++i) EXPECT_GE(looks[i + 1].at - looks[i].at, 2500ms);
}

TEST_F(EngineTest, the_time_without_credentials_is_no_time_of_trouble) {
    const base::Error throttled(base::ErrorKind::throttled, "Throttling", "slow down");
    const base::Error expired(base::ErrorKind::denied, "ExpiredToken", "the token has expired");
    world.observe_errors["a"] = std::vector<base::Error>(60, expired);
    world.observe_errors["a"].front() = throttled;
    world.observe_errors["a"].back() = throttled;
    begin();
    const auto id = submit_id(request());
    const auto start = life->clock.now();
    // A wait ends early where somebody must sign in.
    for (int times = 0; times < 300 && state(life->get(id)) != "succeeded"; ++times)
        ASSERT_TRUE(life->run(life->clock.sleep(1min)));
    EXPECT_EQ(state(life->get(id)), "succeeded");
    EXPECT_GT(life->clock.now() - start, 15min);
}

TEST_F(EngineTest, an_act_that_proves_its_effect_is_not_looked_for) {
    world.proves = true;
    world.hidden = 1h;
    begin();
    const auto id = submit_id(request());
    const auto ended = life->wait(id, 1min);
    EXPECT_EQ(state(ended), "succeeded");
    for (const char* step : {"a", "b", "c", "d"}) {
        EXPECT_EQ(world.acts[step], 1) << step;
        EXPECT_EQ(world.looks[step].size(), 1U) << step;
    }
    EXPECT_EQ(base::get_int(ended, "result.made"), 4);
}

TEST_F(EngineTest, endless_throttling_fails_after_its_budget) {
    world.act_errors["a"] =
        std::vector<base::Error>(500, base::Error(base::ErrorKind::throttled, "Throttling", "slow down"));
    begin();
    const auto before = life->clock.now();
    const auto ended = life->wait(submit_id(request()));
    EXPECT_EQ(state(ended), "failed");
    EXPECT_EQ(base::get_string(ended, "error.code"), "Throttling");
    EXPECT_GT(life->clock.now() - before, 14min);
    EXPECT_LT(world.acts["a"], 100);
}

TEST_F(EngineTest, failure_keeps_what_succeeded_and_retry_goes_on) {
    base::FieldError field;
    field.pointer = "/network/vpc_id";
    field.message = "use one that exists";
    world.act_errors["c"] = {base::Error(base::ErrorKind::invalid, "VpcLimitExceeded", "too many VPCs")
                                 .with_field(std::move(field))};
    begin();
    const auto id = submit_id(request());
    const auto failed = life->wait(id);
    EXPECT_EQ(state(failed), "failed");
    EXPECT_EQ(base::get_string(failed, "error.code"), "VpcLimitExceeded");
    EXPECT_EQ(base::get_string(failed, "error.step"), "c");
    EXPECT_EQ(base::get_string(failed, "phase"), "c");
    EXPECT_EQ(base::get_string(failed, "error.errors.0.pointer"), "/network/vpc_id");
    EXPECT_EQ(base::get_array(failed, "error.changed").size(), 2U);
    EXPECT_EQ(base::get_string(failed, "steps.1.state"), "succeeded");
    EXPECT_EQ(base::get_string(failed, "steps.3.state"), "pending");

    auto retried = life->run(life->engine->retry(Context(), id, "admin", "rest", ""));
    ASSERT_TRUE(retried) << retried.error().chain();
    EXPECT_FALSE(retried->replayed);
    EXPECT_EQ(base::get_string(retried->operation, "id"), id);
    const auto ended = life->wait(id);
    EXPECT_EQ(state(ended), "succeeded");
    EXPECT_EQ(base::get_int(ended, "steps.2.attempt"), 2);
    EXPECT_EQ(world.acts["a"], 1);
    auto again = life->run(life->engine->retry(Context(), id, "admin", "rest", "new-key"));
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, "not_retryable");
}

TEST_F(EngineTest, a_failed_operation_does_not_wait_for_ever_for_its_other_steps) {
    world.takes = 2s;
    world.act_errors["c"] = {base::Error(base::ErrorKind::invalid, "VpcLimitExceeded", "too many VPCs")};
    begin();
    const auto id = submit_id(request());
    life->wait(id, 3s);  // `a` is there, `b` on its way; from now on that takes ten hours
    world.takes = 10h;
    const auto before = life->clock.now();
    const auto failed = life->wait(id);
    EXPECT_EQ(state(failed), "failed");
    EXPECT_LT(life->clock.now() - before, 10min);
    EXPECT_EQ(base::get_string(failed, "error.step"), "c");
    EXPECT_EQ(base::get_string(failed, "steps.1.state"), "pending");
}

TEST_F(EngineTest, expired_credentials_pause_and_resume_by_themselves) {
    world.act_errors["a"] = std::vector<base::Error>(
        20, base::Error(base::ErrorKind::denied, "ExpiredToken", "the token has expired"));
    begin();
    const auto id = submit_id(request());
    const auto paused = life->wait(id, 5s);
    EXPECT_EQ(state(paused), "waiting");
    EXPECT_EQ(base::get_string(paused, "conditions.0.type"), "CredentialsExpired");
    EXPECT_EQ(state(life->wait(id)), "succeeded");
}

TEST_F(EngineTest, cancel_cuts_polls_and_lets_an_act_finish) {
    world.takes = 1h;
    world.act_takes = 1s;
    begin();
    const auto id = submit_id(request());
    life->wait(id, 500ms);
    const auto before = life->clock.now();
    auto cancelled = life->run(life->engine->cancel(Context(), id));
    ASSERT_TRUE(cancelled);
    EXPECT_EQ(state(*cancelled), "cancelled");
    EXPECT_LE(life->clock.now() - before, 2s);
    EXPECT_TRUE(world.things.contains("a"));
    EXPECT_EQ(base::get_string(*cancelled, "steps.0.state"), "cancelled");
    EXPECT_EQ(base::get_string(*cancelled, "steps.3.state"), "cancelled");
    auto twice = life->run(life->engine->cancel(Context(), id));
    ASSERT_TRUE(twice);
    EXPECT_EQ(state(*twice), "cancelled");
}

TEST_F(EngineTest, stop_midway_goes_on_after_the_next_start) {
    world.takes = 30s;
    begin();
    const auto id = submit_id(request());
    life->wait(id, 40s);
    begin();
    EXPECT_TRUE(starting);
    EXPECT_EQ(state(life->wait(id)), "succeeded");
    for (const auto& [name, count] : world.acts) EXPECT_EQ(count, 1) << name;
}

TEST_F(EngineTest, leases_let_one_act_at_a_time_through) {
    world.act_takes = 2s;
    begin();
    auto first = request();
    first.params["lease"] = "hyperpod/demo";
    EXPECT_EQ(state(life->wait(submit_id(first))), "succeeded");
    EXPECT_EQ(world.acting_most, 1);
}

TEST_F(EngineTest, unknown_flow_after_a_restart_fails_clearly) {
    world.takes = 1h;
    begin();
    const auto id = submit_id(request());
    const auto now = life->clock.now();
    life.reset();
    life = std::make_unique<Life>(world, disk, nullptr, now);
    life->engine = make_engine(life->io.get_executor(), life->clock, *life->store, EngineSettings());
    ASSERT_TRUE(life->run(life->engine->start(Context())));
    const auto ended = life->wait(id);
    EXPECT_EQ(state(ended), "failed");
    EXPECT_EQ(base::get_string(ended, "error.code"), "flow_unknown");
}

TEST_F(EngineTest, what_does_not_exist_is_said_so) {
    begin();
    auto nothing = life->run(life->engine->get(Context(), "op_missing"));
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().kind, base::ErrorKind::not_found);
    auto bad = request();
    bad.flow = "no_such_flow";
    EXPECT_FALSE(submit(bad));
}

}  // namespace
}  // namespace instantstart::ops::toy
