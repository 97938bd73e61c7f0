#include "kube/impl/status.h"

#include <algorithm>
#include <array>
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

// What stands in the first quotation marks of a message.
std::string quoted(const std::string& message) {
    const auto begin = message.find('"');
    const auto end = begin == std::string::npos ? begin : message.find('"', begin + 1);
    return end == std::string::npos ? "" : message.substr(begin + 1, end - begin - 1);
}

// Refusals whose code alone says the wrong thing: an admission webhook's 403 has nothing to do with who we
// are, a webhook that does not answer is a 500 of the API server. Known by the words of the API server.
struct Refusal {
    std::string_view words;
    ErrorKind kind;
    std::string_view code;
    std::string_view hint;  // %s is what the message has in its first quotation marks
};
constexpr std::array<Refusal, 9> kRefusals = {{
    {"failed calling webhook", ErrorKind::unavailable, "WebhookUnavailable",
     "The cluster asks the webhook %s about every such object, and it does not answer. See whether the pods "
     "of the operator that brings it are running; they may be waiting for nodes."},
    {"conversion webhook", ErrorKind::unavailable, "ConversionFailed",
     "The operator that defines this kind converts its versions by a webhook that does not answer or fails. "
     "See whether its pods are running and its version fits the installed definitions."},
    {"admission webhook", ErrorKind::invalid, "AdmissionDenied",
     "The cluster's webhook %s refuses this object. Change what the message names, or have the webhook's "
     "owner allow it."},
    {"denied the request", ErrorKind::invalid, "AdmissionDenied",
     "An admission policy of the cluster refuses this object. Change what the message names, or have the "
     "policy's owner allow it."},
    // Server-side apply answers so, with a 500, where the kind's definition has another type or no such
    // field.
    {"failed to create typed patch object", ErrorKind::invalid, "Invalid",
     "The definition of this kind in the cluster does not allow that: its operator may be of another "
     "version."},
    {"exceeded quota", ErrorKind::conflict, "QuotaExceeded",
     "The namespace has a ResourceQuota that this would exceed. Remove what is not needed there, or raise "
     "the quota."},
    {"violates PodSecurity", ErrorKind::invalid, "PodSecurityViolated",
     "The namespace enforces a Pod Security Standard that this pod does not keep. Use another namespace, or "
     "relax its pod-security.kubernetes.io/enforce label."},
    {"because it is being terminated", ErrorKind::conflict, "NamespaceTerminating",
     "The namespace is being deleted. Wait until it is gone and make it anew, or use another."},
    {"namespace not found", ErrorKind::not_found, "NotFound", "Make the namespace first."},
}};

void recognise(base::Error& error) {
    for (const auto& refusal : kRefusals) {
        if (error.message.find(refusal.words) == std::string::npos) continue;
        error.kind = refusal.kind;
        error.code = refusal.code;
        error.hint = refusal.hint;
        error.extra.erase("reason");
        if (const auto at = error.hint.find("%s"); at != std::string::npos) {
            const auto name = quoted(error.message);
            if (!name.empty()) error.extra["webhook"] = name;
            error.hint.replace(at, 2, name);
        }
        return;
    }
}

void add_access_hint(base::Error& error, std::int64_t code) {
    error.extra["reason"] = std::to_string(code);
    error.hint = code == 401 ? "The cluster does not know this AWS identity (yet): it needs an EKS access "
                               "entry, which takes some seconds to work."
                             : "The EKS access entry of this AWS identity needs a policy that allows this, "
                               "such as AmazonEKSClusterAdminPolicy.";
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
    if (code == 401 || code == 403) add_access_hint(error, code);
    if (code == 429) {
        error.hint =
            "The API server takes no more requests of this priority at the moment (API Priority and "
            "Fairness). It is asked again by itself; where it lasts, look for a client that floods it.";
    }
    if (code >= 500) {
        error.hint =
            "The API server is there but cannot answer at the moment, as when its control plane is being "
            "replaced: try again in some seconds.";
    }
    if (code >= 400 && code != 401) recognise(error);
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

bool may_have_been_done(const base::Error& error, int http_status) {
    // The webhooks of admission are asked before anything is stored. A 503 with a Retry-After was given
    // before the server began.
    if (error.code == "WebhookUnavailable") return false;
    return http_status >= 500 && !(http_status == 503 && error.retry_after);
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
