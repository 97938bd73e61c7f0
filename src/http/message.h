// HTTP messages as plain values, and bodies that come in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rt/context.h"
#include "rt/task.h"

namespace instantstart::http {

using rt::Context;
using rt::Task;

// Header fields in order; names compare case-insensitively.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<std::pair<std::string, std::string>> fields) : fields_(fields) {}
    std::string get(std::string_view name) const;  // the first, "" where absent
    bool has(std::string_view name) const;
    std::vector<std::string> all(std::string_view name) const;
    void set(std::string_view name, std::string value);  // replaces all of that name
    void add(std::string name, std::string value);
    void remove(std::string_view name);
    const std::vector<std::pair<std::string, std::string>>& fields() const { return fields_; }

private:
    std::vector<std::pair<std::string, std::string>> fields_;
};

// A body that is pulled piece by piece. Destroying it closes the exchange.
class BodyStream {
public:
    virtual ~BodyStream() = default;
    // The next piece; nullopt at the end. An error means that the connection broke.
    virtual Task<std::optional<std::string>> read() = 0;
};

// A body stream made of a function, for servers.
std::unique_ptr<BodyStream> make_stream(std::function<Task<std::optional<std::string>>()> next);

struct Request {
    Request() = default;
    std::string method = "GET";
    std::string scheme = "http";  // client: http or https
    std::string host;             // client: where to connect, "127.0.0.1" or a name; without port
    std::uint16_t port = 0;       // client: 0 means the scheme's
    std::string target = "/";     // path and query exactly as on the wire (percent-encoded)
    Headers headers;              // client: Host is added where absent
    std::string body;
    std::string peer;  // server: the client's address

    std::string path() const;   // target without the query, not decoded
    std::string query() const;  // after '?', "" if none
    // The first value of a query parameter, percent- and plus-decoded; nullopt where absent.
    std::optional<std::string> parameter(std::string_view name) const;
    std::vector<std::pair<std::string, std::string>> parameters() const;
};

// One WebSocket connection, server side. Text messages only, but `binary` may be set for sending and is told
// on receipt.
class WebSocket {
public:
    virtual ~WebSocket() = default;
    struct Message {
        Message() = default;
        std::string data;
        bool binary = false;
    };
    virtual Task<Message> receive() = 0;  // Error{cancelled, code "closed"} when the peer closed
    virtual Task<void> send(Message message) = 0;
    virtual Task<void> close(std::uint16_t code, std::string reason) = 0;
};

struct Response {
    Response() = default;
    explicit Response(int status) : status(status) {}
    Response(int status, std::string content_type, std::string body);
    int status = 200;
    Headers headers;
    std::string body;                    // used where `stream` is empty
    std::unique_ptr<BodyStream> stream;  // chunked when set
    // Server: answer 101 and hand over the socket (for a valid upgrade request only; `websocket_protocol` is
    // the subprotocol to confirm, "" for none). The connection closes when the coroutine returns.
    std::function<boost::asio::awaitable<void>(std::unique_ptr<WebSocket>)> websocket;
    std::string websocket_protocol;
};

// scheme://host[:port]/target taken apart; an error for anything else.
struct Url {
    Url() = default;
    std::string scheme, host, target;
    std::uint16_t port = 0;
    std::string authority() const;  // host[:port], without the scheme's own port
};
base::Result<Url> parse_url(std::string_view text);

}  // namespace instantstart::http
