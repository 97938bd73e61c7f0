#include "twin/kube/status.h"

#include <map>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

using base::Error;
using base::ErrorKind;

JsonObject details_of(const Kind& kind, std::string_view name) {
    JsonObject details;
    if (!name.empty()) details["name"] = name;
    if (!kind.group.empty()) details["group"] = kind.group;
    if (!kind.plural.empty()) details["kind"] = kind.plural;
    return details;
}

Error made(ErrorKind kind, int status, std::string reason, std::string message, JsonObject details = {}) {
    Error error(kind, std::move(reason), std::move(message));
    error.extra["status"] = status;
    if (!details.empty()) error.extra["details"] = std::move(details);
    return error;
}

std::string quoted(std::string_view text) {
    return "\"" + std::string(text) + "\"";
}

}  // namespace

std::string qualified(const Kind& kind) {
    return kind.group.empty() ? kind.plural : kind.plural + "." + kind.group;
}

Error not_found(const Kind& kind, std::string_view name) {
    return made(ErrorKind::not_found, 404, "NotFound", qualified(kind) + " " + quoted(name) + " not found",
                details_of(kind, name));
}

Error already_exists(const Kind& kind, std::string_view name) {
    return made(ErrorKind::conflict, 409, "AlreadyExists",
                qualified(kind) + " " + quoted(name) + " already exists", details_of(kind, name));
}

Error conflict(const Kind& kind, std::string_view name) {
    return made(
        ErrorKind::conflict, 409, "Conflict",
        "Operation cannot be fulfilled on " + qualified(kind) + " " + quoted(name) +
            ": the object has been modified; please apply your changes to the latest version and try again",
        details_of(kind, name));
}

Error conflict_uid(const Kind& kind, std::string_view name, std::string_view wanted,
                   std::string_view actual) {
    return made(ErrorKind::conflict, 409, "Conflict",
                "Operation cannot be fulfilled on " + qualified(kind) + " " + quoted(name) +
                    ": Precondition failed: UID in precondition: " + std::string(wanted) +
                    ", UID in object meta: " + std::string(actual),
                details_of(kind, name));
}

Error required_name(const Kind& kind) {
    return invalid_object(
        kind.plural, kind.group, "",
        {Cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name")});
}

Error invalid_object(std::string_view kind_name, std::string_view group, std::string_view name,
                     const std::vector<Cause>& causes) {
    JsonArray list;
    std::string text;
    for (const auto& cause : causes) {
        list.emplace_back(
            JsonObject{{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
        if (!text.empty()) text += ", ";
        text += cause.field + ": " + cause.message;
    }
    if (causes.size() > 1) text = "[" + text + "]";
    JsonObject details;
    if (!name.empty()) details["name"] = name;
    if (!group.empty()) details["group"] = group;
    details["kind"] = kind_name;
    details["causes"] = std::move(list);
    auto subject = std::string(kind_name);
    if (!group.empty()) subject += "." + std::string(group);
    return made(ErrorKind::invalid, 422, "Invalid", subject + " " + quoted(name) + " is invalid: " + text,
                std::move(details));
}

Error bad_request(std::string message) {
    return made(ErrorKind::invalid, 400, "BadRequest", std::move(message));
}

Error expired(std::string message) {
    return made(ErrorKind::conflict, 410, "Expired", std::move(message));
}

Error forbidden(std::string message, const Kind& kind, std::string_view name) {
    return made(ErrorKind::denied, 403, "Forbidden", std::move(message), details_of(kind, name));
}

Error method_not_allowed() {
    return made(ErrorKind::unsupported, 405, "MethodNotAllowed",
                "the server does not allow this method on the requested resource");
}

Error no_such_path() {
    return made(ErrorKind::not_found, 404, "NotFound", "the server could not find the requested resource");
}

Error server_error(int status, std::string reason, std::string message) {
    return made(status == 401 ? ErrorKind::denied : ErrorKind::unsupported, status, std::move(reason),
                std::move(message));
}

int status_code(const Error& error) {
    if (const auto status = base::get_int(error.extra, "status"); status != 0)
        return static_cast<int>(status);
    switch (error.kind) {
        case ErrorKind::invalid: return 400;
        case ErrorKind::not_found: return 404;
        case ErrorKind::conflict: return 409;
        case ErrorKind::denied: return 403;
        case ErrorKind::throttled: return 429;
        default: return 500;
    }
}

JsonObject status_object(const Error& error) {
    JsonObject status;
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["metadata"] = base::get_object(error.extra, "metadata");
    status["status"] = "Failure";
    status["message"] = error.message;
    if (!error.code.empty()) status["reason"] = error.code;
    if (const auto* details = error.extra.if_contains("details")) status["details"] = *details;
    status["code"] = status_code(error);
    return status;
}

JsonObject success_status(const Kind& kind, const JsonObject& removed) {
    auto details = details_of(kind, name_of(removed));
    details["uid"] = base::get_string(removed, "metadata.uid");
    return JsonObject{{"kind", "Status"},
                      {"apiVersion", "v1"},
                      {"metadata", JsonObject()},
                      {"status", "Success"},
                      {"details", std::move(details)}};
}

http::Response json_response(int status, const JsonObject& body) {
    return {status, "application/json", base::to_text(body) + "\n"};
}

http::Response error_response(const Error& error) {
    return json_response(status_code(error), status_object(error));
}

}  // namespace instantstart::twin::kube
