// One turn of a step: look, and do what follows from what was seen.
#include <algorithm>

#include "base/digest.h"
#include "ops/impl/engine_impl.h"
#include "ops/proof.h"

namespace instantstart::ops::impl {

namespace {

// Continuous failure of the same call for so long fails the step.
constexpr base::Duration kRetryBudget = std::chrono::minutes(15);
// What a step waits for (a new role, a conflict) mostly takes seconds: a longer pause would only add to the
// pipeline.
constexpr base::Duration kWaitPause = std::chrono::seconds(2);
// Once a step has failed the others are waited for no longer than twice their usual time and this: a retry
// looks again anyway.
constexpr base::Duration kPatience = std::chrono::minutes(1);

bool has_failed_step(const Record& record) {
    return std::any_of(record.steps.begin(), record.steps.end(),
                       [](const StepRow& row) { return row.state == State::failed; });
}
// After an act that returned well, what it made may stay unseen for a while (eventual consistency).
constexpr base::Duration kVisibility = std::chrono::seconds(15);
constexpr int kActsWithoutEffect = 10;

// The same at every attempt: AWS recognises a repeated request by it. Shaped as a UUID, which every service
// takes.
std::string token_of(const std::string& operation, const std::string& step) {
    const std::string hash = base::sha256_hex(operation + "/" + step);
    return hash.substr(0, 8) + "-" + hash.substr(8, 4) + "-4" + hash.substr(13, 3) + "-a" +
           hash.substr(17, 3) + "-" + hash.substr(20, 12);
}

base::Error thrown(const std::exception& failure) {
    base::Error error = base::internal_error("a step ended in an unexpected way");
    error.detail = failure.what();
    return error;
}

bool was_executed_perhaps(base::ErrorKind kind) {
    return kind == base::ErrorKind::unknown_outcome || kind == base::ErrorKind::deadline ||
           kind == base::ErrorKind::cancelled;
}

}  // namespace

StepCall EngineImpl::make_call(const Live& live, std::size_t index) const {
    const Record& record = live.record;
    const StepRow& row = record.steps[index];
    StepCall call;
    call.context = Context()
                       .with("operation", record.id)
                       .with("step", row.id)
                       .with("principal", record.principal)
                       .with("face", record.face);
    call.operation_id = record.id;
    call.step_id = row.id;
    call.client_token = token_of(record.id, row.id);
    call.params = record.params;
    for (const auto& other : record.steps) {
        if (is_done(other.state)) call.results[other.id] = other.result;
    }
    call.memory = row.memory;
    call.acted = row.acts > 0;
    call.attempt = row.attempt;
    return call;
}

Task<void> EngineImpl::take_slot() {
    while (slots_used_ >= settings_.max_parallel_steps && !stopping_)
        CO_CHECK_OK(co_await slots_changed_.wait());
    ++slots_used_;
    co_return base::ok();
}

void EngineImpl::give_slot() {
    --slots_used_;
    slots_changed_.notify_all();
}

Task<Observation> EngineImpl::observe(LivePtr live, std::size_t index, Look look) {
    CO_CHECK_OK(co_await take_slot());
    base::Result<Observation> seen;
    StepCall call = make_call(*live, index);
    call.polling = look == Look::of_schedule;
    try {
        seen = co_await live->steps[index].observe(std::move(call));
    } catch (const std::exception& failure) {
        seen = thrown(failure);
    }
    give_slot();
    co_return seen;
}

Task<JsonObject> EngineImpl::act(LivePtr live, std::size_t index) {
    CO_CHECK_OK(co_await take_slot());
    base::Result<JsonObject> made;
    StepCall call = make_call(*live, index);
    try {
        made = co_await live->steps[index].act(std::move(call));
    } catch (const std::exception& failure) {
        made = thrown(failure);
    }
    give_slot();
    co_return made;
}

Task<Next> EngineImpl::turn(LivePtr live, std::size_t index, StepRun& run) {
    const bool settles = run.in_progress_since || live->record.steps[index].outcome == Outcome::known;
    auto seen = co_await observe(live, index, settles ? Look::of_schedule : Look::before_act);
    if (!seen) co_return co_await call_failed(live, index, run, run.observing, std::move(seen.error()));
    run.observing.over();
    run.pausing.over();
    StepRow& row = live->record.steps[index];
    row.fraction = seen->fraction;
    row.condition = seen->conditions;
    switch (seen->presence) {
        case Presence::done: co_return co_await step_done(live, index, run, std::move(*seen));
        case Presence::impossible: co_return co_await step_failed(live, index, std::move(seen->error));
        case Presence::in_progress: co_return co_await look_again(live, index, run, std::move(*seen));
        case Presence::absent: break;
    }
    if (!live->steps[index].act) co_return co_await look_again(live, index, run, std::move(*seen));
    co_return co_await absent_turn(live, index, run);
}

// Pauses double with jitter up to the cap; shortly before the expected end they aim at it, and after it they
// start small again.
base::Duration EngineImpl::poll_pause(const Live& live, std::size_t index, StepRun& run) {
    const Step& step = live.steps[index];
    base::Duration pause = run.poll.next(clock_);
    const auto& started = live.record.steps[index].started_at;
    if (!started || run.overdue) return pause;
    const base::Duration left = durations_.expected(live.record.flow, step) - (clock_.now() - *started);
    if (left > pause) return pause;
    run.overdue = true;
    run.poll.reset();
    return std::max<base::Duration>(step.schedule.first, left);
}

Task<Next> EngineImpl::look_again(LivePtr live, std::size_t index, StepRun& run, Observation seen) {
    const Step& step = live->steps[index];
    StepRow& row = live->record.steps[index];
    run.worked = true;
    run.acts_without_effect = 0;
    if (!run.in_progress_since) run.in_progress_since = clock_.monotonic();
    if (clock_.monotonic() - *run.in_progress_since > step.schedule.limit) {
        co_return co_await step_failed(
            live, index,
            base::Error(base::ErrorKind::deadline, "settle_timeout", step.title + " did not end in time"));
    }
    const base::Duration usual = durations_.expected(live->record.flow, step);
    if (has_failed_step(live->record) &&
        clock_.monotonic() - *run.in_progress_since > 2 * usual + kPatience) {
        set_state(*live, row, State::pending, std::move(seen.detail));
        co_return Next::ended;
    }
    set_state(*live, row, State::waiting, std::move(seen.detail));
    CO_CHECK_OK(co_await rest(live, poll_pause(*live, index, run)));
    co_return Next::again;
}

// How long a step that is seen as absent must still be looked for before it may act: its last act may have
// worked.
std::optional<base::Duration> EngineImpl::look_time_left(const Live& live, std::size_t index) const {
    const StepRow& row = live.record.steps[index];
    const bool look_first = live.steps[index].repeat == Repeat::look_first;
    if (!row.acted_at || row.outcome == Outcome::none) return std::nullopt;
    if (row.outcome == Outcome::unknown && !look_first) return std::nullopt;
    const base::Duration window = look_first ? settings_.look_first_window : kVisibility;
    const base::Duration left = window - (clock_.now() - *row.acted_at);
    if (left <= base::Duration::zero()) return std::nullopt;
    return left;
}

Task<Next> EngineImpl::absent_turn(LivePtr live, std::size_t index, StepRun& run) {
    StepRow& row = live->record.steps[index];
    if (const auto left = look_time_left(*live, index)) {
        const bool unknown = row.outcome == Outcome::unknown;
        set_state(*live, row, State::waiting,
                  unknown ? "looking for what an earlier attempt may have made" : "not visible yet");
        const base::Duration pause = unknown ? run.look.next(clock_) : run.poll.next(clock_);
        CO_CHECK_OK(co_await rest(live, std::min(pause, *left)));
        co_return Next::again;
    }
    if (row.outcome == Outcome::known && ++run.acts_without_effect >= kActsWithoutEffect) {
        co_return co_await step_failed(
            live, index,
            base::internal_error(row.title + " was done several times and did not show any effect"));
    }
    co_return co_await act_turn(live, index, run);
}

// Acts, under the step's lease where it names one; then what was seen before the lease is a memory, so it
// looks again.
Task<Next> EngineImpl::act_turn(LivePtr live, std::size_t index, StepRun& run) {
    const std::string lease = live->steps[index].lease;
    if (lease.empty()) co_return co_await act_now(live, index, run);
    while (leases_.contains(lease) && !interrupted(*live)) {
        set_state(*live, live->record.steps[index], State::waiting,
                  "waiting for another operation's step on " + lease);
        CO_CHECK_OK(co_await leases_changed_.wait());
    }
    if (interrupted(*live)) co_return Next::again;
    leases_.insert(lease);
    auto seen = co_await observe(live, index, Look::before_act);
    base::Result<Next> next = Next::again;
    if (seen && seen->presence == Presence::absent) next = co_await act_now(live, index, run);
    leases_.erase(lease);
    leases_changed_.notify_all();
    if (!seen) co_return co_await call_failed(live, index, run, run.observing, std::move(seen.error()));
    co_return next;
}

Task<Next> EngineImpl::act_now(LivePtr live, std::size_t index, StepRun& run) {
    StepRow& row = live->record.steps[index];
    const int acts_before = row.acts;
    const Outcome outcome_before = row.outcome;
    const auto acted_before = row.acted_at;
    ++row.acts;
    row.acted_at = clock_.now();
    row.outcome = Outcome::pending;
    run.worked = true;
    set_state(*live, row, State::running, "");
    CO_CHECK_OK(co_await persist(live));  // durable before the call leaves
    base::Result<JsonObject> made = base::cancelled_error();
    const bool acts = !interrupted(*live);
    if (acts) {
        ++acting_;
        made = co_await act(live, index);
    }
    base::Result<Next> answered = Next::again;
    if (made) {
        answered = co_await act_answered(live, index, run, std::move(*made));
    } else if (acts && was_executed_perhaps(made.error().kind)) {
        row.outcome = Outcome::unknown;
    } else {
        // Proven not to have been done: as if it had never begun.
        row.acts = acts_before;
        row.outcome = outcome_before;
        row.acted_at = acted_before;
    }
    if (acts) {
        --acting_;
        acts_changed_.notify_all();
    }
    if (!acts || made) co_return answered;
    co_return co_await call_failed(live, index, run, run.acting, std::move(made.error()));
}

Task<Next> EngineImpl::act_answered(LivePtr live, std::size_t index, StepRun& run, JsonObject memory) {
    StepRow& row = live->record.steps[index];
    row.outcome = Outcome::known;
    run.acting.over();
    run.poll.reset();
    const JsonValue* proof = memory.if_contains(kProof);
    if (proof == nullptr) {
        row.memory = std::move(memory);
        CO_CHECK_OK(co_await persist(live));
        co_return Next::again;
    }
    Observation seen = done(proof->as_object());
    memory.erase(kProof);
    row.memory = std::move(memory);
    co_return co_await step_done(live, index, run, std::move(seen));
}

Task<Next> EngineImpl::call_failed(LivePtr live, std::size_t index, StepRun& run, Trouble& trouble,
                                   base::Error error) {
    const Step& step = live->steps[index];
    StepRow& row = live->record.steps[index];
    if (error.kind == base::ErrorKind::cancelled) co_return error;
    if (settings_.pauses && settings_.pauses(error)) {
        row.condition = {{"type", "CredentialsExpired"}, {"message", error.message}};
        // How long it takes to sign in again is not counted as trouble of the calls.
        run.observing.over();
        run.acting.over();
        set_state(*live, row, State::waiting, error.message);
        publish(*live);
        CO_CHECK_OK(co_await rest(live, 2 * run.pausing.backoff.next(clock_)));
        co_return Next::again;
    }
    const bool transient = is_transient(error.kind);
    const bool waits = !transient && step.wait_on && step.wait_on(error);
    if (!transient && !waits) co_return co_await step_failed(live, index, std::move(error));
    if (!trouble.since) trouble.since = clock_.monotonic();
    if (clock_.monotonic() - *trouble.since > (transient ? kRetryBudget : step.wait_budget)) {
        co_return co_await step_failed(live, index, std::move(error));
    }
    // What is on its way is looked at by its schedule: a look that was missed is no reason to look sooner.
    const bool missed_look = transient && &trouble == &run.observing && run.in_progress_since;
    base::Duration pause = missed_look ? poll_pause(*live, index, run) : trouble.backoff.next(clock_);
    if (waits) pause = std::min<base::Duration>(pause, kWaitPause);
    if (error.retry_after) pause = std::max<base::Duration>(pause, *error.retry_after);
    set_state(*live, row, State::waiting, "trying again: " + error.message);
    CO_CHECK_OK(co_await rest(live, pause));
    co_return Next::again;
}

Task<Next> EngineImpl::step_done(LivePtr live, std::size_t index, StepRun& run, Observation seen) {
    StepRow& row = live->record.steps[index];
    row.result = std::move(seen.result);
    row.ended_at = clock_.now();
    store::Batch batch;
    if (run.worked && row.started_at)
        durations_.learn(live->record.flow, row.id, *row.ended_at - *row.started_at, batch);
    row.state = seen.skipped ? State::skipped : State::succeeded;
    row.detail = std::move(seen.detail);
    CO_CHECK_OK(co_await persist(live, std::move(batch)));
    publish(*live);
    tell(*live, &row);
    co_return Next::ended;
}

Task<Next> EngineImpl::step_failed(LivePtr live, std::size_t index, base::Error error) {
    StepRow& row = live->record.steps[index];
    row.state = State::failed;
    row.ended_at = clock_.now();
    row.error = problem(settings_.explain ? settings_.explain(error) : error);
    row.condition.clear();
    base::log(base::LogLevel::warn, "step_failed",
              {{"operation", live->record.id}, {"step", row.id}, {"error", error.chain()}});
    CO_CHECK_OK(co_await persist(live));
    publish(*live);
    tell(*live, &row);
    co_return Next::ended;
}

}  // namespace instantstart::ops::impl
