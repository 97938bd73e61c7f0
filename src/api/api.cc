#include "api/api.h"

#include "api/problem.h"
#include "api/rest/openapi.h"
#include "base/digest.h"
#include "base/text.h"

namespace instantstart::api {

namespace {

constexpr std::string_view kPrefix = "/api/v1";
constexpr std::string_view kMcp = "/mcp";

bool is_under(std::string_view path, std::string_view prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool is_safe(const std::string& method) {
    return method == "GET" || method == "HEAD";
}

http::Response wrong_method(const char* allowed) {
    http::Response response = problem_response(base::Error(base::ErrorKind::invalid, "method_not_allowed",
                                                           std::string("This path takes ") + allowed));
    response.headers.set("Allow", allowed);
    return response;
}

http::Response see_other(const char* where) {
    constexpr int kSeeOther = 303;
    http::Response response(kSeeOther);
    response.headers.set("Location", where);
    response.headers.set("Cache-Control", "no-store");
    return response;
}

}  // namespace

Api::Api(boost::asio::any_io_executor executor, rt::Clock& clock, app::Executor& operations,
         ApiSettings settings)
    : clock_(clock),
      operations_(operations),
      settings_(std::move(settings)),
      guard_(settings_.allowed_hosts),
      auth_(clock, settings_.auth),
      metrics_(clock),
      web_(embedded::console()),
      rest_(operations),
      mcp_(operations, clock, settings_.version),
      stream_(std::move(executor), clock),
      openapi_(base::to_text(openapi_document(operations.catalogue(), settings_.version))) {}

boost::asio::awaitable<http::Response> Api::handle(rt::Context context, http::Request request) {
    const base::Duration begun = clock_.monotonic();
    const std::string method = request.method;
    const std::string path = request.path();
    std::string face = "web";
    context = context.with("request", clock_.random_id(8));
    http::Response response = co_await route(context, std::move(request), face);
    web_.add_security_headers(response);
    const double seconds = std::chrono::duration<double>(clock_.monotonic() - begun).count();
    metrics_.count_request(face, response.status, seconds);
    constexpr double kMillis = 1000;
    context.log(base::LogLevel::debug, "request",
                {{"method", base::JsonValue(method)},
                 {"path", base::JsonValue(base::is_valid_utf8(path) ? path : "invalid UTF-8")},
                 {"status", base::JsonValue(response.status)},
                 {"milliseconds", base::JsonValue(seconds * kMillis)}});
    co_return response;
}

boost::asio::awaitable<http::Response> Api::route(rt::Context context, http::Request request,
                                                  std::string& face) {
    const std::string path = request.path();
    if (path == "/healthz") {
        base::JsonObject body;
        body["status"] = "ok";
        co_return json_response(200, body);
    }
    if (path == "/readyz") co_return co_await ready(std::move(context));
    auto host = guard_.check_host(request);
    if (!host) co_return problem_response(host.error());
    if (is_under(path, kPrefix)) {
        face = "rest";
        co_return co_await api(std::move(context), std::move(request), path.substr(kPrefix.size()));
    }
    if (is_under(path, kMcp)) {
        face = "mcp";
        auto asked = admit(request, true);
        if (!asked) co_return problem_response(asked.error());
        std::string toolset = path.size() > kMcp.size() ? path.substr(kMcp.size() + 1) : "";
        co_return co_await mcp_.handle(std::move(context), std::move(request), std::move(toolset),
                                       std::move(asked).value());
    }
    if (path == "/metrics") {
        auto asked = admit(request, false);
        if (!asked) co_return problem_response(asked.error());
        co_return http::Response(200, "text/plain; version=0.0.4; charset=utf-8", metrics_.text());
    }
    if (!is_safe(request.method)) co_return wrong_method("GET");
    if (path == "/login") co_return login(request);
    co_return web_.handle(request);
}

base::Result<Auth::Asked> Api::admit(const http::Request& request, bool unsafe) {
    const bool by_cookie = request.headers.get("Authorization").empty() && !cookie_of(request).empty();
    CHECK_OK(guard_.check_origin(request, unsafe && by_cookie));
    TRY(Auth::Asked asked, auth_.authenticate(request));
    asked.caller.face = asked.by_cookie                                       ? "web"
                        : request.headers.get("X-InstantStart-Face") == "cli" ? "cli"
                                                                              : "rest";
    return asked;
}

boost::asio::awaitable<http::Response> Api::api(rt::Context context, http::Request request,
                                                std::string path) {
    if (path == "/session") co_return session(request);
    const bool upgrades = path == "/stream";
    auto asked = admit(request, upgrades || !is_safe(request.method));
    if (!asked) co_return problem_response(asked.error());
    if (upgrades) co_return upgrade(request);
    if (path == "/openapi.json") co_return openapi(request);
    co_return co_await rest_.handle(std::move(context), std::move(request), std::move(path),
                                    std::move(asked).value());
}

http::Response Api::openapi(const http::Request& request) {
    if (request.method != "GET") return wrong_method("GET");
    return {200, "application/json", openapi_};
}

http::Response Api::upgrade(const http::Request& request) {
    if (request.method != "GET") return wrong_method("GET");
    if (!base::iequals(request.headers.get("Upgrade"), "websocket")) {
        return problem_response(
            base::Error(base::ErrorKind::invalid, "upgrade_required", "The stream is a WebSocket"));
    }
    http::Response response(101);
    Stream& stream = stream_;
    response.websocket = [&stream](std::unique_ptr<http::WebSocket> socket) {
        return stream.serve(std::move(socket));
    };
    return response;
}

http::Response Api::with_cookie(http::Response response, const std::string& id) const {
    constexpr const char* kTwelveHours = "43200";
    std::string cookie =
        std::string(kSessionCookie) + "=" + id + "; Path=/; HttpOnly; SameSite=Strict; Max-Age=";
    cookie += id.empty() ? "0" : kTwelveHours;
    if (settings_.secure_cookies) cookie += "; Secure";
    response.headers.add("Set-Cookie", cookie);
    return response;
}

// GET tells who is signed in, POST signs in with {"token"} or {"code"}, DELETE signs out.
http::Response Api::session(const http::Request& request) {
    auto origin = guard_.check_origin(request, false);
    if (!origin) return problem_response(origin.error());
    if (request.method == "DELETE") {
        auto asked = admit(request, true);
        if (!asked) return problem_response(asked.error());
        auth_.sign_out(request);
        constexpr int kNoContent = 204;
        return with_cookie(http::Response(kNoContent), "");
    }
    std::string id;
    base::Result<Auth::Asked> who = auth_.authenticate(request);
    if (request.method == "POST") {
        auto body = read_body(request);
        if (!body) return problem_response(body.error());
        const std::string code = base::get_string(*body, "code");
        auto begun = code.empty() ? auth_.sign_in_with_token(base::get_string(*body, "token"))
                                  : auth_.sign_in_with_code(code);
        if (!begun) return problem_response(begun.error());
        id = *begun;
        Auth::Asked asked;
        asked.caller = auth_.session(id).value_or(app::Caller());
        who = std::move(asked);
    } else if (request.method != "GET") {
        return wrong_method("GET, POST, DELETE");
    }
    if (!who) return problem_response(who.error());
    base::JsonObject told;
    told["principal"] = who->caller.principal;
    told["role"] = role_name(who->caller.role);
    base::JsonObject answer;
    answer["session"] = std::move(told);
    http::Response response = json_response(200, answer);
    return id.empty() ? std::move(response) : with_cookie(std::move(response), id);
}

// The one-time link of the ready line. A link that no longer works leads to the sign-in page as well.
http::Response Api::login(const http::Request& request) {
    const std::string code = request.parameter("code").value_or("");
    if (code.empty()) return web_.handle(request);
    auto begun = auth_.sign_in_with_code(code);
    if (!begun) return see_other("/login?expired=1");
    return with_cookie(see_other("/"), *begun);
}

boost::asio::awaitable<http::Response> Api::ready(rt::Context context) {
    base::JsonObject reasons;
    if (why_not_ready) {
        auto asked = co_await why_not_ready(std::move(context));
        if (asked) {
            reasons = std::move(asked).value();
        } else {
            reasons["detail"] = asked.error().message;
        }
    }
    const bool is_ready = reasons.empty();
    constexpr int kUnavailable = 503;
    reasons["status"] = is_ready ? "ready" : "not_ready";
    co_return json_response(is_ready ? 200 : kUnavailable, reasons);
}

boost::asio::awaitable<void> Api::stop() {
    co_await stream_.stop();
}

http::Response refused_by_server(int status, std::string detail) {
    constexpr int kTimeout = 408;
    constexpr int kTooLarge = 413;
    constexpr int kHeaders = 431;
    const char* code = status == kTooLarge  ? "payload_too_large"
                       : status == kHeaders ? "headers_too_large"
                       : status == kTimeout ? "request_timeout"
                                            : "bad_request";
    http::Response response = problem_response(unreadable(code, std::move(detail)));
    response.status = status;
    return response;
}

}  // namespace instantstart::api
