// ApiClient: what call, watch, mcp and doctor use to speak to a running server.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/json.h"
#include "http/transport.h"
#include "rt/clock.h"
#include "server/options.h"

namespace instantstart::server {

class ApiClient {
public:
    ApiClient(http::Transport& transport, rt::Clock& clock, std::string url, std::string token)
        : clock(clock), transport_(transport), url_(std::move(url)), token_(std::move(token)) {}

    struct Reply {
        Reply() = default;
        int status = 0;
        base::JsonObject body;  // {} where it is no JSON object
    };
    // One request of the REST face; HTTP statuses are no errors.
    rt::Task<Reply> send(std::string method, std::string path, base::JsonObject body,
                         std::string idempotency_key);
    rt::Task<http::Response> raw(http::Request request, bool stream);

    rt::Clock& clock;

private:
    http::Transport& transport_;
    std::string url_, token_;
};

// Runs a command's coroutine on a loop of its own; an error is printed and gives 1.
int with_client(const Flags& flags, const std::function<rt::Task<int>(ApiClient&)>& command);

// A problem document as lines for a person, on standard error.
void print_problem(const base::JsonObject& problem);

}  // namespace instantstart::server
