#include "base/error.h"

#include <utility>

namespace instantstart::base {

const char* to_string(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::invalid: return "invalid";
        case ErrorKind::not_found: return "not_found";
        case ErrorKind::conflict: return "conflict";
        case ErrorKind::denied: return "denied";
        case ErrorKind::throttled: return "throttled";
        case ErrorKind::unavailable: return "unavailable";
        case ErrorKind::deadline: return "deadline";
        case ErrorKind::cancelled: return "cancelled";
        case ErrorKind::unsupported: return "unsupported";
        case ErrorKind::internal: return "internal";
        case ErrorKind::unknown_outcome: return "unknown_outcome";
    }
    return "internal";
}

Error& Error::with_detail(std::string text) & {
    detail = std::move(text);
    return *this;
}

Error&& Error::with_detail(std::string text) && {
    detail = std::move(text);
    return std::move(*this);
}

Error&& Error::with_hint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
}

Error&& Error::with_field(FieldError field) && {
    fields.push_back(std::move(field));
    return std::move(*this);
}

Error&& Error::with_retry_after(std::chrono::milliseconds wait) && {
    retry_after = wait;
    return std::move(*this);
}

Error&& Error::with_extra(std::string_view key, JsonValue value) && {
    extra[key] = std::move(value);
    return std::move(*this);
}

Error Error::wrapped(std::string_view trying) const {
    Error outer = *this;
    outer.message = std::string(trying) + ": " + message;
    outer.detail.clear();
    outer.cause = std::make_shared<const Error>(*this);
    return outer;
}

std::string Error::chain() const {
    std::string text = message + " (" + code + ")";
    if (!detail.empty()) text += ": " + detail;
    if (cause) text += " <- " + cause->chain();
    return text;
}

Error invalid_error(std::string code, std::string message) {
    return {ErrorKind::invalid, std::move(code), std::move(message)};
}

Error invalid_field(std::string pointer, std::string message) {
    Error error(ErrorKind::invalid, "invalid_field", message);
    error.fields.push_back({std::move(pointer), std::move(message), {}, {}});
    return error;
}

Error not_found_error(std::string what) {
    return {ErrorKind::not_found, "not_found", std::move(what) + " does not exist"};
}

Error conflict_error(std::string code, std::string message) {
    return {ErrorKind::conflict, std::move(code), std::move(message)};
}

Error internal_error(std::string message) {
    return {ErrorKind::internal, "internal", std::move(message)};
}

Error cancelled_error() {
    return {ErrorKind::cancelled, "cancelled", "cancelled"};
}

}  // namespace instantstart::base
