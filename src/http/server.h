// Server: HTTP/1.1 with keep-alive, TLS, chunked answers and WebSocket, over a plain handler.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http/message.h"
#include "rt/clock.h"

namespace instantstart::http {

// Answers one request. Never throws. The request is owned by the handler.
using Handler = std::function<boost::asio::awaitable<Response>(Context, Request)>;

struct ServerOptions {
    ServerOptions() = default;
    std::string address = "127.0.0.1";  // IPv4 or IPv6 literal
    std::uint16_t port = 0;             // 0 picks a free one
    std::string cert_pem, key_pem;      // both set: TLS
    std::size_t max_body = 1U << 20U;   // bytes; more is answered 413 by `on_refused`
    std::size_t max_header = 64U << 10U;
    std::size_t max_connections = 4096;
    base::Duration idle_timeout = std::chrono::seconds(75);
    base::Duration request_timeout = std::chrono::seconds(30);  // to receive headers and body
    // Makes the answer where the server itself refuses (400, 408, 413, 431); the default is plain text.
    std::function<Response(int status, std::string detail)> on_refused;
    bool continue_100 = true;  // answer Expect: 100-continue
};

class Server {
public:
    virtual ~Server() = default;
    // Binds and accepts; the port in use.
    virtual base::Result<std::uint16_t> start() = 0;
    // Stops accepting, lets running requests end within `grace`, then closes everything.
    virtual boost::asio::awaitable<void> stop(base::Duration grace) = 0;
};

std::unique_ptr<Server> make_server(boost::asio::any_io_executor executor, rt::Clock& clock,
                                    ServerOptions options, Handler handler);

}  // namespace instantstart::http
