// What went wrong with one attempt, and whether another may follow.
#pragma once

#include <chrono>
#include <optional>

#include "aws/codec/codec.h"
#include "base/error.h"

namespace instantstart::aws {

// May the same call be sent again although it could have been executed? Only reads, and calls with an
// idempotency token.
enum class Repeat : std::uint8_t { unsafe, safe };

struct Failure {
    Failure() = default;
    base::Error error;
    bool retryable = false;
    bool throttled = false;
    bool expired_credentials = false;
    bool clock_skewed = false;
    std::optional<std::chrono::milliseconds> wait;  // what the service asked for
};

bool is_throttle(const std::string& code, int status);
base::ErrorKind kind_of(const std::string& code, int status, Repeat repeat);

Failure failure_of_answer(const codec::WireError& wire, const codec::Answer& answer, Repeat repeat);
// From Transport: refused before anything was sent, or lost on the way.
Failure failure_of_transport(base::Error error, Repeat repeat);
// A success that cannot be read: for a mutation it is not known what was done.
Failure failure_of_reading(base::Error error, Repeat repeat);

}  // namespace instantstart::aws
