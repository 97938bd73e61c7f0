// The engine on virtual time, with a toy world that is changed by acts and seen by observations.
#include "ops/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>
#include <set>

#include "rt/task_group.h"
#include "rt/testing.h"
#include "rt/virtual_clock.h"

namespace instantstart::ops {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// What exists, and how the world misbehaves.
struct World {
    World() = default;
    std::map<std::string, base::TimePoint> things;
    std::map<std::string, int> acts;
    std::map<std::string, std::vector<base::TimePoint>> act_times;
    std::map<std::string, std::vector<base::Error>>
        act_errors;  // taken from the front; unknown_outcome: done, yet lost
    std::map<std::string, std::vector<base::Error>> observe_errors;
    base::Duration takes{0};   // from made to ready
    base::Duration hidden{0};  // made, but not seen yet
    base::Duration act_takes{0};
    int acting = 0, acting_most = 0;
};

struct ToyStep {
    ToyStep(World& made_in, rt::Clock& time, std::string thing)
        : world(&made_in), clock(&time), name(std::move(thing)) {}
    World* world;
    rt::Clock* clock;
    std::string name;
};

Task<Observation> toy_observe(ToyStep toy) {
    auto& errors = toy.world->observe_errors[toy.name];
    if (!errors.empty()) {
        base::Error error = errors.front();
        errors.erase(errors.begin());
        co_return error;
    }
    auto thing = toy.world->things.find(toy.name);
    if (thing == toy.world->things.end()) co_return absent();
    const base::Duration age = toy.clock->now() - thing->second;
    if (age < toy.world->hidden) co_return absent();
    if (age < toy.world->takes) co_return in_progress("on its way");
    JsonObject result;
    result["name"] = toy.name;
    co_return done(std::move(result));
}

Task<JsonObject> toy_act(ToyStep toy) {
    World& world = *toy.world;
    ++world.acts[toy.name];
    world.act_times[toy.name].push_back(toy.clock->now());
    world.acting_most = std::max(world.acting_most, ++world.acting);
    if (world.act_takes > 0s) {
        auto slept = co_await toy.clock->sleep(world.act_takes);
        if (!slept) {
            --world.acting;
            co_return slept.error();
        }
    }
    --world.acting;
    auto& errors = world.act_errors[toy.name];
    if (!errors.empty()) {
        base::Error error = errors.front();
        errors.erase(errors.begin());
        if (error.kind == base::ErrorKind::unknown_outcome && error.code == "lost_after")
            world.things[toy.name] = toy.clock->now();
        co_return error;
    }
    world.things[toy.name] = toy.clock->now();
    JsonObject memory;
    memory["id"] = toy.name + "-1";
    co_return memory;
}

// One life of the process: loop, clock, store and engine. The world and the disk outlive it.
struct Life {
    Life(World& made_in, std::shared_ptr<store::MemoryDisk> disk,
         std::function<store::CommitFault(const store::Batch&)> hook, base::TimePoint start)
        : world(made_in),
          clock(io, 1, start),
          store(store::open_memory(io.get_executor(), std::move(disk), std::move(hook))) {
        settings.on_event = [this](const std::string& event, const JsonObject& fields) {
            if (event == "operation_state") states.push_back(base::get_string(fields, "state"));
        };
        settings.pauses = [](const base::Error& error) { return error.code == "ExpiredToken"; };
        engine = make_engine(io.get_executor(), clock, *store, settings);
        Flow flow;
        flow.name = "toy";
        flow.steps = [this](const JsonObject& params) { return make_steps(params); };
        flow.result = [](const JsonObject&, const JsonObject& results) {
            return JsonObject{{"made", results.size()}};
        };
        engine->add_flow(flow);
    }

    // params.steps: {"a": ["needs"], …}; look_first, lease, wait_on are switches of all steps.
    std::vector<Step> make_steps(const JsonObject& params) {
        std::vector<Step> steps;
        for (const auto& member : base::get_object(params, "steps")) {
            Step step;
            step.id = std::string(member.key());
            step.title = "Make " + step.id;
            for (const auto& need : member.value().as_array()) step.needs.emplace_back(need.as_string());
            const ToyStep toy(world, clock, step.id);
            step.observe = [toy](StepCall) { return toy_observe(toy); };
            step.act = [toy](StepCall) { return toy_act(toy); };
            step.schedule = Schedule(5s, 10s);
            step.lease = base::get_string(params, "lease");
            if (base::get_bool(params, "look_first")) step.repeat = Repeat::look_first;
            step.wait_on = [](const base::Error& error) { return error.code == "InUse"; };
            steps.push_back(std::move(step));
        }
        return steps;
    }

