// Submitting and retrying: what a request stands for is decided and stored before anything runs.
#include "ops/impl/engine_impl.h"

namespace instantstart::ops::impl {

// Time first, so that newest-first is a key scan; strictly growing within the process.
std::string EngineImpl::new_id() {
    static constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
    const auto now =
        std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now().time_since_epoch()).count();
    last_id_millis_ = std::max<std::int64_t>(now, last_id_millis_ + 1);
    std::string time(9, '0');
    auto rest = static_cast<std::uint64_t>(last_id_millis_);
    for (auto digit = time.rbegin(); digit != time.rend(); ++digit, rest /= 32) *digit = kDigits[rest % 32];
    return "op_" + time + clock_.random_id(8);
}

LivePtr EngineImpl::make_live(const Submission& submission) {
    auto live = std::make_shared<Live>(executor_);
    Record& record = live->record;
    record.id = new_id();
    record.operation = submission.operation;
    record.resource = submission.resource;
    record.covers_children = submission.covers_children;
    record.flow = submission.flow;
    record.params = submission.params;
    record.principal = submission.principal;
    record.face = submission.face;
    record.account = submission.account;
    record.body = submission.body;
    record.body_hash = hash_of(submission.operation, submission.body);
    record.naturally_idempotent = submission.naturally_idempotent;
    record.plan = submission.plan;
    record.created_at = record.updated_at = clock_.now();
    if (submission.no_change) {
        record.no_change = true;
        record.state = State::succeeded;
        record.result = submission.no_change_result;
        record.ended_at = record.created_at;
    }
    return live;
}

base::Result<std::optional<Match>> EngineImpl::decide(const Submission& submission) const {
    ReplayView view;
    view.now = clock_.now();
    view.key_retention = settings_.key_retention;
    if (!submission.idempotency_key.empty()) {
        auto key = keys_.find(key_scope(submission.account, submission.principal, submission.operation,
                                        submission.idempotency_key));
        if (key != keys_.end()) view.key = &key->second;
    }
    view.each = [this](const std::function<bool(const Record&)>& visit) {
        for (auto row = live_.rbegin(); row != live_.rend(); ++row) {
            if (!visit(row->second->record)) return;
        }
    };
    return find_match(submission, view);
}

Submitted EngineImpl::replay_of(const Live& live, const std::string& hint) const {
    Submitted out;
    out.operation = projection(live);
    if (!hint.empty()) out.operation["hint"] = hint;
    out.replayed = true;
    return out;
}

void EngineImpl::put_key(store::Batch& batch, const std::string& scope, const KeyRow& key) {
    JsonObject row;
    row["operation_id"] = key.operation_id;
    row["body_hash"] = key.body_hash;
    row["body"] = key.body;
    row["created_at"] =
        std::chrono::duration_cast<std::chrono::milliseconds>(key.created_at.time_since_epoch()).count();
    batch.put(kKeys, scope, std::move(row));
}

// Answers with the matched operation once it is durable. nullopt: it turned out never to have existed; decide
// again.
Task<std::optional<Submitted>> EngineImpl::settle_match(Submission submission, Match match) {
    auto found = live_.find(match.operation_id);
    if (found == live_.end()) {
        co_return base::Error(base::ErrorKind::conflict, "idempotency_key_expired",
                              "the operation of this idempotency key is no longer kept")
            .with_hint(
                "Read what exists now, then send the request with a new idempotency key if it is still "
                "wanted.");
    }
    const LivePtr live = found->second;
    while (!live->saved && !live->refused) CO_CHECK_OK(co_await live->changed.wait());
    if (live->refused) co_return std::optional<Submitted>();
    if (match.adopt_key) {
        KeyRow key;
        key.operation_id = match.operation_id;
        key.body = submission.body;
        key.body_hash = hash_of(submission.operation, submission.body);
        key.created_at = clock_.now();
        const std::string scope = key_scope(submission.account, submission.principal, submission.operation,
                                            submission.idempotency_key);
        keys_.emplace(scope, key);
        store::Batch batch;
        put_key(batch, scope, key);
        CO_CHECK_OK(co_await store_.commit(Context(), std::move(batch)));
    }
    co_return std::optional<Submitted>(replay_of(*live, match.hint));
}

Task<std::optional<Submitted>> EngineImpl::find_replay(Context, const Submission& submission) {
    // The caller's submission may end before this does: what is read after an await is our own copy.
    Submission asked = submission;
    asked.plan.clear();
    while (true) {
        CO_TRY(const auto match, decide(asked));
        if (!match) co_return std::optional<Submitted>();
        CO_TRY(auto submitted, co_await settle_match(asked, *match));
        if (submitted) co_return submitted;
    }
}

// In a task of the engine: the request that asked for it may be gone before it is written.
Task<void> EngineImpl::store_new(LivePtr live, std::string scope, KeyRow key) {
    store::Batch batch;
    batch.require_absent.push_back({kOperations, live->record.id});
    batch.put(kOperations, live->record.id, to_json(live->record));
    if (!scope.empty()) {
        batch.require_absent.push_back({kKeys, scope});
        put_key(batch, scope, key);
    }
    auto written = co_await store_.commit(Context(), std::move(batch));
    if (written) {
        live->saved = true;
        publish(*live);
        tell(*live, nullptr);
        if (!live->record.terminal()) launch(live);
        co_return written;
    }
    live->refused = written.error();
    live_.erase(live->record.id);
    if (!scope.empty()) keys_.erase(scope);
    live->changed.notify_all();
    co_return base::ok();  // the submitter is told
}

