#include "app/execute.h"

#include "app/active.h"
#include "app/projection.h"
#include "app/resource.h"
#include "app/schema.h"
#include "rt/event.h"

namespace instantstart::app {

namespace {
constexpr auto kWriteLimit = std::chrono::seconds(90);
}

// One request on its way. It lives in execute()'s frame, so that the parts below may take it by reference.
struct Executor::Request {
    explicit Request(Invocation invocation) : invocation(std::move(invocation)) {}
    Invocation invocation;
    WriteOptions options;
    JsonObject normalized;
    std::string resource;
    std::string cluster;
    std::string account;
    std::string operation_id;
    Plan plan;
    const Meta& meta() const { return invocation.operation->meta(); }
};

Executor::Executor(Services& services, const Catalogue& catalogue, Identity& identity, Audit& audit,
                   RateSettings rates)
    : services_(services),
      catalogue_(catalogue),
      identity_(identity),
      audit_(audit),
      rates_(services.clock, rates) {}

Task<Outcome> Executor::execute(Context context, Invocation invocation) {
    Request request(std::move(invocation));
    const std::string id = request.meta().id;
    const std::string face = request.invocation.caller.face;
    context = context.with("principal", request.invocation.caller.principal)
                  .with("face", face)
                  .with("operation", id);
    auto outcome = co_await answer(context, request);
    if (!outcome) {
        base::Error error = public_error(std::move(outcome).error());
        if (is_write(request.meta()) && !request.options.dry_run &&
            error.kind != base::ErrorKind::cancelled) {
            co_await record(context, request, error.code);
        }
        if (on_answer) on_answer(id, face, error.code);
        co_return error;
    }
    if (on_answer) on_answer(id, face, "");
    co_return std::move(outcome).value();
}

Task<Outcome> Executor::answer(Context context, Request& request) {
    auto prepared = co_await prepare(context, request);
    CO_CHECK_OK(std::move(prepared));
    if (!is_write(request.meta())) co_return co_await query(std::move(context), request);
    // A client that goes away must not tear a write between its journal, its effect and its audit record.
    Outcome outcome;
    auto writing = carry_out(context, request, outcome);
    auto written = co_await rt::shielded(services_.clock, kWriteLimit, std::move(writing));
    CO_CHECK_OK(std::move(written));
    co_return outcome;
}

Task<void> Executor::carry_out(Context context, Request& request, Outcome& outcome) {
    auto made = co_await write(std::move(context), request);
    CO_TRY(outcome, std::move(made));
    co_return base::ok();
}

// From arguments to the canonical request of a caller who may ask it.
Task<void> Executor::prepare(Context context, Request& request) {
    Invocation& invocation = request.invocation;
    const Meta& meta = request.meta();
    std::vector<base::FieldError> faults;
    if (is_write(meta)) {
        request.options = take_write_options(invocation.arguments, faults);
        if (!invocation.idempotency_key.empty()) request.options.idempotency_key = invocation.idempotency_key;
    } else if (invocation.cluster_may_be_left_out && meta.path.find("{cluster}") != std::string::npos &&
               !invocation.arguments.contains("cluster")) {
        invocation.arguments["cluster"] = kActive;
    }
    auto normalized = invocation.operation->normalize(invocation.arguments);
    if (!normalized) {
        base::Error error = std::move(normalized).error();
        error.fields.insert(error.fields.begin(), faults.begin(), faults.end());
        co_return error;
    }
    if (!faults.empty()) co_return faults_error(std::move(faults));
    request.normalized = std::move(normalized).value();
    CO_CHECK_OK(authorise(request));

    if (is_write(meta) && base::get_string(request.normalized, "cluster") == kActive) {
        if (invocation.must_name_cluster || meta.removes == Removes::always) {
            co_return faults_error(
                {fault("/cluster",
                       "must be the cluster's own name: a change that an agent makes, or that removes "
                       "something, never follows the active cluster")});
        }
    }
    auto found =
        co_await resolve_cluster(context, services_.store, invocation.caller.principal, request.normalized);
    CO_CHECK_OK(std::move(found));
    request.cluster = base::get_string(request.normalized, "cluster");
    request.resource = resource_of(meta, request.normalized);
    co_return base::ok();
}

base::Result<void> Executor::authorise(const Request& request) const {
    const Meta& meta = request.meta();
    const Caller& caller = request.invocation.caller;
    if (caller.role < meta.role) {
        const char* needed = meta.role == Role::admin ? "admin" : "operator";
        return base::Error(base::ErrorKind::denied, "forbidden", meta.id + " needs the role " + needed)
            .with_hint("Use a token with that role. Nothing was done.");
    }
    if (is_write(meta) && (request.invocation.read_only || services_.settings.read_only)) {
        return base::Error(base::ErrorKind::denied, "read_only",
                           meta.id + " changes something, and this endpoint only reads")
            .with_hint(
                "plan_preview shows what it would do; a change needs an endpoint that is not read-only.");
    }
    return base::ok();
}

Task<Outcome> Executor::query(Context context, Request& request) {
    CO_CHECK_OK(rates_.take(request.invocation.caller, Kind::query));
    Call call(context, services_, request.invocation.caller);
    auto answered = co_await request.invocation.operation->run(std::move(call), request.normalized);
    CO_TRY(Answer answer, std::move(answered));
    if (!answer.cluster.empty()) request.cluster = answer.cluster;
    request.account = identity_.known_account();
    Outcome outcome = finish(request, std::move(answer.body));
    outcome.summary = std::move(answer.summary);
    outcome.next = std::move(answer.next);
    outcome.warnings = std::move(answer.warnings);
    co_return outcome;
}

Task<Outcome> Executor::write(Context context, Request& request) {
    auto identity = co_await identity_.get(context);
    CO_TRY(AccountIdentity known, std::move(identity));
    request.account = known.account;
    if (request.meta().kind == Kind::long_running && !request.options.dry_run) {
        ops::Submission asked;
        asked.operation = request.meta().id;
        asked.resource = request.resource;
        asked.principal = request.invocation.caller.principal;
        asked.face = request.invocation.caller.face;
        asked.account = request.account;
        asked.idempotency_key = request.options.idempotency_key;
        asked.body = request.normalized;
        asked.naturally_idempotent = request.meta().idempotent;
        auto replay = co_await services_.engine.find_replay(context, asked);
        CO_TRY(std::optional<ops::Submitted> stands, std::move(replay));
        if (stands) {
            request.operation_id = base::get_string(stands->operation, "id");
            Outcome outcome = finish(request, operation_envelope(std::move(stands->operation), true));
            co_await record(context, request, "replayed");
            co_return outcome;
        }
    }
    Call call(context, services_, request.invocation.caller);
    auto planned = co_await request.invocation.operation->plan(std::move(call), request.normalized);
    CO_TRY(request.plan, std::move(planned));
    if (request.plan.resource.empty()) request.plan.resource = request.resource;
    request.resource = request.plan.resource;
    co_return co_await run_plan(std::move(context), request);
}

namespace {

base::Error confirmation_error(const Meta& meta, const Plan& plan, const std::string& given) {
    JsonArray lost;
    for (const auto& sentence : plan.removes) lost.emplace_back(sentence);
    std::string message = meta.id + " removes something, so it asks for confirmation";
    if (!given.empty()) message += "; the given `confirm` is not the expected value";
    return base::conflict_error("confirmation_required", std::move(message))
        .with_hint("If that is wanted, send the same request with confirm set to \"" + plan.confirm_value +
                   "\".")
        .with_extra("confirm", JsonValue(plan.confirm_value))
        .with_extra("would_remove", std::move(lost));
}

}  // namespace

// dry run, changed plan, confirmation, rate: in this order, since only what is going to happen counts against
// the rate.
Task<Outcome> Executor::run_plan(Context context, Request& request) {
    const Meta& meta = request.meta();
    const Plan& plan = request.plan;
    const WriteOptions& options = request.options;
    if (options.dry_run) {
        JsonObject body;
        body["plan"] = project_plan(meta, plan, services_);
        Outcome outcome = finish(request, std::move(body));
        outcome.summary = plan.no_change ? "Nothing would change." : "A plan; nothing was done.";
        co_return outcome;
    }
    if (!options.expected_plan.empty() && options.expected_plan != plan_digest(meta, plan)) {
        co_return base::conflict_error("plan_changed",
                                       "What this would do is no longer what the given plan said")
            .with_hint("Look at the new plan and decide again.")
            .with_extra("plan", project_plan(meta, plan, services_));
    }
    const bool removes = meta.removes == Removes::always || !plan.removes.empty();
    if (removes && !plan.no_change && !plan.confirm_value.empty() && options.confirm != plan.confirm_value) {
        co_return confirmation_error(meta, plan, options.confirm);
    }
    if (!plan.no_change) CO_CHECK_OK(rates_.take(request.invocation.caller, meta.kind));
    const bool for_engine = meta.kind == Kind::long_running && (!plan.flow.empty() || plan.no_change);
    if (for_engine) co_return co_await submit(std::move(context), request);
    co_return co_await run(std::move(context), request);
}

Task<Outcome> Executor::submit(Context context, Request& request) {
    ops::Submission submission;
    submission.operation = request.meta().id;
    submission.resource = request.resource;
    submission.covers_children = request.plan.covers_children;
    submission.flow = request.plan.flow;
    submission.params = request.plan.flow_params;
    submission.principal = request.invocation.caller.principal;
    submission.face = request.invocation.caller.face;
    submission.account = request.account;
    submission.idempotency_key = request.options.idempotency_key;
    submission.body = request.normalized;
    submission.naturally_idempotent = request.meta().idempotent;
    submission.no_change = request.plan.no_change;
    submission.no_change_result = request.plan.no_change_result;
    submission.plan = project_plan(request.meta(), request.plan, services_);
    auto answered = co_await services_.engine.submit(context, std::move(submission));
    CO_TRY(ops::Submitted submitted, std::move(answered));
    request.operation_id = base::get_string(submitted.operation, "id");
    const char* what = submitted.replayed ? "replayed" : request.plan.no_change ? "no_change" : "started";
    Outcome outcome = finish(request, operation_envelope(std::move(submitted.operation), submitted.replayed));
    outcome.warnings = request.plan.warnings;
    co_await record(context, request, what);
    co_return outcome;
}

Task<Outcome> Executor::run(Context context, Request& request) {
    Call call(context, services_, request.invocation.caller);
    call.idempotency_key = request.options.idempotency_key;
    auto answered = co_await request.invocation.operation->run(std::move(call), request.normalized);
    CO_TRY(Answer answer, std::move(answered));
    if (!answer.cluster.empty()) request.cluster = answer.cluster;
    request.operation_id = base::get_string(answer.body, "operation.id");
    Outcome outcome = finish(request, std::move(answer.body));
    outcome.summary = std::move(answer.summary);
    outcome.next = std::move(answer.next);
    outcome.warnings = std::move(answer.warnings);
    co_await record(context, request, request.plan.no_change ? "no_change" : "done");
    co_return outcome;
}

Outcome Executor::finish(Request& request, JsonObject body) const {
    Outcome outcome;
    tidy_answer(body);
    const JsonValue* operation =
        request.meta().kind == Kind::long_running ? body.if_contains("operation") : nullptr;
    outcome.started = operation != nullptr && operation->is_object() && !is_terminal(operation->get_object());
    body["resolved"] = resolved(request.cluster, request.account, services_.settings.region);
    outcome.body = std::move(body);
    return outcome;
}

boost::asio::awaitable<void> Executor::record(Context context, Request& request, std::string outcome) {
    AuditRecord made;
    made.principal = request.invocation.caller.principal;
    made.face = request.invocation.caller.face;
    made.operation = request.meta().id;
    made.resource = request.resource;
    made.outcome = std::move(outcome);
    made.operation_id = request.operation_id;
    co_await audit_.write(std::move(context), std::move(made));
}

}  // namespace instantstart::app
