// Record: the journal row of one operation, with the state of each of its steps. One row is one store entry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "base/time.h"

namespace instantstart::ops::impl {

using base::JsonObject;
using base::JsonValue;
using base::TimePoint;

// States of operations and of steps; `skipped` is of steps only.
enum class State : std::uint8_t { pending, running, waiting, succeeded, skipped, failed, cancelled };
const char* to_string(State state);
State state_from(std::string_view text);  // pending where unknown
inline bool is_terminal(State state) {
    return state != State::pending && state != State::running && state != State::waiting;
}
inline bool is_done(State state) {
    return state == State::succeeded || state == State::skipped;
}

// What is known of a step's last act. `pending` on disk means that the process died in it: unknown.
enum class Outcome : std::uint8_t { none, pending, known, unknown };

struct StepRow {
    StepRow() = default;
    std::string id, title;
    State state = State::pending;
    int attempt = 1;
    std::optional<TimePoint> started_at, ended_at;
    int acts = 0;  // begun and not proven to have had no effect
    std::optional<TimePoint> acted_at;
    Outcome outcome = Outcome::none;
    JsonObject memory, result;
    std::string detail;
    JsonObject error;      // problem form
    JsonObject condition;  // shown on the operation while the step waits
    double fraction = 0;   // not stored
};

struct Record {
    Record() = default;
    std::string id, operation, resource, flow, principal, face, account, body_hash;
    bool covers_children = false;
    bool naturally_idempotent = true;
    bool no_change = false;
    bool cancel_requested = false;
    State state = State::pending;
    JsonObject params, body, plan, result, error;
    TimePoint created_at, updated_at;
    std::optional<TimePoint> ended_at, retried_at;
    std::vector<StepRow> steps;

    bool terminal() const { return is_terminal(state); }
};

JsonValue to_json(const Record& record);
Record record_from(const JsonObject& stored);

// The problem form that an operation or a step shows: code, detail, hint, retryable, aws_request_id, …
JsonObject problem(const base::Error& error);
// Kinds that pass by themselves: the same may work later.
bool is_transient(base::ErrorKind kind);

}  // namespace instantstart::ops::impl