Task<Submitted> EngineImpl::submit(Context context, Submission submission) {
    if (stopping_) co_return base::Error(base::ErrorKind::unavailable, "stopping", "the server is stopping");
    if (!submission.no_change && !flows_.contains(submission.flow))
        co_return base::internal_error("no flow " + submission.flow);
    CO_TRY(auto replayed, co_await find_replay(context, submission));
    if (replayed) co_return std::move(*replayed);
    // Nothing was awaited since the last decision: what was free is free, and is taken now.
    const LivePtr live = make_live(submission);
    if (!live->record.terminal() && !build_steps(*live))
        co_return base::internal_error("the flow " + submission.flow + " has no steps");
    live_[live->record.id] = live;
    std::string scope;
    KeyRow key;
    if (!submission.idempotency_key.empty()) {
        scope = key_scope(submission.account, submission.principal, submission.operation,
                          submission.idempotency_key);
        key.operation_id = live->record.id;
        key.body = submission.body;
        key.body_hash = live->record.body_hash;
        key.created_at = clock_.now();
        keys_[scope] = key;
    }
    if (!tasks_.spawn("store " + live->record.id, store_new(live, scope, key)))
        live->refused = base::internal_error("too many operations");
    while (!live->saved && !live->refused) CO_CHECK_OK(co_await live->changed.wait());
    if (live->refused) co_return *live->refused;
    Submitted out;
    out.operation = projection(*live);
    co_return out;
}

// A retry that was asked for before is not done again: with its key always, without one while it runs and
// shortly after.
base::Result<std::optional<Submitted>> EngineImpl::replayed_retry(Live& live, const std::string& scope,
                                                                  bool has_key) const {
    auto key = has_key ? keys_.find(scope) : keys_.end();
    if (key != keys_.end()) {
        if (clock_.now() - key->second.created_at > settings_.key_retention) {
            return base::conflict_error(
                "idempotency_key_expired",
                "this idempotency key is older than the time for which answers are kept");
        }
        if (key->second.operation_id != live.record.id) {
            return base::conflict_error("idempotency_key_reused",
                                        "this idempotency key was used to retry another operation")
                .with_extra("operation_id", JsonValue(key->second.operation_id));
        }
        return std::optional<Submitted>(replay_of(live, ""));
    }
    const Record& record = live.record;
    const bool may = record.state == State::failed || record.state == State::cancelled;
    const bool recent =
        record.retried_at && (!record.ended_at || clock_.now() - *record.ended_at < kRepeatWindow);
    if (record.retried_at && !record.terminal()) return std::optional<Submitted>(replay_of(live, ""));
    if (recent && !has_key) {
        return std::optional<Submitted>(
            replay_of(live, "It was retried a short while ago. To retry again, pass a new idempotency_key."));
    }
    if (may) return std::optional<Submitted>();
    return base::conflict_error("not_retryable", record.id + " is " + to_string(record.state) +
                                                     ": only what failed or was cancelled is retried")
        .with_extra("operation_id", JsonValue(record.id));
}

void EngineImpl::reset_for_retry(Live& live) {
    Record& record = live.record;
    record.state = State::pending;
    record.cancel_requested = false;
    record.error.clear();
    record.ended_at.reset();
    record.retried_at = clock_.now();
    for (auto& row : record.steps) {
        if (is_done(row.state)) continue;
        if (row.started_at) ++row.attempt;
        row.state = State::pending;
        row.started_at.reset();
        row.ended_at.reset();
        row.error.clear();
        row.condition.clear();
        row.detail.clear();
    }
}

Task<void> EngineImpl::store_retry(LivePtr live, std::string scope, KeyRow key) {
    store::Batch batch;
    if (!scope.empty()) put_key(batch, scope, key);
    CO_CHECK_OK(co_await persist(live, std::move(batch)));
    live->retrying = false;
    publish(*live);
    tell(*live, nullptr);
    launch(live);
    co_return base::ok();
}

Task<Submitted> EngineImpl::retry(Context, std::string operation_id, std::string principal, std::string face,
                                  std::string idempotency_key) {
    if (stopping_) co_return base::Error(base::ErrorKind::unavailable, "stopping", "the server is stopping");
    CO_TRY(const LivePtr live, find(operation_id));
    const bool has_key = !idempotency_key.empty();
    const std::string scope =
        has_key ? key_scope(live->record.account, principal, "operation.retry", idempotency_key)
                : std::string();
    CO_TRY(auto replayed, replayed_retry(*live, scope, has_key));
    if (replayed) co_return std::move(*replayed);
    for (const auto& [id, other] : live_) {
        const Record& record = other->record;
        if (other == live || record.terminal()) continue;
        if (conflicts(live->record.resource, live->record.covers_children, record.resource,
                      record.covers_children)) {
            co_return operation_in_progress(record);
        }
    }
    const JsonObject fields = {{"operation", operation_id}, {"principal", principal}, {"face", face}};
    base::log(base::LogLevel::info, "operation_retry", fields);
    reset_for_retry(*live);
    KeyRow key;
    key.operation_id = operation_id;
    key.created_at = clock_.now();
    if (has_key) keys_[scope] = key;
    live->retrying = true;
    if (!tasks_.spawn("retry " + operation_id, store_retry(live, scope, key)))
        co_return base::internal_error("too many operations");
    while (live->retrying && !stopping_) CO_CHECK_OK(co_await live->changed.wait());
    Submitted out;
    out.operation = projection(*live);
    co_return out;
}

}  // namespace instantstart::ops::impl
