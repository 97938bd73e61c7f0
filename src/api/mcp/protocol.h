// The envelope of MCP: JSON-RPC over HTTP, in two eras told apart by the request itself.
//
// Modern (2026-07-28): every request carries its protocol version in params._meta and in headers that must
// agree; nothing is remembered between requests. Legacy (2025-11-25, 2025-06-18): initialize first, served
// here without sessions as well.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "http/message.h"

namespace instantstart::api::mcp {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

inline constexpr const char* kModern = "2026-07-28";
inline constexpr const char* kNewestLegacy = "2025-11-25";
inline constexpr const char* kOlderLegacy = "2025-06-18";

// JSON-RPC error codes.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kUnknownMethod = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternal = -32603;
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kUnsupportedVersion = -32022;

struct Message {
    Message() = default;
    JsonValue id;  // null for a notification or response
    std::string method;
    JsonObject params;
    bool is_request = false;  // has an id and a method
    bool modern = false;
    JsonObject meta() const;  // params._meta
};

// A refusal at this level, already with its HTTP status.
struct Refusal {
    Refusal() = default;
    Refusal(int http_status, int code, std::string message)
        : http_status(http_status), code(code), message(std::move(message)) {}
    int http_status = 400;
    int code = kInvalidRequest;
    std::string message;
    JsonValue data;
    JsonValue id;
};

struct Read {
    Read() = default;
    Message message;
    std::optional<Refusal> refusal;
};
// Reads the body, decides the era and checks the headers that belong to it.
Read read_message(const http::Request& request);

http::Response refuse(const Refusal& refusal);
JsonObject result_message(const JsonValue& id, JsonObject result);
JsonObject error_message(const JsonValue& id, int code, const std::string& message,
                         const JsonValue& data = nullptr);
// One event of an event stream.
std::string sse(const JsonObject& message);

}  // namespace instantstart::api::mcp
