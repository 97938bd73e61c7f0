#include "aws/failure.h"

#include <algorithm>
#include <charconv>

#include "aws/error_codes.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

using base::ErrorKind;
using Names = std::initializer_list<std::string_view>;

bool one_of(std::string_view code, Names names) {
    return std::find(names.begin(), names.end(), code) != names.end();
}

bool holds_any(std::string_view code, Names parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return code.find(part) != std::string_view::npos; });
}

bool starts_with_any(std::string_view code, Names parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return code.starts_with(part); });
}

bool is_expired(const std::string& code) {
    return one_of(code, {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"});
}

bool is_skew(const codec::WireError& wire) {
    if (one_of(wire.code, {"RequestTimeTooSkewed", "RequestExpired", "RequestInTheFuture"})) return true;
    if (!one_of(wire.code, {"InvalidSignatureException", "SignatureDoesNotMatch", "AuthFailure"}))
        return false;
    return holds_any(wire.message, {"Signature expired", "Signature not yet current", "Request has expired"});
}

bool is_denied(std::string_view code) {
    return starts_with_any(code,
                           {"AccessDenied", "UnauthorizedOperation", "NotAuthorized", "Unauthorized"}) ||
           one_of(code, {"AuthFailure", "Forbidden", "UnrecognizedClientException", "InvalidClientTokenId",
                         "OptInRequired", "MissingAuthenticationToken", "MissingAuthenticationTokenException",
                         "SignatureDoesNotMatch", "InvalidSignatureException", "IncompleteSignature",
                         "InvalidAccessKeyId", "ExpiredToken", "ExpiredTokenException",
                         "TokenRefreshRequired", "RequestTimeTooSkewed", "RequestExpired",
                         "RequestInTheFuture", "AllAccessDisabled", "AccountProblem"});
}

bool is_not_found(std::string_view code) {
    return holds_any(code, {"NotFound"}) || starts_with_any(code, {"NoSuch"});
}

bool is_conflict(std::string_view code) {
    return holds_any(code,
                     {"AlreadyExists", "AlreadyOwned", "InUse", "DependencyViolation", "Conflict",
                      "AlreadyAssociated", "Duplicate", "NotEmpty", "IncorrectState", "InvalidState"}) ||
           one_of(code, {"OperationAborted", "PreconditionFailed", "ConcurrentModification",
                         "ConcurrentModificationException", "EntityTemporarilyUnmodifiable"});
}

bool is_limit(std::string_view code) {
    return holds_any(code, {"LimitExceeded", "QuotaExceeded"});
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (text.empty() || !whole || value < 0) return std::nullopt;
    return value;
}

}  // namespace

std::optional<std::chrono::milliseconds> retry_after_of(const http::Headers& headers, base::TimePoint now) {
    using std::chrono::milliseconds;
    constexpr std::int64_t kMostMillis = 3'600'000;
    const std::string millis(base::trim(headers.get("x-amz-retry-after")));
    if (const auto value = whole_number(millis)) return milliseconds(std::min(*value, kMostMillis));
    const std::string text(base::trim(headers.get("Retry-After")));
    if (const auto seconds = whole_number(text))
        return milliseconds(std::min(*seconds, kMostMillis / 1000) * 1000);
    const auto at = base::parse_time(text);
    if (!at) return std::nullopt;
    const auto from = base::parse_time(headers.get("Date")).value_or(now);
    const auto left = std::chrono::duration_cast<milliseconds>(*at - from);
    return std::clamp(left, milliseconds(0), milliseconds(kMostMillis));
}

base::ErrorKind kind_of(const std::string& service, const std::string& code, int status, Repeat repeat) {
    const Proof proof = proof_of(service, code);
    if (proof == Proof::throttled || status == 429) return ErrorKind::throttled;
    if (proof == Proof::refused) return ErrorKind::unavailable;
    if (proof == Proof::capacity) return ErrorKind::conflict;
    if (is_denied(code)) return ErrorKind::denied;
    if (proof == Proof::transient || status >= 500 || status == 408) {
        return repeat == Repeat::safe ? ErrorKind::unavailable : ErrorKind::unknown_outcome;
    }
    if (is_not_found(code)) return ErrorKind::not_found;
    if (is_conflict(code) || is_limit(code)) return ErrorKind::conflict;
    if (status == 403) return ErrorKind::denied;
    if (status == 404) return ErrorKind::not_found;
    if (status == 409 || status == 412) return ErrorKind::conflict;
    return ErrorKind::invalid;
}

Failure failure_of_answer(const std::string& service, const codec::WireError& wire,
                          const codec::Answer& answer, Repeat repeat, base::TimePoint now) {
    Failure out;
    const base::ErrorKind kind = kind_of(service, wire.code, answer.status, repeat);
    out.throttled = kind == ErrorKind::throttled;
    out.expired_credentials = is_expired(wire.code);
    out.clock_skewed = is_skew(wire);
    out.error = base::Error(kind, out.expired_credentials ? kCredentialsExpired : wire.code,
                            wire.message.empty() ? wire.code : wire.message);
    out.error.aws_request_id = wire.request_id;
    if (!wire.members.empty()) out.error.extra["aws_error"] = wire.members;
    out.wait = retry_after_of(answer.headers, now);
    if (out.wait) out.error.retry_after = *out.wait;
    // A mutation that is merely `unavailable` is proven not to have been executed.
    out.retryable = out.throttled || kind == ErrorKind::unavailable;
    return out;
}

Failure failure_of_transport(base::Error error, Repeat repeat) {
    Failure out;
    out.error = std::move(error);
    out.timed_out = out.error.code == "timeout" || out.error.code == "connect_timeout";
    const bool refused = out.error.kind == ErrorKind::unavailable;
    const bool lost = out.error.kind == ErrorKind::unknown_outcome;
    out.retryable = refused || (lost && repeat == Repeat::safe);
    // A read that was lost has changed nothing: the caller need not look before it tries again.
    if (lost && repeat == Repeat::safe) out.error.kind = ErrorKind::unavailable;
    // The request was sent and answered at length: a mutation may well have been done.
    if (out.error.code == "body_too_large" && repeat == Repeat::unsafe)
        out.error.kind = ErrorKind::unknown_outcome;
    return out;
}

Failure failure_of_reading(base::Error error, Repeat repeat) {
    Failure out;
    out.error = std::move(error);
    out.retryable = repeat == Repeat::safe;
    out.error.kind = repeat == Repeat::safe ? ErrorKind::unavailable : ErrorKind::unknown_outcome;
    return out;
}

}  // namespace instantstart::aws
