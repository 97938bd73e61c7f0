#include "aws/failure.h"

#include <algorithm>
#include <charconv>

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

bool is_unavailable(std::string_view code, int status) {
    return status >= 500 ||
           one_of(code, {"InternalFailure", "InternalError", "InternalServerError", "RequestTimeout",
                         "RequestTimeoutException", "ServiceUnavailable", "Unavailable",
                         "ServiceUnavailableException", "InternalServerException"});
}

std::optional<std::chrono::milliseconds> wait_of(const codec::Answer& answer) {
    constexpr std::int64_t kMostSeconds = 60;
    const std::string text = answer.headers.get("Retry-After");
    std::int64_t seconds = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (text.empty() || parsed.ec != std::errc() || seconds < 0) return std::nullopt;
    return std::chrono::seconds(std::min(seconds, kMostSeconds));
}

}  // namespace

bool is_throttle(const std::string& code, int status) {
    return one_of(code,
                  {"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException",
                   "RequestThrottled", "TooManyRequestsException", "TooManyRequests", "RequestLimitExceeded",
                   "BandwidthLimitExceeded", "SlowDown", "PriorRequestNotComplete", "EC2ThrottledException",
                   "ProvisionedThroughputExceededException", "TransactionInProgressException"}) ||
           status == 429;
}

base::ErrorKind kind_of(const std::string& code, int status, Repeat repeat) {
    if (is_throttle(code, status)) return ErrorKind::throttled;
    if (is_denied(code)) return ErrorKind::denied;
    if (is_unavailable(code, status)) {
        return repeat == Repeat::safe ? ErrorKind::unavailable : ErrorKind::unknown_outcome;
    }
    if (is_not_found(code)) return ErrorKind::not_found;
    if (is_conflict(code) || is_limit(code)) return ErrorKind::conflict;
    if (status == 403) return ErrorKind::denied;
    if (status == 404) return ErrorKind::not_found;
    if (status == 409 || status == 412) return ErrorKind::conflict;
    return ErrorKind::invalid;
}

Failure failure_of_answer(const codec::WireError& wire, const codec::Answer& answer, Repeat repeat) {
    Failure out;
    const base::ErrorKind kind = kind_of(wire.code, answer.status, repeat);
    out.throttled = kind == ErrorKind::throttled;
    out.expired_credentials = is_expired(wire.code);
    out.clock_skewed = is_skew(wire);
    out.error = base::Error(kind, out.expired_credentials ? "CredentialsExpired" : wire.code,
                            wire.message.empty() ? wire.code : wire.message);
    out.error.aws_request_id = wire.request_id;
    if (!wire.members.empty()) out.error.extra["aws_error"] = wire.members;
    out.wait = wait_of(answer);
    if (out.wait) out.error.retry_after = *out.wait;
    out.retryable = out.throttled || (kind == ErrorKind::unavailable && repeat == Repeat::safe);
    return out;
}

Failure failure_of_transport(base::Error error, Repeat repeat) {
    Failure out;
    out.error = std::move(error);
    const bool refused = out.error.kind == ErrorKind::unavailable;
    const bool lost = out.error.kind == ErrorKind::unknown_outcome;
    out.retryable = refused || (lost && repeat == Repeat::safe);
    // A read that was lost has changed nothing: the caller need not look before it tries again.
    if (lost && repeat == Repeat::safe) out.error.kind = ErrorKind::unavailable;
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
