// The one error type of the project. Knows nothing of HTTP, AWS or Kubernetes; adapters map to and from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace instantstart::base {

enum class ErrorKind : std::uint8_t {
    invalid,          // the caller's input is wrong; `fields` may say where
    not_found,        // the named thing does not exist
    conflict,         // the state does not allow it now
    denied,           // not allowed (ours or the account's; `code` tells which)
    throttled,        // too many requests; `retry_after` may say when
    unavailable,      // proven not executed: refused connection, DNS, TLS, 503 before work
    deadline,         // our time ran out while waiting
    cancelled,        // somebody asked to stop; never retried, never swallowed
    unsupported,      // not possible here
    internal,         // our bug
    unknown_outcome,  // a mutation may or may not have happened: look before acting again
};

// Stable lower-case name of the kind ("invalid", "not_found", …).
const char* to_string(ErrorKind kind);

// One fault of one field of a request.
struct FieldError {
    std::string pointer;  // JSON Pointer into the request body, "" for the whole
    std::string message;
    std::vector<std::string> allowed;  // values that would have been accepted, if few
    std::string did_you_mean;          // nearest accepted value, "" if none is near
};

class Error {
public:
    Error() : Error(ErrorKind::internal, "internal", "unset") {}
    Error(ErrorKind kind, std::string code, std::string message)
        : kind(kind), code(std::move(code)), message(std::move(message)) {}

    // Builder-style setters, so that an error is one expression where it is made.
    Error& with_detail(std::string text) &;
    Error&& with_detail(std::string text) &&;
    Error&& with_hint(std::string text) &&;
    Error&& with_field(FieldError field) &&;
    Error&& with_retry_after(std::chrono::milliseconds wait) &&;
    Error&& with_extra(std::string_view key, JsonValue value) &&;
    // A new error around this one: same kind, code and advice, `trying` put before the message.
    Error wrapped(std::string_view trying) const;

    // The whole chain for a log line: "message (code): detail <- cause…".
    std::string chain() const;

    ErrorKind kind;
    std::string code;  // machine name: ours ("confirmation_required") or the wire's own ("VpcLimitExceeded")
    std::string message;  // safe to show to a user
    std::string detail;   // for the log only
    std::string hint;     // what the user can do about it
    std::vector<FieldError> fields;
    std::optional<std::chrono::milliseconds> retry_after;
    std::string aws_request_id;
    JsonObject
        extra;  // further members of the problem document (e.g. "operation_id", "confirm", "would_remove")
    JsonValue changed = false;  // false, or what had already been done when it failed
    std::shared_ptr<const Error> cause;
};

// Shorthands for the common kinds.
Error invalid_error(std::string code, std::string message);
Error invalid_field(std::string pointer, std::string message);  // code "invalid_field"
Error not_found_error(std::string what);                        // code "not_found"
Error conflict_error(std::string code, std::string message);
Error internal_error(std::string message);
Error cancelled_error();

}  // namespace instantstart::base
