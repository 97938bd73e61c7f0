// For the engine's tests: a toy world that is changed by acts and seen by observations, and lives of the
// process over it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ops/engine.h"
#include "ops/proof.h"
#include "rt/testing.h"
#include "rt/virtual_clock.h"

namespace instantstart::ops::toy {

using namespace std::chrono_literals;

// What exists, and how the world misbehaves.
struct World {
    World() = default;
    std::map<std::string, base::TimePoint> things;
    std::map<std::string, int> acts;
    std::map<std::string, std::vector<base::TimePoint>> act_times;
    std::map<std::string, std::vector<base::Error>>
        act_errors;  // taken from the front; unknown_outcome: done, yet lost
    std::map<std::string, std::vector<base::Error>> observe_errors;
    struct Look {
        base::TimePoint at;
        bool polling = false;
    };
    std::map<std::string, std::vector<Look>> looks;
    base::Duration takes{0};   // from made to ready
    base::Duration hidden{0};  // made, but not seen yet
    base::Duration act_takes{0};
    int acting = 0, acting_most = 0;
    bool proves = false;  // an act's answer shows its effect
};

struct ToyStep {
    ToyStep(World& made_in, rt::Clock& time, std::string thing)
        : world(&made_in), clock(&time), name(std::move(thing)) {}
    World* world;
    rt::Clock* clock;
    std::string name;
};

inline Task<Observation> toy_observe(ToyStep toy, bool polling) {
    World::Look look;
    look.at = toy.clock->now();
    look.polling = polling;
    toy.world->looks[toy.name].push_back(look);
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

inline Task<JsonObject> toy_act(ToyStep toy) {
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
    if (world.proves) co_return proven(std::move(memory), {{"name", toy.name}});
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
            step.observe = [toy](StepCall call) { return toy_observe(toy, call.polling); };
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

}  // namespace instantstart::ops::toy
