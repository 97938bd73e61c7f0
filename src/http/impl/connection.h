// Connection: one client's connection to a Server, from accept to close. Held by the coroutine that runs it.
//
// Two tasks: `fill` reads bytes into a bounded inbox and sees the peer go away, which cancels the other;
// `session` takes requests from the inbox and answers them. A WebSocket adds a third that pings.
#pragma once

#include <memory>
#include <string>

#include "http/impl/channel.h"
#include "http/impl/parsers.h"
#include "http/impl/stream.h"
#include "http/server.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::http::impl {

class Connection final : public Channel, public std::enable_shared_from_this<Connection> {
public:
    Connection(asio::any_io_executor executor, std::shared_ptr<Stream> stream, rt::Clock& clock,
               const ServerOptions& options, const Handler& handler, std::string peer);

    // The whole life of the connection.
    asio::awaitable<void> run();
    // Ends after the present answer; at once where there is none. A WebSocket is closed with code 1001.
    void drain();
    // Cancels the handler and ends.
    void abort();

    std::string& inbox() override { return inbox_; }
    void taken() override { room_.cancel(); }
    Task<void> more() override;
    Task<void> write(std::string data) override;
    bool is_open() const override { return !ended_ && !leaving_; }

private:
    enum class Wait : std::uint8_t { bytes, end, late, cancelled };

    Task<void> session();
    Task<void> fill();
    Task<void> ping();
    Task<void> say_goodbye();
    asio::awaitable<Wait> wait_for_bytes(base::Duration deadline);
    // True when the parser holds a complete request; false when the connection is to end.
    Task<bool> read_request(RequestParser& parser);
    // True when the connection can serve another request.
    Task<bool> answer(RequestParser& parser);
    asio::awaitable<Response> call_handler(Request request);
    Task<bool> write_response(Response response, bool head, bool http_1_0, bool keep);
    Task<void> write_body(std::string head, std::string body);
    Task<void> write_stream(std::unique_ptr<BodyStream> stream, bool chunked);
    Task<bool> serve_websocket(Response response, Headers request);
    Task<bool> refuse(int status, std::string detail);
    asio::awaitable<void> linger();

    asio::any_io_executor executor_;
    std::shared_ptr<Stream> stream_;
    rt::Clock& clock_;
    const ServerOptions& options_;
    const Handler& handler_;
    std::string peer_;
    std::string inbox_;
    std::size_t inbox_most_;
    asio::steady_timer arrived_, room_;
    rt::Event written_;
    base::Duration last_heard_{0};
    bool ended_ = false;      // the peer has closed
    bool discard_ = false;    // what comes is thrown away
    bool answering_ = false;  // a handler runs or its answer is written
    bool idle_ = true;        // between two requests
    bool websocket_ = false;  // a WebSocket's handler has the connection
    bool leaving_ = false;    // the WebSocket has been told goodbye
    bool draining_ = false;
    bool writing_ = false;
    rt::TaskGroup tasks_;
};

}  // namespace instantstart::http::impl
