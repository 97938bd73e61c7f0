#include "kube/service_proxy.h"

#include "base/text.h"
#include "kube/impl/status.h"

namespace instantstart::kube {

namespace {

constexpr std::size_t kMaxRefusal = 64U << 10U;

// A refusal of the API server is a Status; what a service answers is its own, whatever it looks like beyond
// that.
bool may_be_refusal(const http::Response& response) {
    return response.status >= 400 && response.headers.get("Content-Type").starts_with("application/json");
}

// Takes the whole body in, so that it can be looked at and still be handed on.
Task<void> gather(http::Response& response) {
    if (!response.stream) co_return base::ok();
    while (response.body.size() < kMaxRefusal) {
        CO_TRY(const auto piece, co_await response.stream->read());
        if (!piece) break;
        response.body += *piece;
    }
    response.stream.reset();
    co_return base::ok();
}

base::Error refusal(const http::Response& response, const ServiceTarget& target) {
    auto error = impl::error_of(response.status, response.body, response.headers.get("Retry-After"));
    const auto name = target.ns + "/" + target.name;
    if (error.message.find("no endpoints available") != std::string::npos) {
        error.code = "NoEndpoints";
        error.hint = "No pod of the service " + name + " is ready. See its pods and their events.";
    } else if (error.code == "NotFound") {
        error.hint = "There is no service " + name + " with port " + target.port + ".";
    } else if (error.kind == base::ErrorKind::unavailable) {
        error.hint = "The API server could not reach the pods of the service " + name +
                     ": a security group between control plane and nodes may be closed, or the pod listens "
                     "on another port.";
    }
    return error;
}

}  // namespace

Task<http::Response> call_service(Client& client, Context context, ServiceTarget target, std::string method,
                                  std::string path, std::string body, bool stream) {
    if (target.ns.empty() || target.name.empty() || target.port.empty()) {
        co_return base::invalid_error("invalid_service", "a service needs a namespace, a name and a port");
    }
    const auto scheme = target.scheme == "https" ? "https:" : "";
    while (path.starts_with('/')) path.erase(0, 1);
    const auto url = "/api/v1/namespaces/" + base::percent_encode(target.ns) + "/services/" + scheme +
                     base::percent_encode(target.name) + ":" + base::percent_encode(target.port) + "/proxy/" +
                     path;
    http::Headers headers;
    headers.add("Accept", stream ? "text/event-stream, */*" : "application/json, */*");
    CO_TRY(auto response,
           co_await client.raw(context, std::move(method), url, std::move(headers), std::move(body), stream));
    if (!may_be_refusal(response)) co_return std::move(response);
    CO_CHECK_OK(co_await gather(response));
    const auto parsed = base::parse_json(response.body, 64);
    const bool is_status = parsed.has_value() && base::get_string(*parsed, "kind") == "Status" &&
                           base::get_string(*parsed, "apiVersion") == "v1";
    if (is_status) co_return refusal(response, target);
    co_return std::move(response);
}

}  // namespace instantstart::kube
