#include "server/api_client.h"

#include <boost/asio/io_context.hpp>
#include <iostream>

#include "rt/task_group.h"
#include "server/data_folder.h"
#include "server/render.h"
#include "server/surroundings.h"

namespace instantstart::server {

namespace {

constexpr auto kTimeout = std::chrono::seconds(90);
constexpr const char* kDefaultUrl = "http://127.0.0.1:3099";

rt::Task<void> run_command(std::function<rt::Task<int>(ApiClient&)> command, ApiClient& client, int& code) {
    auto ended = co_await command(client);
    if (!ended) {
        std::cerr << "instantstart: " << ended.error().message << "\n";
        if (!ended.error().hint.empty()) std::cerr << ended.error().hint << "\n";
        code = 1;
        co_return base::ok();
    }
    code = *ended;
    co_return base::ok();
}

}  // namespace

rt::Task<http::Response> ApiClient::raw(http::Request request, bool stream) {
    CO_TRY(const http::Url url, http::parse_url(url_));
    request.scheme = url.scheme;
    request.host = url.host;
    request.port = url.port;
    if (!token_.empty()) request.headers.set("Authorization", "Bearer " + token_);
    http::SendOptions options;
    options.timeout = kTimeout;
    options.stream = stream;
    auto answered = co_await transport_.send(rt::Context(), std::move(request), std::move(options));
    if (!answered) {
        co_return answered.error()
            .wrapped("Reaching " + url_)
            .with_hint("Is the server running there? Name another with --url.");
    }
    co_return std::move(answered).value();
}

rt::Task<ApiClient::Reply> ApiClient::send(std::string method, std::string path, base::JsonObject body,
                                           std::string idempotency_key) {
    http::Request request;
    request.method = std::move(method);
    request.target = "/api/v1" + path;
    request.headers.set("Accept", "application/json");
    request.headers.set("X-InstantStart-Face", "cli");
    if (!idempotency_key.empty()) request.headers.set("Idempotency-Key", idempotency_key);
    if (request.method != "GET") {
        request.headers.set("Content-Type", "application/json");
        request.body = base::to_text(body);
    }
    auto answered = co_await raw(std::move(request), false);
    CO_TRY(http::Response response, std::move(answered));
    Reply reply;
    reply.status = response.status;
    auto parsed = base::parse_json(response.body, 64);
    if (parsed && parsed->is_object()) reply.body = std::move(parsed->get_object());
    co_return reply;
}

int with_client(const Flags& flags, const std::function<rt::Task<int>(ApiClient&)>& command) {
    base::configure_log(base::LogLevel::warn, base::LogFormat::text);
    auto token = find_token(flags.data_dir, false);
    boost::asio::io_context io(1);
    const auto clock = rt::make_system_clock(io.get_executor());
    const auto transport = http::make_socket_transport(io.get_executor(), *clock, transport_settings());
    ApiClient client(*transport, *clock, flags.url.empty() ? kDefaultUrl : flags.url, token.value_or(""));
    int code = 1;
    rt::TaskGroup group(io.get_executor(), "command");
    group.spawn("command", run_command(command, client, code));
    while (group.size() > 0) io.run_one();
    return code;
}

void print_problem(const base::JsonObject& problem) {
    const auto text = [](const base::JsonValue& value, const char* path, const char* fallback) {
        return plain_line(base::get_string(value, path, fallback));
    };
    const base::JsonValue whole(problem);
    // A 5xx is a fault on the way, not a verdict about the request.
    constexpr int kFault = 500;
    const bool failed = base::get_int(whole, "status") >= kFault;
    std::cerr << (failed ? "Failed (" : "Refused (") << text(whole, "code", "unknown")
              << "): " << text(whole, "detail", "no reason given") << "\n";
    for (const auto& entry : base::get_array(problem, "errors")) {
        std::cerr << "  " << text(entry, "pointer", "") << " " << text(entry, "message", "");
        const std::string near = text(entry, "did_you_mean", "");
        if (!near.empty()) std::cerr << " (did you mean " << near << "?)";
        const base::JsonArray& allowed = base::get_array(entry, "allowed");
        if (near.empty() && !allowed.empty())
            std::cerr << " (one of " << plain_line(base::to_text(base::JsonValue(allowed))) << ")";
        std::cerr << "\n";
    }
    for (const auto& lost : base::get_array(problem, "would_remove")) {
        if (lost.is_string()) std::cerr << "  would be lost: " << plain_line(lost.get_string()) << "\n";
    }
    const std::string hint = text(whole, "hint", "");
    if (!hint.empty()) std::cerr << hint << "\n";
}

}  // namespace instantstart::server
