// Problem documents (RFC 9457): the one table from errors to statuses, used by every face.
#pragma once

#include "base/error.h"
#include "http/message.h"

namespace instantstart::api {

int status_of(const base::Error& error);
// type, title, status, detail, code, errors, hint, retryable, retry_after_seconds, changed, aws_request_id
// and the error's own.
base::JsonObject problem_of(const base::Error& error);
http::Response problem_response(const base::Error& error);
http::Response json_response(int status, const base::JsonObject& body);

// For faults of the request's form, before any operation: status and code stand in the table.
base::Error unreadable(std::string code, std::string message);  // 400

}  // namespace instantstart::api
