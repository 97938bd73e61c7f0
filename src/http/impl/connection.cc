#include "http/impl/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "http/impl/wire.h"

namespace instantstart::http::impl {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kReadSize = 16384;
constexpr std::size_t kWriteSlice = 256U << 10U;
constexpr auto kWriteTimeout = 30s;  // for one slice: a client that takes nothing for so long is gone
constexpr auto kLinger = 2s;
constexpr auto kPingEvery = 20s;
constexpr auto kPongWithin = 60s;

}  // namespace

Connection::Connection(asio::any_io_executor executor, std::shared_ptr<Stream> stream, rt::Clock& clock,
                       const ServerOptions& options, const Handler& handler, std::string peer)
    : executor_(std::move(executor)),
      stream_(std::move(stream)),
      clock_(clock),
      options_(options),
      handler_(handler),
      peer_(std::move(peer)),
      inbox_most_(options.max_header + kReadSize),
      arrived_(executor_, asio::steady_timer::time_point::max()),
      room_(executor_, asio::steady_timer::time_point::max()),
      written_(executor_),
      tasks_(executor_, "http connection") {}

asio::awaitable<void> Connection::run() {
    const auto self = shared_from_this();
    tasks_.spawn("session", session());
    co_await tasks_.join();
    stream_->close();
}

void Connection::drain() {
    draining_ = true;
    if (idle_) abort();
    if (websocket_) tasks_.spawn("goodbye", say_goodbye());
}

void Connection::abort() {
    tasks_.cancel();
    stream_->close();
}

Task<void> Connection::session() {
    stream_->expires_after(options_.request_timeout);
    const auto agreed = co_await stream_->handshake();
    stream_->expires_never();
    if (agreed.has_value() && tasks_.spawn("fill", fill())) {
        bool again = true;
        while (again && !draining_) {
            RequestParser parser(options_.max_header, options_.max_body);
            const auto complete = co_await read_request(parser);
            if (!complete.has_value() || !*complete) break;
            const auto kept = co_await answer(parser);
            again = kept.has_value() && *kept;
        }
    }
    // Whatever ended the session ends its helpers too. Broken connections are not worth a log line.
    tasks_.cancel();
    co_return base::ok();
}

Task<void> Connection::fill() {
    std::vector<char> buffer(kReadSize);
    while (true) {
        while (inbox_.size() >= inbox_most_ && !discard_) {
            if (co_await rt::is_cancelled()) co_return base::cancelled_error();
            room_.expires_at(asio::steady_timer::time_point::max());
            co_await room_.async_wait(asio::as_tuple(asio::use_awaitable));
        }
        const auto count = co_await stream_->read_some(buffer.data(), buffer.size());
        if (!count.has_value() || *count == 0) break;
        last_heard_ = clock_.monotonic();
        if (!discard_) inbox_.append(buffer.data(), *count);
        arrived_.cancel();
    }
    ended_ = true;
    arrived_.cancel();
    if (answering_) tasks_.cancel();
    co_return base::ok();
}

