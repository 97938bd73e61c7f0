// mcp: a thin bridge from standard input and output (one JSON message a line) to /mcp of a running server.
#include <iostream>
#include <set>

#include "base/text.h"
#include "rt/blocking.h"
#include "rt/task_group.h"
#include "server/api_client.h"
#include "server/commands.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

constexpr std::size_t kMaxConcurrent = 64;
constexpr int kInternal = -32603;
constexpr int kParse = -32700;

void print_message(const std::string& line) {
    std::cout << line << std::endl;
}

void print_error(const JsonValue& id, int code, const std::string& message) {
    JsonObject error;
    error["code"] = code;
    error["message"] = message;
    JsonObject made;
    made["jsonrpc"] = "2.0";
    made["id"] = id;
    made["error"] = std::move(error);
    print_message(base::to_text(made));
}

// One bridge: what was agreed at initialize, and whose answers are no longer wanted.
class Bridge {
public:
    Bridge(ApiClient& client, std::string toolset, boost::asio::any_io_executor executor)
        : client_(client),
          path_(toolset.empty() ? "/mcp" : "/mcp/" + toolset),
          group_(std::move(executor), "mcp", kMaxConcurrent) {}

    rt::Task<int> run() {
        rt::BlockingPool pool(1);
        while (true) {
            auto read = co_await pool.run<std::optional<std::string>>(read_line);
            CO_TRY(std::optional<std::string> line, std::move(read));
            if (!line) break;
            if (base::trim(*line).empty()) continue;
            on_line(std::move(*line));
        }
        co_await group_.join();
        co_return 0;
    }

private:
    static base::Result<std::optional<std::string>> read_line() {
        std::string line;
        if (!std::getline(std::cin, line)) return std::optional<std::string>();
        return std::optional<std::string>(std::move(line));
    }

    void on_line(std::string line) {
        auto parsed = base::parse_json(line);
        if (!parsed || !parsed->is_object()) {
            print_error(nullptr, kParse, "Not a JSON message");
            return;
        }
        const JsonObject& message = parsed->get_object();
        if (base::get_string(message, "method") == "notifications/cancelled") {
            if (const JsonValue* id = base::find_path(message, "params.requestId"))
                cancelled_.insert(base::to_text(*id));
        }
        const JsonValue* id = message.if_contains("id");
        const JsonValue wanted = id == nullptr ? JsonValue() : *id;
        if (!group_.spawn("message", exchange(message, std::move(line)))) {
            print_error(wanted, kInternal, "Too many requests at once");
        }
    }

    http::Request request_of(const JsonObject& message, std::string line) const {
        http::Request request;
        request.method = "POST";
        request.target = path_;
        request.headers.set("Content-Type", "application/json");
        request.headers.set("Accept", "application/json, text/event-stream");
        constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
        const JsonObject& meta = base::get_object(message, "params._meta");
        const JsonValue* version = meta.if_contains(kVersionKey);
        if (version != nullptr && version->is_string()) {
            request.headers.set("MCP-Protocol-Version", std::string(version->get_string()));
            request.headers.set("Mcp-Method", base::get_string(message, "method"));
            const std::string name =
                base::get_string(message, "params.name", base::get_string(message, "params.uri"));
            if (!name.empty()) request.headers.set("Mcp-Name", name);
        } else if (!agreed_.empty()) {
            request.headers.set("MCP-Protocol-Version", agreed_);
        }
        request.body = std::move(line);
        return request;
    }

    rt::Task<void> exchange(JsonObject message, std::string line) {
        const JsonValue* found = message.if_contains("id");
        const JsonValue id = found == nullptr ? JsonValue() : *found;
        http::Request request = request_of(message, std::move(line));
        auto answered = co_await client_.raw(std::move(request), true);
        if (!answered) {
            if (!id.is_null())
                print_error(id, kInternal, answered.error().message + ". " + answered.error().hint);
            co_return base::ok();
        }
        const bool events = answered->headers.get("Content-Type").starts_with("text/event-stream");
        std::string pending = std::move(answered->body);
        while (answered->stream) {
            auto piece = co_await answered->stream->read();
            if (!piece) {
                if (!id.is_null())
                    print_error(id, kInternal, "The answer broke off: " + piece.error().message);
                co_return base::ok();
            }
            if (!piece.value()) break;
            pending += *piece.value();
            if (events) pending = emit_events(std::move(pending));
        }
        if (events)
            static_cast<void>(emit_events(pending + "\n\n"));
        else
            emit_body(id, answered->status, pending);
        co_return base::ok();
    }

    // Prints the complete events of `text`; what is left.
    std::string emit_events(std::string text) {
        std::size_t end = 0;
        while ((end = text.find("\n\n")) != std::string::npos) {
            std::string data;
            for (const auto& line : base::split(text.substr(0, end), '\n')) {
                if (line.starts_with("data:")) data += base::trim(std::string_view(line).substr(5));
            }
            if (!data.empty()) emit(data);
            text.erase(0, end + 2);
        }
        return text;
    }

    void emit_body(const JsonValue& id, int status, const std::string& text) {
        auto parsed = base::parse_json(text, 64);
        const bool is_message = parsed && parsed->is_object() && parsed->get_object().contains("jsonrpc");
        if (is_message) {
            emit(text);
        } else if (!id.is_null()) {
            const std::string why =
                parsed ? base::get_string(*parsed, "detail") + " " + base::get_string(*parsed, "hint") : text;
            print_error(id, kInternal, "The server answered " + std::to_string(status) + ": " + why);
        }
    }

    void emit(const std::string& text) {
        auto parsed = base::parse_json(text, 64);
        if (!parsed || !parsed->is_object()) return;
        const JsonValue* id = parsed->get_object().if_contains("id");
        if (id != nullptr && cancelled_.contains(base::to_text(*id))) return;
        const std::string version = base::get_string(*parsed, "result.protocolVersion");
        if (!version.empty()) agreed_ = version;
        print_message(base::to_text(*parsed));
    }

    ApiClient& client_;
    std::string path_;
    std::string agreed_;
    std::set<std::string> cancelled_;
    rt::TaskGroup group_;
};

rt::Task<int> run_bridge(ApiClient& client, std::string toolset) {
    const auto executor = co_await boost::asio::this_coro::executor;
    Bridge bridge(client, std::move(toolset), executor);
    co_return co_await bridge.run();
}

}  // namespace

int run_mcp(const Flags& flags) {
    std::ios::sync_with_stdio(false);
    return with_client(flags, [&flags](ApiClient& client) { return run_bridge(client, flags.toolset); });
}

}  // namespace instantstart::server
