// What went wrong with one attempt, and whether another may follow.
#pragma once

#include <chrono>
#include <optional>

#include "aws/codec/codec.h"
#include "base/error.h"
#include "base/time.h"

namespace instantstart::aws {

// May the same call be sent again although it could have been executed? Only reads, and calls with an
// idempotency token.
enum class Repeat : std::uint8_t { unsafe, safe };

// What credentials that have run out are called here, whatever the service calls them.
inline constexpr const char* kCredentialsExpired = "CredentialsExpired";

struct Failure {
    Failure() = default;
    base::Error error;
    bool retryable = false;
    bool throttled = false;
    bool timed_out = false;
    bool expired_credentials = false;
    // The service does not like the time of the signature. EC2 says the same of an expired session.
    bool clock_skewed = false;
    std::optional<std::chrono::milliseconds> wait;  // what the service asked for
};

// `service` is botocore's name. `unsafe`: what could have been executed is unknown_outcome.
base::ErrorKind kind_of(const std::string& service, const std::string& code, int status, Repeat repeat);

// How long the service asks to wait: x-amz-retry-after (milliseconds), else Retry-After (seconds or an HTTP
// date, against the answer's own Date where it has one, else `now`). At most an hour; what cannot be read is
// absent.
std::optional<std::chrono::milliseconds> retry_after_of(const http::Headers& headers, base::TimePoint now);

Failure failure_of_answer(const std::string& service, const codec::WireError& wire,
                          const codec::Answer& answer, Repeat repeat, base::TimePoint now);
// From Transport: refused before anything was sent, or lost on the way.
Failure failure_of_transport(base::Error error, Repeat repeat);
// A success that cannot be read: for a mutation it is not known what was done.
Failure failure_of_reading(base::Error error, Repeat repeat);

}  // namespace instantstart::aws
