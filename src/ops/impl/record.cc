#include "ops/impl/record.h"

#include <array>

namespace instantstart::ops::impl {

namespace {

constexpr std::array<const char*, 7> kStates = {"pending", "running", "waiting",  "succeeded",
                                                "skipped", "failed",  "cancelled"};
constexpr std::array<const char*, 4> kOutcomes = {"none", "pending", "known", "unknown"};

std::int64_t millis(TimePoint time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

void put_time(JsonObject& object, std::string_view key, const std::optional<TimePoint>& time) {
    if (time) object[key] = millis(*time);
}

std::optional<TimePoint> get_time(const JsonObject& object, std::string_view key) {
    const auto* found = object.if_contains(key);
    if (found == nullptr || !found->is_int64()) return std::nullopt;
    return TimePoint(std::chrono::milliseconds(found->get_int64()));
}

JsonObject step_json(const StepRow& row) {
    JsonObject out;
    out["id"] = row.id;
    out["title"] = row.title;
    out["state"] = to_string(row.state);
    out["attempt"] = row.attempt;
    put_time(out, "started_at", row.started_at);
    put_time(out, "ended_at", row.ended_at);
    put_time(out, "acted_at", row.acted_at);
    if (row.acts > 0) out["acts"] = row.acts;
    if (row.outcome != Outcome::none) out["outcome"] = kOutcomes[static_cast<std::size_t>(row.outcome)];
    if (!row.memory.empty()) out["memory"] = row.memory;
    if (!row.result.empty()) out["result"] = row.result;
    if (!row.detail.empty()) out["detail"] = row.detail;
    if (!row.error.empty()) out["error"] = row.error;
    return out;
}

StepRow step_from(const JsonObject& stored) {
    StepRow row;
    row.id = base::get_string(stored, "id");
    row.title = base::get_string(stored, "title");
    row.state = state_from(base::get_string(stored, "state"));
    row.attempt = static_cast<int>(base::get_int(stored, "attempt", 1));
    row.started_at = get_time(stored, "started_at");
    row.ended_at = get_time(stored, "ended_at");
    row.acted_at = get_time(stored, "acted_at");
    row.acts = static_cast<int>(base::get_int(stored, "acts"));
    const std::string outcome = base::get_string(stored, "outcome");
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
        if (outcome == kOutcomes[i]) row.outcome = static_cast<Outcome>(i);
    }
    if (row.outcome == Outcome::pending) row.outcome = Outcome::unknown;
    row.memory = base::get_object(stored, "memory");
    row.result = base::get_object(stored, "result");
    row.detail = base::get_string(stored, "detail");
    row.error = base::get_object(stored, "error");
    return row;
}

}  // namespace

const char* to_string(State state) {
    return kStates[static_cast<std::size_t>(state)];
}

State state_from(std::string_view text) {
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        if (text == kStates[i]) return static_cast<State>(i);
    }
    return State::pending;
}

JsonValue to_json(const Record& record) {
    JsonObject out;
    out["id"] = record.id;
    out["operation"] = record.operation;
    out["resource"] = record.resource;
    out["flow"] = record.flow;
    out["principal"] = record.principal;
    out["face"] = record.face;
    out["account"] = record.account;
    out["body_hash"] = record.body_hash;
    out["covers_children"] = record.covers_children;
    out["naturally_idempotent"] = record.naturally_idempotent;
    out["no_change"] = record.no_change;
    out["cancel_requested"] = record.cancel_requested;
    out["state"] = to_string(record.state);
    out["params"] = record.params;
    out["body"] = record.body;
    out["plan"] = record.plan;
    out["result"] = record.result;
    out["error"] = record.error;
    put_time(out, "created_at", record.created_at);
    put_time(out, "updated_at", record.updated_at);
    put_time(out, "ended_at", record.ended_at);
    put_time(out, "retried_at", record.retried_at);
    base::JsonArray steps;
    for (const auto& row : record.steps) steps.push_back(step_json(row));
    out["steps"] = std::move(steps);
    return out;
}

Record record_from(const JsonObject& stored) {
    Record record;
    record.id = base::get_string(stored, "id");
    record.operation = base::get_string(stored, "operation");
    record.resource = base::get_string(stored, "resource");
    record.flow = base::get_string(stored, "flow");
    record.principal = base::get_string(stored, "principal");
    record.face = base::get_string(stored, "face");
    record.account = base::get_string(stored, "account");
    record.body_hash = base::get_string(stored, "body_hash");
    record.covers_children = base::get_bool(stored, "covers_children");
    record.naturally_idempotent = base::get_bool(stored, "naturally_idempotent", true);
    record.no_change = base::get_bool(stored, "no_change");
    record.cancel_requested = base::get_bool(stored, "cancel_requested");
    record.state = state_from(base::get_string(stored, "state"));
    record.params = base::get_object(stored, "params");
    record.body = base::get_object(stored, "body");
    record.plan = base::get_object(stored, "plan");
    record.result = base::get_object(stored, "result");
    record.error = base::get_object(stored, "error");
    record.created_at = get_time(stored, "created_at").value_or(TimePoint());
    record.updated_at = get_time(stored, "updated_at").value_or(TimePoint());
    record.ended_at = get_time(stored, "ended_at");
    record.retried_at = get_time(stored, "retried_at");
    for (const auto& step : base::get_array(stored, "steps")) {
        if (step.is_object()) record.steps.push_back(step_from(step.get_object()));
    }
    return record;
}

bool is_transient(base::ErrorKind kind) {
    return kind == base::ErrorKind::throttled || kind == base::ErrorKind::unavailable ||
           kind == base::ErrorKind::deadline || kind == base::ErrorKind::unknown_outcome;
}

JsonObject problem(const base::Error& error) {
    JsonObject out = error.extra;
    out["code"] = error.code;
    out["kind"] = base::to_string(error.kind);
    out["detail"] = error.message;
    base::JsonArray fields;
    for (const auto& field : error.fields) {
        fields.push_back(JsonObject{{"pointer", field.pointer}, {"message", field.message}});
    }
    if (!fields.empty()) out["errors"] = std::move(fields);
    if (!error.hint.empty()) out["hint"] = error.hint;
    out["retryable"] = is_transient(error.kind);
    if (!error.aws_request_id.empty()) out["aws_request_id"] = error.aws_request_id;
    return out;
}

}  // namespace instantstart::ops::impl
