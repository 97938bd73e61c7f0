#include "killable_transport.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace instantstart::sim {

namespace {

bool reads(std::string_view operation) {
    static constexpr std::array<std::string_view, 7> kVerbs = {"Describe", "Get",      "List",  "Head",
                                                               "Search",   "Simulate", "Filter"};
    return std::any_of(kVerbs.begin(), kVerbs.end(),
                       [&](std::string_view verb) { return operation.starts_with(verb); });
}

base::Error refused() {
    return {base::ErrorKind::unavailable, "connection_refused", "connection refused"};
}

base::Error broken() {
    return {base::ErrorKind::unknown_outcome, "connection_reset", "the connection broke"};
}

}  // namespace

bool is_mutating(const http::Request& request) {
    if (request.method == "GET" || request.method == "HEAD") return false;
    const std::string target = request.headers.get("X-Amz-Target");
    if (!target.empty()) return !reads(std::string_view(target).substr(target.find('.') + 1));
    const auto action = request.body.find("Action=");
    if (action != std::string::npos &&
        request.headers.get("Content-Type").find("form") != std::string::npos) {
        return !reads(std::string_view(request.body).substr(action + 7));
    }
    return request.target.find("dryRun=All") == std::string::npos;
}

void KillableTransport::die() {
    dead_ = true;
}

http::Task<http::Response> KillableTransport::send(http::Context context, http::Request request,
                                                   http::SendOptions options) {
    if (dead_) CO_CHECK_OK(co_await never_.wait());
    if (!is_mutating(request)) {
        auto answer = co_await inner_->send(std::move(context), std::move(request), std::move(options));
        if (dead_) CO_CHECK_OK(co_await never_.wait());
        if (chances_.lose_read > 0 && clock_.random_between(0, 1) < chances_.lose_read) co_return broken();
        co_return answer;
    }
    const CallFate fate = fate_ ? fate_() : CallFate::deliver;
    if (fate == CallFate::die_before) {
        dead_ = true;
        on_death_();
        CO_CHECK_OK(co_await never_.wait());
    }
    const double chance = clock_.random_between(0, 1);
    if (chance < chances_.refuse) co_return refused();
    if (chance < chances_.refuse + chances_.lose_request) co_return broken();
    auto answer = co_await inner_->send(std::move(context), std::move(request), std::move(options));
    if (fate == CallFate::die_after) {
        dead_ = true;
        on_death_();
    }
    if (dead_) CO_CHECK_OK(co_await never_.wait());
    if (chance < chances_.refuse + chances_.lose_request + chances_.lose_answer) co_return broken();
    co_return answer;
}

}  // namespace instantstart::sim