    ~Life() { kill(); }
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    template <class T>
    base::Result<T> run(Task<T> task, base::Duration limit = 24h) {
        return rt::testing::run<T>(io, clock, std::move(task), limit);
    }
    Task<void> stop_engine() {
        co_await engine->stop();
        co_return base::ok();
    }
    void kill() {
        if (!engine) return;
        EXPECT_TRUE(run(stop_engine(), 1min));
        engine.reset();
    }
    JsonObject get(const std::string& id) {
        auto got = run(engine->get(Context(), id));
        EXPECT_TRUE(got) << got.error().chain();
        return got ? *got : JsonObject();
    }
    JsonObject wait(const std::string& id, base::Duration limit = 2h) {
        auto got = run(engine->wait(Context(), id, limit));
        EXPECT_TRUE(got) << got.error().chain();
        return got ? *got : JsonObject();
    }

    World& world;
    boost::asio::io_context io;
    rt::VirtualClock clock;
    std::unique_ptr<store::Store> store;
    EngineSettings settings;
    std::vector<std::string> states;
    std::unique_ptr<Engine> engine;
};

class EngineTest : public testing::Test {
protected:
    static constexpr auto kStart = base::TimePoint(1'790'000'000s);

    void begin(std::function<store::CommitFault(const store::Batch&)> hook = nullptr) {
        const auto now = life ? life->clock.now() : kStart;
        life.reset();
        life = std::make_unique<Life>(world, disk, std::move(hook), now);
        starting = life->run(life->engine->start(Context()), 1s);
    }
    static JsonObject chain() {
        return {{"a", base::JsonArray{}},
                {"b", base::JsonArray{"a"}},
                {"c", base::JsonArray{"a"}},
                {"d", base::JsonArray{"b", "c"}}};
    }
    static Submission request(const std::string& resource = "cluster/demo") {
        Submission made;
        made.operation = "toy.create";
        made.resource = resource;
        made.flow = "toy";
        made.params["steps"] = chain();
        made.principal = "admin";
        made.face = "rest";
        made.account = "111122223333";
        made.body = {{"name", resource}, {"count", 1}};
        return made;
    }
    base::Result<Submitted> submit(Submission made) {
        return life->run(life->engine->submit(Context(), std::move(made)));
    }
    std::string submit_id(Submission made) {
        auto submitted = submit(std::move(made));
        EXPECT_TRUE(submitted) << submitted.error().chain();
        return submitted ? base::get_string(submitted->operation, "id") : "";
    }
    static std::string state(const JsonObject& operation) { return base::get_string(operation, "state"); }
    void TearDown() override { life.reset(); }

    World world;
    std::shared_ptr<store::MemoryDisk> disk = store::make_memory_disk();
    std::unique_ptr<Life> life;
    base::Result<void> starting;
};

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
    world.act_errors["c"] = {base::Error(base::ErrorKind::invalid, "VpcLimitExceeded", "too many VPCs")};
    begin();
    const auto id = submit_id(request());
    const auto failed = life->wait(id);
    EXPECT_EQ(state(failed), "failed");
    EXPECT_EQ(base::get_string(failed, "error.code"), "VpcLimitExceeded");
    EXPECT_EQ(base::get_string(failed, "error.step"), "c");
    EXPECT_EQ(base::get_string(failed, "phase"), "c");
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

// The replay table, row by row.
class ReplayTest : public EngineTest {
protected:
    void SetUp() override {
        world.takes = 5min;
        begin();
    }
    Submission keyed(const std::string& key) {
        auto made = request();
        made.idempotency_key = key;
        return made;
    }
};

TEST_F(ReplayTest, same_key_same_body_is_the_same_operation_running_or_ended) {
    const auto id = submit_id(keyed("k"));
    auto running = submit(keyed("k"));
    ASSERT_TRUE(running);
    EXPECT_TRUE(running->replayed);
    EXPECT_EQ(base::get_string(running->operation, "id"), id);
    life->wait(id);
    const auto acts = world.acts;
    auto ended = submit(keyed("k"));
    ASSERT_TRUE(ended);
    EXPECT_TRUE(ended->replayed);
    EXPECT_EQ(base::get_int(ended->operation, "result.made"), 4);
    EXPECT_EQ(world.acts, acts);
    begin();
    auto restarted = submit(keyed("k"));
    ASSERT_TRUE(restarted);
    EXPECT_TRUE(restarted->replayed);
}

TEST_F(ReplayTest, same_key_of_a_failed_operation_shows_it_with_a_hint) {
    world.act_errors["a"] = {base::Error(base::ErrorKind::invalid, "Bad", "bad")};
    const auto id = submit_id(keyed("k"));
    life->wait(id);
    auto again = submit(keyed("k"));
    ASSERT_TRUE(again);
    EXPECT_EQ(state(again->operation), "failed");
    EXPECT_NE(base::get_string(again->operation, "error.hint").find("operation_retry"), std::string::npos);
}

TEST_F(ReplayTest, same_key_with_another_body_is_refused_and_names_the_difference) {
    submit_id(keyed("k"));
    auto other = keyed("k");
    other.body["count"] = 2;
    auto refused = submit(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "idempotency_key_reused");
    ASSERT_EQ(refused.error().fields.size(), 1U);
    EXPECT_EQ(refused.error().fields[0].pointer, "/count");
    EXPECT_FALSE(base::get_string(refused.error().extra, "operation_id").empty());
}

TEST_F(ReplayTest, same_key_of_another_principal_is_another_key) {
    const auto id = submit_id(keyed("k"));
    auto other = keyed("k");
    other.principal = "somebody";
    other.resource = "cluster/other";
    other.body["name"] = "cluster/other";
    auto submitted = submit(other);
    ASSERT_TRUE(submitted);
    EXPECT_FALSE(submitted->replayed);
    EXPECT_NE(base::get_string(submitted->operation, "id"), id);
}

TEST_F(ReplayTest, a_new_key_for_what_is_in_flight_stands_for_it_from_then_on) {
    const auto id = submit_id(request());
    auto with_key = submit(keyed("new"));
    ASSERT_TRUE(with_key);
    EXPECT_TRUE(with_key->replayed);
    EXPECT_EQ(base::get_string(with_key->operation, "id"), id);
    life->wait(id);
    auto later = submit(keyed("new"));
    ASSERT_TRUE(later);
    EXPECT_EQ(base::get_string(later->operation, "id"), id);
}

TEST_F(ReplayTest, another_request_on_a_busy_resource_is_refused) {
    const auto id = submit_id(request());
    auto other = request();
    other.body["count"] = 3;
    auto refused = submit(other);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "operation_in_progress");
    EXPECT_EQ(base::get_string(refused.error().extra, "operation_id"), id);
    life->wait(id);
    EXPECT_TRUE(submit(other));
}

TEST_F(ReplayTest, parents_that_cover_conflict_with_their_children_both_ways) {
    auto parent = request("cluster/demo");
    parent.covers_children = true;
    const auto child = request("cluster/demo/instance-group/a");
    submit_id(parent);
    EXPECT_EQ(submit(child).error().code, "operation_in_progress");
    EXPECT_TRUE(submit(request("cluster/demolition/instance-group/a")));
    submit_id(request("cluster/two/instance-group/a"));
    EXPECT_TRUE(submit(request("cluster/two/instance-group/b")));
    auto second = request("cluster/two");
    second.covers_children = true;
    EXPECT_EQ(submit(second).error().code, "operation_in_progress");
}

TEST_F(ReplayTest, what_is_not_idempotent_is_not_repeated_for_fifteen_minutes_without_a_key) {
    auto reboot = request("cluster/demo/node/i-1");
    reboot.naturally_idempotent = false;
    const auto id = submit_id(reboot);
    life->wait(id);
    auto again = submit(reboot);
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->replayed);
    EXPECT_EQ(base::get_string(again->operation, "id"), id);
    EXPECT_NE(base::get_string(again->operation, "hint").find("idempotency_key"), std::string::npos);
    auto with_key = reboot;
    with_key.idempotency_key = "second";
    auto second = submit(with_key);
    ASSERT_TRUE(second);
    EXPECT_FALSE(second->replayed);
    life->wait(base::get_string(second->operation, "id"));
    life->clock.run_until([] { return false; }, 0s);
    EXPECT_TRUE(life->run(life->clock.sleep(16min)));
    auto later = submit(reboot);
    ASSERT_TRUE(later);
    EXPECT_FALSE(later->replayed);
}

