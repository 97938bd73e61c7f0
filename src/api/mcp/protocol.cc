#include "api/mcp/protocol.h"

#include <algorithm>

#include "base/text.h"

namespace instantstart::api::mcp {

namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";

// Header values may be given as =?base64?…?= where they are no plain ASCII.
std::string decoded(const std::string& header) {
    std::string value(base::trim(header));
    constexpr std::string_view kStart = "=?base64?";
    constexpr std::string_view kEnd = "?=";
    std::string text;
    if (value.starts_with(kStart) && value.ends_with(kEnd) && value.size() > kStart.size() + kEnd.size() &&
        base::base64_decode(
            std::string_view(value).substr(kStart.size(), value.size() - kStart.size() - kEnd.size()),
            text)) {
        return text;
    }
    return value;
}

// What Mcp-Name must repeat, "" where the method has no such value.
std::string name_in(const Message& message) {
    if (message.method == "tools/call" || message.method == "prompts/get")
        return base::get_string(message.params, "name");
    if (message.method == "resources/read") return base::get_string(message.params, "uri");
    return "";
}

std::optional<Refusal> check_modern(const http::Request& request, const Message& message) {
    const JsonObject meta = message.meta();
    const JsonValue* version = meta.if_contains(kVersionKey);
    const JsonValue* capabilities = meta.if_contains(kCapabilitiesKey);
    const std::string header = std::string(base::trim(request.headers.get(kVersionHeader)));
    constexpr int kBad = 400;
    if (version == nullptr || !version->is_string() || capabilities == nullptr ||
        !capabilities->is_object()) {
        return Refusal(kBad, kInvalidParams,
                       std::string("params._meta must carry ") + kVersionKey + " and " + kCapabilitiesKey);
    }
    const std::string asked(version->get_string());
    if (asked != kModern) {
        Refusal refusal(kBad, kUnsupportedVersion, "Unsupported protocol version");
        JsonObject data;
        data["supported"] = JsonArray{kModern};
        data["requested"] = asked;
        refusal.data = std::move(data);
        return refusal;
    }
    if (header != asked)
        return Refusal(kBad, kHeaderMismatch,
                       "MCP-Protocol-Version must equal the request's protocol version");
    if (decoded(request.headers.get("Mcp-Method")) != message.method) {
        return Refusal(kBad, kHeaderMismatch, "Mcp-Method must equal the request's method");
    }
    const std::string name = name_in(message);
    if (!name.empty() && decoded(request.headers.get("Mcp-Name")) != name) {
        return Refusal(kBad, kHeaderMismatch, "Mcp-Name must equal the name or uri in the request");
    }
    return std::nullopt;
}

std::optional<Refusal> check_legacy(const http::Request& request) {
    const std::string header(base::trim(request.headers.get(kVersionHeader)));
    const bool known =
        header.empty() || header == kNewestLegacy || header == kOlderLegacy || header == "2025-03-26";
    constexpr int kBad = 400;
    if (!known) return Refusal(kBad, kInvalidRequest, "Unsupported MCP-Protocol-Version");
    return std::nullopt;
}

bool is_modern(const http::Request& request, const Message& message) {
    if (message.method == "initialize" && !message.meta().contains(kVersionKey)) return false;
    const bool by_header = base::trim(request.headers.get(kVersionHeader)) == kModern;
    return message.meta().contains(kVersionKey) || by_header || message.method == "server/discover";
}

}  // namespace

JsonObject Message::meta() const {
    return base::get_object(params, "_meta");
}

Read read_message(const http::Request& request) {
    Read read;
    constexpr int kBad = 400;
    auto parsed = base::parse_json(request.body);
    if (!parsed) {
        read.refusal = Refusal(kBad, kParseError, "The body is not JSON: " + parsed.error().message);
        return read;
    }
    if (!parsed->is_object() || base::get_string(*parsed, "jsonrpc") != "2.0") {
        read.refusal = Refusal(kBad, kInvalidRequest,
                               parsed->is_array() ? "Batches are not taken" : "Not a JSON-RPC 2.0 message");
        return read;
    }
    const JsonObject& object = parsed->get_object();
    Message& message = read.message;
    const JsonValue* id = object.if_contains("id");
    const bool has_id = id != nullptr && (id->is_string() || id->is_int64() || id->is_uint64());
    message.method = base::get_string(object, "method");
    if (has_id) message.id = *id;
    message.is_request = has_id && !message.method.empty();
    const JsonValue* params = object.if_contains("params");
    const bool params_fit = params == nullptr || params->is_object();
    if (params != nullptr && params->is_object()) message.params = params->get_object();
    if (id != nullptr && !has_id) {
        read.refusal = Refusal(kBad, kInvalidRequest, "The id must be a string or a whole number");
    } else if (!params_fit) {
        read.refusal = Refusal(kBad, kInvalidParams, "params must be an object");
    } else if (message.is_request) {
        message.modern = is_modern(request, message);
        read.refusal = message.modern ? check_modern(request, message) : check_legacy(request);
    } else {
        const bool answer = message.method.empty() && (object.contains("result") || object.contains("error"));
        if (message.method.empty() && !answer)
            read.refusal = Refusal(kBad, kInvalidRequest, "Neither a request nor a notification");
    }
    if (read.refusal) read.refusal->id = message.id;
    return read;
}

JsonObject result_message(const JsonValue& id, JsonObject result) {
    JsonObject made;
    made["jsonrpc"] = "2.0";
    made["id"] = id;
    made["result"] = std::move(result);
    return made;
}

JsonObject error_message(const JsonValue& id, int code, const std::string& message, const JsonValue& data) {
    JsonObject error;
    error["code"] = code;
    error["message"] = message;
    if (!data.is_null()) error["data"] = data;
    JsonObject made;
    made["jsonrpc"] = "2.0";
    made["id"] = id;
    made["error"] = std::move(error);
    return made;
}

http::Response refuse(const Refusal& refusal) {
    http::Response response(
        refusal.http_status, "application/json",
        base::to_text(error_message(refusal.id, refusal.code, refusal.message, refusal.data)));
    response.headers.set("Cache-Control", "no-store");
    return response;
}

std::string sse(const JsonObject& message) {
    return "event: message\ndata: " + base::to_text(message) + "\n\n";
}

}  // namespace instantstart::api::mcp
