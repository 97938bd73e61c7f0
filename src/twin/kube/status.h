// The API server's own words for its refusals, as errors whose code is the reason, and their Status objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/message.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

struct Cause {
    Cause() = default;
    Cause(std::string reason, std::string message, std::string field)
        : reason(std::move(reason)), message(std::move(message)), field(std::move(field)) {}
    std::string reason, message, field;
};

std::string qualified(const Kind& kind);  // "deployments.apps", "pods"
base::Error not_found(const Kind& kind, std::string_view name);
base::Error already_exists(const Kind& kind, std::string_view name);
base::Error conflict(const Kind& kind, std::string_view name);
base::Error conflict_uid(const Kind& kind, std::string_view name, std::string_view wanted,
                         std::string_view actual);
base::Error required_name(const Kind& kind);
// 422 with one cause per field; `kind_name` as in "Deployment", `group` "" for core.
base::Error invalid_object(std::string_view kind_name, std::string_view group, std::string_view name,
                           const std::vector<Cause>& causes);
base::Error bad_request(std::string message);
base::Error expired(std::string message);
base::Error forbidden(std::string message, const Kind& kind, std::string_view name);
base::Error method_not_allowed();
base::Error no_such_path();
base::Error server_error(int status, std::string reason, std::string message);

int status_code(const base::Error& error);
JsonObject status_object(const base::Error& error);
JsonObject success_status(const Kind& kind, const JsonObject& removed);
http::Response json_response(int status, const JsonObject& body);
http::Response error_response(const base::Error& error);

}  // namespace instantstart::twin::kube