TEST_F(ReplayTest, an_old_key_is_refused_never_executed) {
    const auto id = submit_id(keyed("k"));
    life->wait(id);
    EXPECT_TRUE(life->run(life->clock.sleep(24h * 8), 24h * 9));
    auto refused = submit(keyed("k"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "idempotency_key_expired");
}

TEST_F(ReplayTest, nothing_to_do_ends_at_once_and_is_kept) {
    auto same = keyed("k");
    same.no_change = true;
    same.no_change_result = {{"cluster", "demo"}};
    auto submitted = submit(same);
    ASSERT_TRUE(submitted);
    EXPECT_EQ(state(submitted->operation), "succeeded");
    EXPECT_TRUE(base::get_bool(submitted->operation, "no_change"));
    EXPECT_EQ(base::get_string(submitted->operation, "result.cluster"), "demo");
    EXPECT_TRUE(world.acts.empty());
    EXPECT_TRUE(submit(same)->replayed);
}

TEST_F(ReplayTest, find_replay_needs_no_plan) {
    auto asked = keyed("k");
    asked.resource.clear();
    auto before = life->run(life->engine->find_replay(Context(), asked));
    ASSERT_TRUE(before);
    EXPECT_FALSE(before->has_value());
    const auto id = submit_id(keyed("k"));
    auto after = life->run(life->engine->find_replay(Context(), asked));
    ASSERT_TRUE(after);
    ASSERT_TRUE(after->has_value());
    EXPECT_EQ(base::get_string((*after)->operation, "id"), id);
}

TEST_F(ReplayTest, a_second_retry_without_a_key_shows_the_first) {
    world.act_errors["a"] = std::vector<base::Error>(2, base::Error(base::ErrorKind::invalid, "Bad", "bad"));
    const auto id = submit_id(request());
    life->wait(id);
    EXPECT_FALSE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r1"))->replayed);
    life->wait(id);
    EXPECT_TRUE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r1"))->replayed);
    EXPECT_TRUE(life->run(life->engine->retry(Context(), id, "admin", "mcp", ""))->replayed);
    EXPECT_EQ(world.acts["a"], 2);
    EXPECT_FALSE(life->run(life->engine->retry(Context(), id, "admin", "mcp", "r2"))->replayed);
    EXPECT_EQ(state(life->wait(id)), "succeeded");
}

TEST_F(ReplayTest, lists_newest_first_by_resource_and_state_in_pages) {
    std::vector<std::string> ids;
    for (int i = 0; i < 5; ++i) ids.push_back(submit_id(request("cluster/demo/node/" + std::to_string(i))));
    submit_id(request("cluster/demonstration"));
    Engine::ListQuery query;
    query.resource_prefix = "cluster/demo";
    query.limit = 3;
    auto first = life->run(life->engine->list(Context(), query));
    ASSERT_TRUE(first);
    EXPECT_EQ(first->total, 5U);
    ASSERT_EQ(first->operations.size(), 3U);
    EXPECT_EQ(base::get_string(first->operations[0], "id"), ids[4]);
    query.after = first->next;
    auto second = life->run(life->engine->list(Context(), query));
    ASSERT_TRUE(second);
    ASSERT_EQ(second->operations.size(), 2U);
    EXPECT_EQ(base::get_string(second->operations[1], "id"), ids[0]);
    EXPECT_EQ(second->next, "");
    query.state = "failed";
    EXPECT_EQ(life->run(life->engine->list(Context(), query))->total, 0U);
}

}  // namespace
}  // namespace instantstart::ops
