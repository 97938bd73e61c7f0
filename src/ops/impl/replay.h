// Replay: does a request stand for an operation that is there already, or does one stand in its way? Pure
// rules over the records in memory; the engine stores what follows.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "ops/engine.h"
#include "ops/impl/record.h"

namespace instantstart::ops::impl {

// An idempotency key that stands for an operation.
struct KeyRow {
    KeyRow() = default;
    std::string operation_id, body_hash;
    JsonObject body;
    TimePoint created_at;
};

// A key is no capability: another principal's equal key is another key.
std::string key_scope(const std::string& account, const std::string& principal, const std::string& operation,
                      const std::string& key);
std::string hash_of(const std::string& operation, const JsonObject& body);
// Same object, or one covers the other's parent.
bool conflicts(const std::string& a, bool a_covers, const std::string& b, bool b_covers);

struct Match {
    Match() = default;
    std::string operation_id;
    bool adopt_key = false;  // the request's key stands for the operation from now on
    std::string hint;        // shown with the replayed operation
};

struct ReplayView {
    ReplayView() = default;
    const KeyRow* key = nullptr;  // of the submission's scope, null where new
    // All records, newest first, until the visitor says false.
    std::function<void(const std::function<bool(const Record&)>&)> each;
    TimePoint now;
    base::Duration key_retention{};
};

// nullopt: nothing stands in the way. An empty resource leaves the conflict rule out (asked before planning).
base::Result<std::optional<Match>> find_match(const Submission& submission, const ReplayView& view);

// So long after its end the same request without a key still stands for what is not naturally idempotent.
constexpr base::Duration kRepeatWindow = std::chrono::minutes(15);

base::Error operation_in_progress(const Record& record);

}  // namespace instantstart::ops::impl
