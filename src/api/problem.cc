#include "api/problem.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace instantstart::api {

namespace {

using base::Error;
using base::ErrorKind;

struct CodeRow {
    std::string_view code;
    int status;
};
// Codes whose status is not their kind's.
constexpr std::array<CodeRow, 16> kCodes = {{{"unauthenticated", 401},
                                             {"method_not_allowed", 405},
                                             {"request_timeout", 408},
                                             {"payload_too_large", 413},
                                             {"headers_too_large", 431},
                                             {"unsupported_media_type", 415},
                                             {"misdirected_request", 421},
                                             {"upgrade_required", 426},
                                             {"upstream_error", 502},
                                             {"invalid_json", 400},
                                             {"invalid_body", 400},
                                             {"invalid_utf8", 400},
                                             {"invalid_header", 400},
                                             {"unexpected_query", 400},
                                             {"bad_request", 400},
                                             {"plan_changed", 409}}};

int status_of_kind(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::invalid: return 422;
        case ErrorKind::not_found: return 404;
        case ErrorKind::conflict: return 409;
        case ErrorKind::denied: return 403;
        case ErrorKind::throttled: return 429;
        case ErrorKind::unavailable: return 503;
        case ErrorKind::deadline: return 504;
        case ErrorKind::cancelled: return 503;
        case ErrorKind::unsupported: return 422;
        case ErrorKind::unknown_outcome: return 504;
        case ErrorKind::internal: return 500;
    }
    return 500;
}

const char* title_of(int status) {
    switch (status) {
        case 400: return "The request cannot be read";
        case 401: return "Not signed in";
        case 403: return "Not allowed";
        case 404: return "Not found";
        case 405: return "Method not allowed";
        case 409: return "The state does not allow it";
        case 413: return "The request is too large";
        case 415: return "Unsupported media type";
        case 421: return "Wrong host";
        case 422: return "The request is not valid";
        case 429: return "Too many requests";
        case 500: return "Internal error";
        case 502: return "The account's API refused";
        case 503: return "Not available now";
        case 504: return "The account's API did not answer in time";
        default: return "Refused";
    }
}

bool is_retryable(const Error& error) {
    return error.kind == ErrorKind::throttled || error.kind == ErrorKind::unavailable ||
           error.kind == ErrorKind::deadline || error.kind == ErrorKind::cancelled ||
           error.code == "operation_in_progress";
}

base::JsonArray field_errors(const Error& error) {
    base::JsonArray made;
    for (const auto& field : error.fields) {
        base::JsonObject entry;
        entry["pointer"] = field.pointer;
        entry["message"] = field.message;
        if (!field.allowed.empty()) {
            base::JsonArray allowed;
            for (const auto& value : field.allowed) allowed.emplace_back(value);
            entry["allowed"] = std::move(allowed);
        }
        if (!field.did_you_mean.empty()) entry["did_you_mean"] = field.did_you_mean;
        made.push_back(std::move(entry));
    }
    return made;
}

std::int64_t whole_seconds(std::chrono::milliseconds wait) {
    return std::max<std::int64_t>(1, (wait.count() + 999) / 1000);
}

}  // namespace

int status_of(const Error& error) {
    const auto* found = std::find_if(kCodes.begin(), kCodes.end(),
                                     [&error](const CodeRow& row) { return row.code == error.code; });
    return found != kCodes.end() ? found->status : status_of_kind(error.kind);
}

base::JsonObject problem_of(const Error& error) {
    const int status = status_of(error);
    base::JsonObject made;
    made["type"] = "urn:instantstart:problem:" + error.code;
    made["title"] = title_of(status);
    made["status"] = status;
    made["detail"] = error.message;
    made["code"] = error.code;
    if (!error.fields.empty()) made["errors"] = field_errors(error);
    if (!error.hint.empty()) made["hint"] = error.hint;
    made["retryable"] = is_retryable(error);
    if (error.retry_after) made["retry_after_seconds"] = whole_seconds(*error.retry_after);
    made["changed"] = error.changed;
    if (!error.aws_request_id.empty()) made["aws_request_id"] = error.aws_request_id;
    for (const auto& entry : error.extra) {
        if (!made.contains(entry.key())) made[entry.key()] = entry.value();
    }
    return made;
}

http::Response problem_response(const Error& error) {
    http::Response response(status_of(error), "application/problem+json", base::to_text(problem_of(error)));
    response.headers.set("Cache-Control", "no-store");
    if (error.retry_after)
        response.headers.set("Retry-After", std::to_string(whole_seconds(*error.retry_after)));
    if (response.status == 401) response.headers.set("WWW-Authenticate", "Bearer realm=\"instantstart\"");
    return response;
}

http::Response json_response(int status, const base::JsonObject& body) {
    http::Response response(status, "application/json", base::to_text(body));
    response.headers.set("Cache-Control", "no-store");
    return response;
}

Error unreadable(std::string code, std::string message) {
    return Error(ErrorKind::invalid, std::move(code), std::move(message)).with_hint("Nothing was done.");
}

}  // namespace instantstart::api
