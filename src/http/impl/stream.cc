#include "http/impl/stream.h"

#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>

#include "rt/event.h"

namespace instantstart::http::impl {

void Stream::expires_after(base::Duration limit) {
    const auto generation = ++generation_;
    deadline_.expires_after(limit);
    deadline_.async_wait([weak = weak_from_this(), generation](const boost::system::error_code& code) {
        const auto self = weak.lock();
        if (code || !self || self->generation_ != generation) return;
        self->timed_out_ = true;
        self->close();
    });
}

void Stream::expires_never() {
    ++generation_;
    deadline_.cancel();
}

void Stream::shutdown_send() {
    boost::system::error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

void Stream::close() {
    closed_ = true;
    boost::system::error_code ignored;
    socket_.close(ignored);
    expires_never();
}

bool Stream::is_silent() {
    if (closed_ || !socket_.is_open()) return false;
    char byte = 0;
    const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

base::Error Stream::error_of(const boost::system::error_code& code) const {
    if (timed_out_) return {base::ErrorKind::unknown_outcome, "timeout", "the connection timed out"};
    if (code == asio::error::operation_aborted && !closed_) return base::cancelled_error();
    base::Error error(base::ErrorKind::unknown_outcome, "connection_reset", "the connection broke");
    return std::move(error).with_detail(code.message());
}

namespace {

class PlainStream final : public Stream {
public:
    using Stream::Stream;

    Task<void> handshake() override { co_return base::ok(); }

    Task<std::size_t> read_some(char* to, std::size_t most) override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        const auto room = asio::buffer(to, most);
        const auto [code, count] =
            co_await socket_.async_read_some(room, asio::as_tuple(asio::use_awaitable));
        if (code == asio::error::eof) co_return std::size_t{0};
        if (code) co_return error_of(code);
        co_return count;
    }

    Task<void> write(std::string data) override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        const auto bytes = asio::buffer(data);
        const auto [code, count] =
            co_await asio::async_write(socket_, bytes, asio::as_tuple(asio::use_awaitable));
        if (code) co_return error_of(code);
        co_return base::ok();
    }
};

}  // namespace

std::shared_ptr<Stream> make_plain_stream(tcp::socket socket) {
    return std::make_shared<PlainStream>(std::move(socket));
}

}  // namespace instantstart::http::impl
