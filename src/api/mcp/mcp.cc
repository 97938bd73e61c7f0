#include "api/mcp/mcp.h"

#include "api/mcp/toolset.h"
#include "api/problem.h"

namespace instantstart::api::mcp {

namespace {

constexpr int kNotFound = 404;
constexpr int kAccepted = 202;
constexpr std::int64_t kListLife = 3600000;  // milliseconds

http::Response message_response(const JsonObject& message, int status = 200) {
    return json_response(status, message);
}

bool is_gone_in_modern(const std::string& method) {
    return method == "initialize" || method == "ping" || method == "logging/setLevel" ||
           method == "resources/subscribe" || method == "resources/unsubscribe";
}

JsonObject capabilities() {
    JsonObject made;
    made["tools"] = JsonObject();
    made["resources"] = JsonObject();
    made["prompts"] = JsonObject();
    return made;
}

JsonObject empty_list(const char* name) {
    JsonObject made;
    made[name] = JsonArray();
    return made;
}

}  // namespace

http::Response Mcp::reply(const Turn& turn, JsonObject result) const {
    if (turn.message.modern) complete_result(result, version_);
    return message_response(result_message(turn.message.id, std::move(result)));
}

// Lists and the like may be kept by the client; where the caller's role decides what is in them, by that
// client only.
http::Response Mcp::cached(const Turn& turn, JsonObject result, bool is_public) const {
    if (turn.message.modern) {
        result["ttlMs"] = kListLife;
        result["cacheScope"] = is_public ? "public" : "private";
    }
    return reply(turn, std::move(result));
}

http::Response Mcp::initialize(const Turn& turn) const {
    const std::string asked = base::get_string(turn.message.params, "protocolVersion");
    JsonObject info;
    info["name"] = "instantstart";
    info["title"] = "InstantStart";
    info["version"] = version_;
    JsonObject offered = capabilities();
    offered["logging"] = JsonObject();
    JsonObject result;
    result["protocolVersion"] = asked == kOlderLegacy ? kOlderLegacy : kNewestLegacy;
    result["capabilities"] = std::move(offered);
    result["serverInfo"] = std::move(info);
    result["instructions"] = instructions();
    return reply(turn, std::move(result));
}

http::Response Mcp::discover(const Turn& turn) const {
    JsonObject result;
    result["supportedVersions"] = JsonArray{kModern};
    result["capabilities"] = capabilities();
    result["instructions"] = instructions();
    return cached(turn, std::move(result), true);
}

http::Response Mcp::list_tools(const Turn& turn) {
    if (turn.message.params.contains("cursor")) {  // one page holds all, so no cursor was ever given out
        return message_response(error_message(turn.message.id, kInvalidParams, "Unknown cursor"));
    }
    const std::string key = turn.toolset + "/" + role_name(turn.caller.role);
    auto found = lists_.find(key);
    if (found == lists_.end()) {
        JsonArray tools = mcp::list_tools(executor_.catalogue(), turn.toolset, turn.caller.role);
        found = lists_.emplace(key, base::to_text(JsonValue(std::move(tools)))).first;
    }
    auto tools = base::parse_json(found->second);
    JsonObject result;
    result["tools"] = std::move(tools).value();
    return cached(turn, std::move(result), false);
}

// The lists never change while the server runs, so a subscription only stays open.
http::Response Mcp::listen(const Turn& turn) const {
    JsonObject params;
    JsonObject meta;
    meta["io.modelcontextprotocol/subscriptionId"] = turn.message.id;
    params["_meta"] = std::move(meta);
    params["notifications"] = JsonObject();
    JsonObject acknowledged;
    acknowledged["jsonrpc"] = "2.0";
    acknowledged["method"] = "notifications/subscriptions/acknowledged";
    acknowledged["params"] = std::move(params);
    struct Open {
        static rt::Task<std::optional<std::string>> next(rt::Clock& clock,
                                                         std::shared_ptr<std::string> first) {
            if (!first->empty()) co_return std::optional<std::string>(std::exchange(*first, ""));
            constexpr auto kQuiet = std::chrono::seconds(15);
            auto waited = co_await clock.sleep(kQuiet);
            CO_CHECK_OK(std::move(waited));
            co_return std::optional<std::string>(": open\n\n");
        }
    };
    auto first = std::make_shared<std::string>(sse(acknowledged));
    rt::Clock& clock = clock_;
    http::Response response(200, "text/event-stream", "");
    response.headers.set("Cache-Control", "no-store");
    response.headers.set("X-Accel-Buffering", "no");
    response.stream = http::make_stream([&clock, first]() { return Open::next(clock, first); });
    return response;
}

boost::asio::awaitable<http::Response> Mcp::answer(rt::Context context, Turn turn) {
    const Message& message = turn.message;
    const std::string& method = message.method;
    if (message.modern && is_gone_in_modern(method)) {
        co_return message_response(error_message(message.id, kUnknownMethod, "Not a method of this revision"),
                                   kNotFound);
    }
    if (method == "initialize") co_return initialize(turn);
    if (method == "ping" || method == "logging/setLevel") co_return reply(turn, {});
    if (method == "server/discover") co_return discover(turn);
    if (method == "tools/list") co_return list_tools(turn);
    if (method == "tools/call") co_return co_await call_tool(std::move(context), std::move(turn));
    if (method == "resources/list") co_return cached(turn, empty_list("resources"), true);
    if (method == "resources/templates/list") co_return cached(turn, empty_list("resourceTemplates"), true);
    if (method == "prompts/list") co_return cached(turn, empty_list("prompts"), true);
    if (method == "resources/read") {
        JsonObject data;
        data["uri"] = base::get_string(message.params, "uri");
        co_return message_response(
            error_message(message.id, kInvalidParams, "Resource not found", JsonValue(std::move(data))));
    }
    if (method == "prompts/get")
        co_return message_response(error_message(message.id, kInvalidParams, "Unknown prompt"));
    if (method == "subscriptions/listen" && message.modern) co_return listen(turn);
    co_return message_response(error_message(message.id, kUnknownMethod, "Unknown method"),
                               message.modern ? kNotFound : 200);
}

boost::asio::awaitable<http::Response> Mcp::handle(rt::Context context, http::Request request,
                                                   std::string toolset, Auth::Asked asked) {
    if (request.method != "POST") {
        http::Response response =
            problem_response(base::Error(base::ErrorKind::invalid, "method_not_allowed",
                                         "MCP takes POST only; there is no standalone stream"));
        response.headers.set("Allow", "POST");
        co_return response;
    }
    if (!is_toolset(toolset)) {
        co_return problem_response(
            base::not_found_error("The toolset " + toolset)
                .with_hint("Toolsets: default, all, readonly, cluster, training, inference, ops."));
    }
    Read read = read_message(request);
    if (read.refusal) co_return refuse(*read.refusal);
    if (!read.message.is_request) {
        http::Response response(kAccepted);
        co_return response;
    }
    Turn turn;
    turn.message = std::move(read.message);
    turn.toolset = std::move(toolset);
    turn.caller = std::move(asked.caller);
    turn.caller.face = "mcp";
    turn.accepts_stream = request.headers.get("Accept").find("text/event-stream") != std::string::npos;
    co_return co_await answer(std::move(context), std::move(turn));
}

}  // namespace instantstart::api::mcp