asio::awaitable<Connection::Wait> Connection::wait_for_bytes(base::Duration deadline) {
    const auto before = inbox_.size();
    while (true) {
        if (co_await rt::is_cancelled()) co_return Wait::cancelled;
        if (inbox_.size() != before) co_return Wait::bytes;
        if (ended_ || (leaving_ && !discard_)) co_return Wait::end;
        const auto left = deadline - clock_.monotonic();
        if (left <= base::Duration::zero()) co_return Wait::late;
        arrived_.expires_after(left);
        co_await arrived_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

Task<void> Connection::more() {
    const auto waited = co_await wait_for_bytes(clock_.monotonic() + 24h * 365);
    if (waited == Wait::bytes) co_return base::ok();
    if (waited == Wait::cancelled) co_return base::cancelled_error();
    co_return base::Error(base::ErrorKind::cancelled, "closed", "the peer has closed the connection");
}

Task<void> Connection::write(std::string data) {
    while (writing_) CO_CHECK_OK(co_await written_.wait());
    writing_ = true;
    stream_->expires_after(kWriteTimeout);
    auto done = co_await stream_->write(std::move(data));
    stream_->expires_never();
    if (!done.has_value()) stream_->close();  // half a piece may have gone out: nothing may follow it
    writing_ = false;
    written_.notify_all();
    co_return done;
}

Task<bool> Connection::read_request(RequestParser& parser) {
    idle_ = inbox_.empty();
    auto deadline = clock_.monotonic() + (idle_ ? options_.idle_timeout : options_.request_timeout);
    bool told_to_continue = false;
    while (true) {
        if (!inbox_.empty()) {
            if (std::exchange(idle_, false)) deadline = clock_.monotonic() + options_.request_timeout;
            const auto state = parser.feed(inbox_);
            taken();
            if (state == RequestParser::State::done) co_return true;
            if (state == RequestParser::State::refused)
                co_return co_await refuse(parser.refusal(), parser.detail());
            if (options_.continue_100 && !told_to_continue && parser.expects_continue()) {
                told_to_continue = true;
                CO_CHECK_OK(co_await write("HTTP/1.1 100 Continue\r\n\r\n"));
            }
        }
        const auto waited = co_await wait_for_bytes(deadline);
        if (waited == Wait::bytes) continue;
        if (waited == Wait::late && !idle_)
            co_return co_await refuse(408, "the request did not arrive in time");
        co_return false;
    }
}

asio::awaitable<Response> Connection::call_handler(Request request) {
    std::string failure;
    try {
        co_return co_await handler_(Context(), std::move(request));
    } catch (const std::exception& error) {
        failure = error.what();
    }
    base::log(base::LogLevel::error, "http_handler_threw", {{"error", failure}});
    co_return Response(500, "text/plain", "internal error\n");
}

Task<bool> Connection::answer(RequestParser& parser) {
    if (ended_) co_return false;
    Request request = parser.take();
    request.peer = peer_;
    const bool head = request.method == "HEAD";
    const Headers asked = request.headers;
    const bool upgrade = is_websocket_upgrade(asked, request.method);
    const bool keep = parser.keep_alive();
    const bool http_1_0 = parser.is_http_1_0();
    answering_ = true;
    Response response = co_await call_handler(std::move(request));
    if (response.status == 0 || co_await rt::is_cancelled()) co_return false;
    if (response.websocket && !upgrade) {
        co_return co_await refuse(426, "this address speaks WebSocket (version 13) only");
    }
    if (response.websocket) co_return co_await serve_websocket(std::move(response), asked);
    CO_TRY(const bool again, co_await write_response(std::move(response), head, http_1_0, keep));
    answering_ = false;
    co_return again;
}

Task<bool> Connection::write_response(Response response, bool head, bool http_1_0, bool keep) {
    if (draining_ || base::iequals(response.headers.get("Connection"), "close")) keep = false;
    const bool bodyless = response.status == 204 || response.status == 304 || response.status < 200;
    const bool streamed = response.stream != nullptr;
    auto framing = bodyless ? Framing::none : Framing::length;
    if (streamed && !bodyless) framing = http_1_0 ? Framing::until_close : Framing::chunked;
    if (framing == Framing::until_close) keep = false;
    std::size_t length = response.body.size();
    if (const auto said = response.headers.get("Content-Length"); head && !said.empty() && !streamed) {
        length = static_cast<std::size_t>(std::strtoull(said.c_str(), nullptr, 10));
    }
    std::string text = response_head(response, framing, length, keep, base::format_time_http(clock_.now()));
    if (head || bodyless) {
        CO_CHECK_OK(co_await write(std::move(text)));
    } else if (streamed) {
        CO_CHECK_OK(co_await write(std::move(text)));
        CO_CHECK_OK(co_await write_stream(std::move(response.stream), framing == Framing::chunked));
    } else {
        CO_CHECK_OK(co_await write_body(std::move(text), std::move(response.body)));
    }
    if (!keep) co_await linger();
    co_return keep;
}

Task<void> Connection::write_body(std::string head, std::string body) {
    std::size_t at = std::min(body.size(), kWriteSlice);
    head.append(body, 0, at);
    CO_CHECK_OK(co_await write(std::move(head)));
    while (at < body.size()) {
        std::string slice = body.substr(at, kWriteSlice);
        at += slice.size();
        CO_CHECK_OK(co_await write(std::move(slice)));
    }
    co_return base::ok();
}

Task<void> Connection::write_stream(std::unique_ptr<BodyStream> stream, bool chunked) {
    while (true) {
        CO_TRY(auto piece, co_await stream->read());
        if (!piece) break;
        if (piece->empty()) continue;
        std::string data = chunked ? chunk(*piece) : std::move(*piece);
        CO_CHECK_OK(co_await write(std::move(data)));
    }
    if (!chunked) co_return base::ok();
    co_return co_await write("0\r\n\r\n");
}

Task<bool> Connection::serve_websocket(Response response, Headers request) {
    CO_CHECK_OK(co_await write(websocket_answer(request, response.websocket_protocol)));
    answering_ = false;  // the end of the peer's bytes is the WebSocket's to see, after what came before it
    last_heard_ = clock_.monotonic();
    websocket_ = true;
    tasks_.spawn("ping", ping());
    if (draining_) tasks_.spawn("goodbye", say_goodbye());
    try {
        co_await response.websocket(make_websocket(*this));
    } catch (const std::exception& error) {
        base::log(base::LogLevel::error, "http_handler_threw", {{"error", error.what()}});
    }
    if (!co_await rt::is_cancelled()) co_await linger();
    co_return false;
}

Task<void> Connection::ping() {
    while (true) {
        CO_CHECK_OK(co_await clock_.sleep(kPingEvery));
        if (clock_.monotonic() - last_heard_ > kPongWithin) {
            abort();
            co_return base::ok();
        }
        const auto sent = co_await write(websocket_ping());
        if (!sent.has_value()) co_return base::ok();
    }
}

// To the handler it looks as if the peer had closed.
Task<void> Connection::say_goodbye() {
    [[maybe_unused]] const auto told = co_await write(websocket_goodbye());
    leaving_ = true;
    arrived_.cancel();
    co_return base::ok();  // a peer that cannot be told has gone itself
}

Task<bool> Connection::refuse(int status, std::string detail) {
    Response response = options_.on_refused ? options_.on_refused(status, detail)
                                            : Response(status, "text/plain", detail + "\n");
    if (status == 426) response.headers.set("Upgrade", "websocket");
    response.headers.set("Connection", "close");
    co_return co_await write_response(std::move(response), false, false, false);
}

// Closing a socket that still receives resets it, and the client may lose our answer: what still comes is
// thrown away.
asio::awaitable<void> Connection::linger() {
    answering_ = false;
    discard_ = true;
    inbox_.clear();
    taken();
    stream_->shutdown_send();
    const auto deadline = clock_.monotonic() + kLinger;
    while (true) {
        const auto waited = co_await wait_for_bytes(deadline);
        if (waited != Wait::bytes) co_return;
    }
}

}  // namespace instantstart::http::impl
