// Step and Flow: what a long operation is made of. The engine (engine.h) runs them; docs/architecture.md has
// the rules.
//
// A step is looked at before it acts, always: `observe` reads the world and says where the step stands; only
// where it says `absent` does the engine journal "about to act" (durable) and call `act`, which makes the
// mutation; then it observes again, by the schedule, until `done`, unless the act is its proof (proof.h). A
// step is safe to start again at any moment: after a crash, a retry, a lost answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "rt/clock.h"
#include "rt/context.h"
#include "rt/task.h"

namespace instantstart::ops {

using base::JsonObject;
using base::JsonValue;
using rt::Context;
using rt::Task;

enum class Presence : std::uint8_t {
    absent,       // nothing there: act
    in_progress,  // on its way: look again later (step state `waiting`)
    done,
    impossible  // can never become done without the user; `error` says why: the step fails
};

struct Observation {
    Observation() = default;
    explicit Observation(Presence presence) : presence(presence) {}
    Presence presence = Presence::absent;
    JsonObject result;      // done: kept as the step's result, what later steps read
    std::string detail;     // shown beside the step ("2 of 3 nodes ready")
    base::Error error;      // impossible: why
    JsonObject conditions;  // shown on the operation while it waits ({"type": "WaitingForCapacity", …})
    bool skipped = false;   // done without ever having been needed: step state `skipped`
    double fraction = 0;    // in_progress: 0..1 where it can be told
};
Observation absent();
Observation in_progress(std::string detail, double fraction = 0);
Observation done(JsonObject result);
Observation skipped(std::string why);
Observation impossible(base::Error why);

// What a step body gets. By value: it lives as long as the coroutine.
struct StepCall {
    StepCall() = default;
    Context context;
    std::string operation_id;
    std::string step_id;
    std::string client_token;  // derived from operation and step: the same at every attempt
    JsonObject params;         // the flow's parameters
    JsonObject results;        // step id -> result object, of all steps done so far
    JsonObject memory;         // what `act` returned last, durable ({} at first)
    bool acted = false;        // an act of this step was started before (its outcome may be unknown)
    int attempt = 1;
    // The step was on its way when it was last seen: this look comes again by its schedule, so one that fails
    // is not worth repeating at once.
    bool polling = false;
    const JsonObject& result_of(std::string_view step) const;  // {} where absent
};

// How often to look while in progress: starts at `first`, doubles with jitter up to `cap`.
struct Schedule {
    Schedule() = default;
    Schedule(base::Duration cap, base::Duration typical) : cap(cap), typical(typical) {}
    base::Duration first = std::chrono::milliseconds(500);
    base::Duration cap = std::chrono::seconds(15);
    // AWS's typical duration, for the first ETA (the engine divides it by the twin's speed and learns
    // medians).
    base::Duration typical = std::chrono::seconds(2);
    base::Duration limit = std::chrono::hours(24);  // in progress for longer: failed, code "settle_timeout"
};

// Where the act has neither client token nor account-unique name (CreateVpc, …): after an unknown outcome the
// engine observes for at least 60 s before it may act again. `repeatable` acts are repeated once observed as
// absent.
enum class Repeat : std::uint8_t { repeatable, look_first };

struct Step {
    Step() = default;
    std::string id;     // unique in the flow, snake_case; "workers.nodes" for one of several alike
    std::string title;  // "Create VPC"
    std::vector<std::string> needs;
    std::function<Task<Observation>(StepCall)> observe;
    std::function<Task<JsonObject>(StepCall)> act;  // empty: only watched
    Schedule schedule;
    Repeat repeat = Repeat::repeatable;
    // Error kinds beyond the engine's own rules that mean "wait and look again" for a while: e.g. IAM
    // propagation.
    std::function<bool(const base::Error&)> wait_on;
    base::Duration wait_budget = std::chrono::seconds(180);
    // Shared object that steps of all operations change one at a time ("hyperpod/demo"): from the last look
    // to the end of the act only one step holds it; the others wait. "" = none.
    std::string lease;
    std::string action = "create";  // for plans: create, change, delete, check
};

// A flow makes its steps from its parameters alone, the same at every call (they are made again after a
// restart).
struct Flow {
    Flow() = default;
    std::string name;  // "hyperpod_create"
    std::function<std::vector<Step>(const JsonObject& params)> steps;
    // The operation's result once all steps are done, from their results; may be empty.
    std::function<JsonObject(const JsonObject& params, const JsonObject& results)> result;
};

}  // namespace instantstart::ops
