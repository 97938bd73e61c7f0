// Running: an operation starts the steps whose needs are done, side by side, and ends when nothing runs and
// nothing can start.
#include <algorithm>

#include "ops/impl/engine_impl.h"

namespace instantstart::ops::impl {

// Makes the flow's steps again from the parameters and brings the rows into their order. False where the flow
// is not known.
bool EngineImpl::build_steps(Live& live) {
    auto flow = flows_.find(live.record.flow);
    if (flow == flows_.end()) return false;
    live.steps = flow->second.steps(live.record.params);
    std::vector<StepRow> rows;
    for (const auto& step : live.steps) {
        auto old = std::find_if(live.record.steps.begin(), live.record.steps.end(),
                                [&](const StepRow& row) { return row.id == step.id; });
        StepRow row;
        if (old != live.record.steps.end()) row = std::move(*old);
        row.id = step.id;
        row.title = step.title;
        rows.push_back(std::move(row));
    }
    live.record.steps = std::move(rows);
    return !live.steps.empty();
}

void EngineImpl::launch(LivePtr live) {
    if (stopping_) return;  // it goes on after the next start
    const std::string name = live->record.id;
    tasks_.spawn(name, run_operation(std::move(live)));
}

Task<void> EngineImpl::run_operation(LivePtr live) {
    if (live->steps.empty() && !build_steps(*live)) {
        const auto error = base::Error(base::ErrorKind::unsupported, "flow_unknown",
                                       "this version of the program does not know how to go on with " +
                                           live->record.operation)
                               .with_hint(
                                   "Go on with the version that began it, or look at what exists and ask for "
                                   "what is missing.");
        live->record.error = problem(error);
    }
    while (live->record.error.empty()) {
        // A step may end before its start returns: look again before waiting, or its word is missed.
        if (start_ready_steps(live)) continue;
        if (live->running == 0) break;
        CO_CHECK_OK(co_await live->changed.wait());
    }
    if (stopping_) co_return base::ok();
    co_return co_await finish(live);
}

// True when it started one.
bool EngineImpl::start_ready_steps(const LivePtr& live) {
    Record& record = live->record;
    const bool failed = std::any_of(record.steps.begin(), record.steps.end(),
                                    [](const StepRow& row) { return row.state == State::failed; });
    if (failed || interrupted(*live)) return false;
    std::set<std::string_view> done;
    for (const auto& row : record.steps) {
        if (is_done(row.state)) done.insert(row.id);
    }
    bool started = false;
    for (std::size_t i = 0; i < record.steps.size(); ++i) {
        StepRow& row = record.steps[i];
        const auto& needs = live->steps[i].needs;
        if (row.state != State::pending) continue;
        if (!std::all_of(needs.begin(), needs.end(),
                         [&](const std::string& need) { return done.contains(need); }))
            continue;
        if (!row.started_at) row.started_at = clock_.now();
        row.state = State::running;
        ++live->running;
        started = true;
        tasks_.spawn(record.id + "/" + row.id, run_step(live, i));
    }
    if (started) {
        refresh_state(*live);
        publish(*live);
    }
    return started;
}

Task<void> EngineImpl::run_step(LivePtr live, std::size_t index) {
    auto outcome = co_await step_loop(live, index);
    --live->running;
    live->changed.notify_all();
    co_return outcome;
}

Task<void> EngineImpl::step_loop(LivePtr live, std::size_t index) {
    StepRun run(live->steps[index].schedule);
    tell(*live, &live->record.steps[index]);
    while (!interrupted(*live)) {
        CO_TRY(const Next next, co_await turn(live, index, run));
        if (next == Next::ended) co_return base::ok();
    }
    co_return base::ok();
}

// An operation waits when all that it does is to wait.
void EngineImpl::refresh_state(Live& live) {
    bool runs = false, waits = false;
    for (const auto& row : live.record.steps) {
        runs = runs || row.state == State::running;
        waits = waits || row.state == State::waiting;
    }
    if (!live.record.terminal()) live.record.state = waits && !runs ? State::waiting : State::running;
}

void EngineImpl::set_state(Live& live, StepRow& row, State state, std::string detail) {
    const bool changed = row.state != state || row.detail != detail;
    row.state = state;
    row.detail = std::move(detail);
    if (!changed) return;
    refresh_state(live);
    publish(live);
}

Task<void> EngineImpl::wait_for_interrupt(LivePtr live) {
    while (!interrupted(*live)) CO_CHECK_OK(co_await live->changed.wait());
    co_return base::ok();
}

// Sleeps; ends early when the operation is cancelled or the engine stops. True when the whole time has
// passed.
Task<bool> EngineImpl::rest(LivePtr live, base::Duration duration) {
    auto woken = co_await rt::with_limit(clock_, duration, wait_for_interrupt(live));
    if (!woken && woken.error().kind == base::ErrorKind::deadline) co_return true;
    if (!woken) co_return woken.error();
    co_return false;
}

namespace {

// What a failed operation had already done, in the steps' words; false where nothing.
JsonValue changed_by(const Record& record) {
    base::JsonArray made;
    for (const auto& row : record.steps) {
        if (row.acts == 0) continue;
        made.push_back(JsonValue(is_done(row.state) ? row.title : row.title + " (begun)"));
    }
    if (made.empty()) return false;
    return made;
}

}  // namespace

// Sets the terminal state from the steps.
void EngineImpl::conclude(Live& live) {
    Record& record = live.record;
    const StepRow* failed = nullptr;
    bool all_done = !record.steps.empty();
    for (const auto& row : record.steps) {
        if (row.state == State::failed && failed == nullptr) failed = &row;
        all_done = all_done && is_done(row.state);
    }
    record.ended_at = clock_.now();
    if (failed != nullptr) {
        record.state = State::failed;
        record.error = failed->error;
        record.error["step"] = failed->id;
        if (!record.error.contains("hint"))
            record.error["hint"] =
                "operation_retry goes on from the step that failed, once its cause is gone.";
        record.error["changed"] = changed_by(record);
    } else if (!record.error.empty()) {
        record.state = State::failed;
        record.error["changed"] = changed_by(record);
    } else if (all_done) {
        record.state = State::succeeded;
        auto flow = flows_.find(record.flow);
        JsonObject results;
        for (const auto& row : record.steps) results[row.id] = row.result;
        if (flow != flows_.end() && flow->second.result)
            record.result = flow->second.result(record.params, results);
    } else if (record.cancel_requested) {
        record.state = State::cancelled;
        for (auto& row : record.steps) {
            if (is_terminal(row.state)) continue;
            row.state = State::cancelled;
            if (row.started_at) row.ended_at = clock_.now();
        }
    } else {
        record.state = State::failed;
        record.error =
            problem(base::internal_error("the steps that are left wait for steps that do not exist"));
        record.error["changed"] = changed_by(record);
    }
}

Task<void> EngineImpl::finish(LivePtr live) {
    conclude(*live);
    live->steps.clear();
    auto written = co_await persist(live);
    publish(*live);
    tell(*live, nullptr);
    co_return written;
}

}  // namespace instantstart::ops::impl
