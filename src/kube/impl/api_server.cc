#include "kube/impl/api_server.h"

#include <algorithm>

#include "kube/impl/status.h"
#include "rt/backoff.h"

namespace instantstart::kube::impl {

namespace {

using namespace std::chrono_literals;
using base::ErrorKind;

constexpr auto kTokenLife = 10min;  // tokens of EKS live 15
// What a server asks to wait for longer is the caller's to wait for.
constexpr auto kLongestRetryAfter = 10s;
constexpr std::size_t kMaxErrorBody = 256U << 10U;

// Errors of the transport worth another attempt soon. A name or certificate that is wrong stays wrong for a
// while.
bool is_passing(const base::Error& error, bool repeatable) {
    if (error.kind == ErrorKind::unavailable)
        return error.code == "connection_refused" || error.code == "connect_timeout";
    return error.kind == ErrorKind::unknown_outcome && repeatable;
}

// Whether an answer asks to come again. A 503 may be a proxy's word for a request that was lost behind it;
// with a Retry-After it is the API server's own, given before it began.
bool asks_to_wait(const http::Response& response, bool repeatable) {
    if (response.status == 429) return true;
    return response.status == 503 && (repeatable || response.headers.has("Retry-After"));
}

Task<std::string> collect(std::unique_ptr<http::BodyStream> stream) {
    std::string all;
    while (all.size() < kMaxErrorBody) {
        CO_TRY(const auto piece, co_await stream->read());
        if (!piece) break;
        all += *piece;
    }
    co_return std::move(all);
}

}  // namespace

ApiServer::ApiServer(Endpoint endpoint, http::Transport& transport, rt::Clock& clock)
    : endpoint_(std::move(endpoint)), transport_(transport), clock_(clock) {
    auto parsed = http::parse_url(endpoint_.url);
    valid_url_ = parsed.has_value();
    if (valid_url_) url_ = std::move(*parsed);
    prefix_ = url_.target;
    while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
}

Task<std::string> ApiServer::token(Context context, bool fresh) {
    if (!endpoint_.token) co_return std::string();
    if (!fresh && !token_.empty() && clock_.monotonic() < token_until_) co_return token_;
    auto made = co_await endpoint_.token(context, fresh);
    if (!made.has_value()) co_return made.error().wrapped("getting a token for the Kubernetes API server");
    token_ = std::move(*made);
    token_until_ = clock_.monotonic() + kTokenLife;
    co_return token_;
}

Task<bool> ApiServer::pause(Context context, base::Duration wait) {
    const auto deadline = context.deadline();
    if (deadline && clock_.monotonic() + wait >= *deadline) co_return false;
    CO_CHECK_OK(co_await clock_.sleep(wait));
    co_return true;
}

Task<http::Response> ApiServer::once(Context context, Call call, bool fresh_token) {
    CO_TRY(const auto bearer, co_await token(context, fresh_token));
    http::Request request;
    request.method = std::move(call.method);
    request.scheme = url_.scheme;
    request.host = url_.host;
    request.port = url_.port;
    request.target = prefix_ + call.target;
    request.body = std::move(call.body);
    request.headers = std::move(call.headers);
    if (!request.headers.has("Accept")) request.headers.add("Accept", "application/json");
    request.headers.add("User-Agent", "instantstart/" INSTANTSTART_VERSION);
    if (!call.content_type.empty()) request.headers.add("Content-Type", std::move(call.content_type));
    if (!bearer.empty()) request.headers.add("Authorization", "Bearer " + bearer);
    http::SendOptions options;
    options.ca_pem = endpoint_.ca_pem;
    options.stream = call.stream;
    options.timeout = call.timeout;
    options.read_timeout = call.read_timeout;
    if (const auto deadline = context.deadline()) {
        const auto left = *deadline - clock_.monotonic();
        if (left <= 0s)
            co_return base::Error(ErrorKind::deadline, "deadline",
                                  "the time ran out before the Kubernetes API server was asked");
        options.timeout = std::min(options.timeout, left);
    }
    co_return co_await transport_.send(context, std::move(request), std::move(options));
}

Task<http::Response> ApiServer::send(Context context, Call call) {
    if (!valid_url_)
        co_return base::invalid_error("invalid_url", "not the URL of an API server: " + endpoint_.url);
    rt::Backoff backoff(1s, 8s);
    bool refreshed = false;
    bool fresh = false;
    for (int attempt = 1;; ++attempt) {
        auto answer = co_await once(context, call, std::exchange(fresh, false));
        if (!answer.has_value()) {
            auto& error = answer.error();
            const bool network =
                error.kind == ErrorKind::unavailable || error.kind == ErrorKind::unknown_outcome;
            // A timeout has already cost much.
            const int most = error.code == "timeout" ? std::min(2, call.attempts) : call.attempts;
            if (attempt < most && network && is_passing(error, call.repeatable)) {
                CO_TRY(const bool again, co_await pause(context, backoff.next(clock_)));
                if (again) continue;
            }
            if (error.kind == ErrorKind::unavailable ||
                (error.kind == ErrorKind::unknown_outcome && call.repeatable)) {
                co_return unreachable(error, endpoint_.url);
            }
            co_return std::move(error);
        }
        if (answer->status == 401 && endpoint_.token && !std::exchange(refreshed, true)) {
            fresh = true;
            continue;
        }
        if (call.patient_on_503 && asks_to_wait(*answer, call.repeatable) && attempt < call.attempts) {
            const auto told = error_of(answer->status, "", answer->headers.get("Retry-After")).retry_after;
            if (told && *told > kLongestRetryAfter) co_return answer;
            CO_TRY(const bool again, co_await pause(context, told ? *told : backoff.next(clock_)));
            if (again) continue;
        }
        co_return answer;
    }
}

Task<http::Response> ApiServer::send_ok(Context context, Call call) {
    const bool repeatable = call.repeatable;
    CO_TRY(auto response, co_await send(context, std::move(call)));
    if (response.status < 400) co_return std::move(response);
    if (response.stream) {
        auto body = co_await collect(std::move(response.stream));
        if (body.has_value()) response.body = std::move(*body);
    }
    auto error = error_of(response.status, response.body, response.headers.get("Retry-After"));
    if (!repeatable && may_have_been_done(error, response.status)) error.kind = ErrorKind::unknown_outcome;
    co_return error;
}

Task<JsonObject> ApiServer::json(Context context, Call call) {
    CO_TRY(const auto response, co_await send_ok(context, std::move(call)));
    auto parsed = base::parse_json(response.body, 128);
    if (!parsed.has_value() || !parsed->is_object()) {
        co_return base::Error(ErrorKind::unavailable, "InvalidAnswer",
                              "the Kubernetes API server's answer is not a JSON object");
    }
    co_return std::move(parsed->get_object());
}

}  // namespace instantstart::kube::impl
