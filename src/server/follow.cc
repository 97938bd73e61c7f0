#include "server/follow.h"

#include <unistd.h>

#include <cmath>
#include <iostream>
#include <map>

#include "app/projection.h"
#include "server/render.h"

namespace instantstart::server {

namespace {

using base::JsonObject;

constexpr int kBarWidth = 28;

double number_at(const JsonObject& object, const char* name, double fallback) {
    const base::JsonValue* found = object.if_contains(name);
    return found != nullptr && found->is_number() ? found->to_number<double>() : fallback;
}

std::string bar_line(const JsonObject& operation) {
    const double progress = number_at(operation, "progress", 0);
    const int filled = static_cast<int>(std::lround(progress * kBarWidth));
    std::string line = "[";
    for (int i = 0; i < kBarWidth; ++i) line += i < filled ? '#' : '.';
    constexpr double kPercent = 100;
    line += "] " + std::to_string(std::lround(progress * kPercent)) + "% " +
            base::get_string(operation, "state") + " " + base::get_string(operation, "phase");
    const double eta = number_at(operation, "eta_seconds", -1);
    if (eta >= 0) line += ", about " + std::to_string(std::lround(eta)) + " s left";
    return line;
}

// Prints each change of a step's state once.
void print_steps(const JsonObject& operation, std::map<std::string, std::string>& seen, bool terminal) {
    for (const auto& step : base::get_array(operation, "steps")) {
        const std::string id = base::get_string(step, "id");
        const std::string state = base::get_string(step, "state");
        if (seen[id] == state || state == "pending") continue;
        seen[id] = state;
        if (terminal) std::cerr << "\r\033[K";
        std::cerr << "  " << state << std::string(state.size() < 10 ? 10 - state.size() : 1, ' ')
                  << plain_line(base::get_string(step, "title")) << "\n";
    }
}

}  // namespace

rt::Task<JsonObject> follow_operation(ApiClient& client, std::string operation_id) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    std::map<std::string, std::string> seen;
    while (true) {
        auto asked = co_await client.send("GET", "/operations/" + operation_id, {}, "");
        CO_TRY(ApiClient::Reply reply, std::move(asked));
        if (reply.status != 200) {
            print_problem(reply.body);
            co_return base::Error(base::ErrorKind::unavailable, "not_followed",
                                  "The operation cannot be followed");
        }
        const JsonObject operation = base::get_object(reply.body, "operation");
        print_steps(operation, seen, terminal);
        if (app::is_terminal(operation)) {
            if (terminal) std::cerr << "\r\033[K";
            co_return operation;
        }
        if (terminal) std::cerr << "\r\033[K" << bar_line(operation) << std::flush;
        constexpr auto kLook = std::chrono::milliseconds(500);
        auto slept = co_await client.clock.sleep(kLook);
        CO_CHECK_OK(std::move(slept));
    }
}

int report_end(const JsonObject& operation) {
    const std::string state = base::get_string(operation, "state");
    std::cerr << base::get_string(operation, "name") << " on " << base::get_string(operation, "resource")
              << ": " << state;
    if (base::get_bool(operation, "no_change")) std::cerr << " (nothing to do)";
    std::cerr << "\n";
    if (state == "succeeded") return 0;
    const std::string why =
        base::get_string(operation, "error.detail", base::get_string(operation, "error.message"));
    if (!why.empty()) std::cerr << plain_line(why) << "\n";
    const std::string hint = base::get_string(operation, "error.hint");
    if (!hint.empty()) std::cerr << plain_line(hint) << "\n";
    std::cerr << "To go on: instantstart call operation.retry --operation-id "
              << base::get_string(operation, "id") << " --wait\n";
    return 1;
}

}  // namespace instantstart::server
