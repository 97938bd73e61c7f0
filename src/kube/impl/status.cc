#include "kube/impl/status.h"

#include <algorithm>
#include <charconv>

#include "base/result.h"
#include "base/text.h"

namespace instantstart::kube::impl {

namespace {

using base::ErrorKind;

std::string reason_of(std::int64_t code) {
    switch (code) {
        case 400: return "BadRequest";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "NotFound";
        case 405: return "MethodNotAllowed";
        case 406: return "NotAcceptable";
        case 409: return "Conflict";
        case 410: return "Expired";
        case 413: return "RequestEntityTooLarge";
        case 415: return "UnsupportedMediaType";
        case 422: return "Invalid";
        case 429: return "TooManyRequests";
        case 500: return "InternalError";
        case 503: return "ServiceUnavailable";
        case 504: return "Timeout";
        default: return "HTTP" + std::to_string(code);
    }
}

ErrorKind kind_of(std::int64_t code) {
    switch (code) {
        case 401:
        case 403: return ErrorKind::denied;
        case 404: return ErrorKind::not_found;
        case 409:
        case 410: return ErrorKind::conflict;
        case 405:
        case 406:
        case 415: return ErrorKind::unsupported;
        case 429: return ErrorKind::throttled;
        default: return code >= 500 ? ErrorKind::unavailable : ErrorKind::invalid;
    }
}

// "spec.containers[0].name" as the JSON Pointer "/spec/containers/0/name".
std::string pointer_of(std::string_view field) {
    std::string pointer = "/";
    for (const char c : field) {
        if (c == ']') continue;
        pointer += c == '.' || c == '[' ? '/' : c;
    }
    return pointer;
}

base::Error made(std::int64_t code, const JsonObject& status) {
    std::string reason = base::get_string(status, "reason");
    if (reason.empty() || reason == "Gone") reason = reason_of(code);
    base::Error error(
        kind_of(code), reason,
        base::get_string(status, "message", "the Kubernetes API server answered " + std::to_string(code)));
    for (const auto& cause : base::get_array(status, "details.causes")) {
        const auto field = base::get_string(cause, "field");
        if (!field.empty())
            error.fields.push_back({pointer_of(field), base::get_string(cause, "message"), {}, {}});
    }
    if (const auto wait = base::get_int(status, "details.retryAfterSeconds"); wait > 0)
        error.retry_after = std::chrono::seconds(wait);
    if (code == 401) {
        error.hint =
            "The cluster does not know this AWS identity (yet): it needs an EKS access entry, which takes "
            "some seconds to work.";
        error.extra["reason"] = "401";
    } else if (code == 403) {
        error.hint =
            "The EKS access entry of this AWS identity needs a policy that allows this, such as "
            "AmazonEKSClusterAdminPolicy.";
        error.extra["reason"] = "403";
    }
    return error;
}

}  // namespace

base::Error error_of(int http_status, const std::string& body, std::string retry_after) {
    const auto parsed = base::parse_json(body, 64);
    const bool is_status = parsed.has_value() && base::get_string(*parsed, "kind") == "Status";
    JsonObject status = is_status ? parsed->get_object() : JsonObject();
    if (!is_status && !body.empty()) {
        std::string text = body.substr(0, 300);
        if (!base::is_valid_utf8(text)) text = "(not text)";
        status["message"] = "the Kubernetes API server answered " + std::to_string(http_status) + ": " +
                            std::string(base::trim(text));
    }
    auto error = made(http_status, status);
    int seconds = 0;
    const auto* end = retry_after.data() + retry_after.size();
    if (const auto [at, code] = std::from_chars(retry_after.data(), end, seconds);
        code == std::errc() && at == end && seconds >= 0) {
        error.retry_after = std::chrono::seconds(std::min(seconds, 3600));
    }
    return error;
}

base::Error error_of_status(const JsonObject& status) {
    return made(base::get_int(status, "code", 500), status);
}

base::Error unreachable(const base::Error& cause, const std::string& url) {
    std::string reason = "timeout";
    std::string hint =
        "The API server does not answer: the endpoint may be private, or its public access limited to other "
        "addresses.";
    if (cause.code == "dns") {
        reason = "dns";
        hint =
            "The endpoint's name cannot be resolved: the cluster may be gone, or its endpoint private and "
            "this machine outside its VPC.";
    } else if (cause.code == "connection_refused") {
        reason = "refused";
        hint =
            "Nothing answers at the endpoint: the API server may be starting again, or a firewall stands "
            "between.";
    } else if (cause.code == "tls") {
        reason = "tls";
        hint =
            "The endpoint's certificate is not of the cluster's authority: a proxy may stand between, or the "
            "cluster was made anew.";
    }
    base::Error error = cause.wrapped("cannot reach the Kubernetes API server at " + url);
    error.kind = ErrorKind::unavailable;
    error.code = "KubernetesUnreachable";
    error.hint = hint;
    error.extra["reason"] = reason;
    return error;
}

}  // namespace instantstart::kube::impl
