// tools/call: a tool's arguments to an invocation, its outcome to a result; and the wait for an operation as
// an event stream.
#include <algorithm>
#include <cmath>

#include "api/mcp/mcp.h"
#include "api/problem.h"
#include "app/projection.h"

namespace instantstart::api::mcp {

namespace {

constexpr const char* kKeyInMeta = "instantstart/idempotency-key";

// A wait in slices, so that comments and progress can go out between them.
struct Wait {
    Wait() = default;
    app::Executor* executor = nullptr;
    rt::Context context;
    app::Invocation invocation;
    JsonValue id, progress_token;
    std::string version;
    bool modern = false;
    bool begun = false, ended = false;
    std::int64_t left = 0;  // seconds
    double last_progress = -1;
};

std::string ending(Wait& wait, JsonObject result) {
    wait.ended = true;
    if (wait.modern) complete_result(result, wait.version);
    return sse(result_message(wait.id, std::move(result)));
}

// A progress notification where it has grown, else a comment that keeps the connection open.
std::string sign_of_life(Wait& wait, const JsonObject& body) {
    const JsonValue* found = base::find_path(body, "operation.progress");
    const double progress = found != nullptr && found->is_number() ? found->to_number<double>() : 0;
    if (wait.progress_token.is_null() || progress <= wait.last_progress) return ": waiting\n\n";
    wait.last_progress = progress;
    JsonObject params;
    params["progressToken"] = wait.progress_token;
    params["progress"] = progress;
    params["total"] = 1;
    const std::string phase = base::get_string(body, "operation.phase");
    if (!phase.empty()) params["message"] = phase;
    JsonObject notification;
    notification["jsonrpc"] = "2.0";
    notification["method"] = "notifications/progress";
    notification["params"] = std::move(params);
    return sse(notification);
}

rt::Task<std::optional<std::string>> next_piece(std::shared_ptr<Wait> wait) {
    if (wait->ended) co_return std::optional<std::string>();
    if (!wait->begun) {
        wait->begun = true;
        co_return std::optional<std::string>(": waiting\n\n");
    }
    const std::int64_t longest = wait->progress_token.is_null() ? 15 : 5;
    const std::int64_t slice = std::min(wait->left, longest);
    wait->left -= slice;
    app::Invocation invocation = wait->invocation;
    invocation.arguments["wait_seconds"] = slice;
    auto executed = co_await wait->executor->execute(wait->context, std::move(invocation));
    if (!executed) {
        if (executed.error().kind == base::ErrorKind::cancelled) co_return std::move(executed).error();
        co_return std::optional<std::string>(ending(*wait, tool_error(executed.error())));
    }
    const bool terminal = app::is_terminal(base::get_object(executed->body, "operation"));
    if (terminal || wait->left <= 0)
        co_return std::optional<std::string>(ending(*wait, tool_result(*executed)));
    co_return std::optional<std::string>(sign_of_life(*wait, executed->body));
}

}  // namespace

http::Response Mcp::wait_stream(rt::Context context, Turn turn, app::Invocation invocation) {
    auto wait = std::make_shared<Wait>();
    wait->executor = &executor_;
    wait->context = std::move(context);
    wait->left = base::get_int(invocation.arguments, "wait_seconds");
    wait->invocation = std::move(invocation);
    wait->id = turn.message.id;
    wait->version = version_;
    wait->modern = turn.message.modern;
    const JsonObject meta = turn.message.meta();
    if (const JsonValue* token = meta.if_contains("progressToken")) wait->progress_token = *token;
    http::Response response(200, "text/event-stream", "");
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("X-Accel-Buffering", "no");
    response.stream = http::make_stream([wait]() { return next_piece(wait); });
    return response;
}

boost::asio::awaitable<http::Response> Mcp::call_tool(rt::Context context, Turn turn) {
    const Message& message = turn.message;
    const std::string name = base::get_string(message.params, "name");
    const app::Operation* operation = executor_.catalogue().find_tool(name);
    if (operation == nullptr) {
        co_return json_response(200, error_message(message.id, kInvalidParams, "Unknown tool: " + name));
    }
    const JsonValue* arguments = message.params.if_contains("arguments");
    if (arguments != nullptr && !arguments->is_object() && !arguments->is_null()) {
        co_return json_response(200,
                                error_message(message.id, kInvalidParams, "arguments must be an object"));
    }
    app::Invocation invocation;
    invocation.operation = operation;
    if (arguments != nullptr && arguments->is_object()) invocation.arguments = arguments->get_object();
    invocation.caller = turn.caller;
    invocation.read_only = turn.toolset == "readonly";
    invocation.must_name_cluster = true;
    invocation.cluster_may_be_left_out = true;
    if (!invocation.arguments.contains("idempotency_key")) {
        const JsonObject meta = message.meta();
        const JsonValue* key = meta.if_contains(kKeyInMeta);
        if (key != nullptr && key->is_string()) invocation.idempotency_key = std::string(key->get_string());
    }
    const JsonValue* wait_seconds = invocation.arguments.if_contains("wait_seconds");
    const bool waits = operation->meta().id == "operation.get" && wait_seconds != nullptr &&
                       wait_seconds->is_int64() && wait_seconds->get_int64() > 0 &&
                       operation->normalize(invocation.arguments).has_value();
    if (waits && turn.accepts_stream)
        co_return wait_stream(std::move(context), std::move(turn), std::move(invocation));
    auto executed = co_await executor_.execute(std::move(context), std::move(invocation));
    co_return reply(turn, executed ? tool_result(*executed) : tool_error(executed.error()));
}

}  // namespace instantstart::api::mcp
