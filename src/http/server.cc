#include "http/server.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <set>

#include "base/log.h"
#include "http/impl/connection.h"
#include "http/impl/stream.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::http {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

base::Error cannot_listen(const ServerOptions& options, const boost::system::error_code& code) {
    return base::Error(base::ErrorKind::unavailable, "cannot_listen",
                       "cannot listen on " + options.address + ":" + std::to_string(options.port) + ": " +
                           code.message())
        .with_hint("Choose another port, or stop the program that uses this one.");
}

class SocketServer final : public Server {
public:
    SocketServer(asio::any_io_executor executor, rt::Clock& clock, ServerOptions options, Handler handler)
        : executor_(std::move(executor)),
          clock_(clock),
          options_(std::move(options)),
          handler_(std::move(handler)),
          acceptor_(executor_),
          ended_(executor_),
          tasks_(executor_, "http server", options_.max_connections + 1) {}

    base::Result<std::uint16_t> start() override {
        if (!options_.cert_pem.empty()) {
            TRY(tls_, impl::make_server_tls(options_.cert_pem, options_.key_pem));
        }
        boost::system::error_code code;
        const auto address = asio::ip::make_address(options_.address, code);
        if (code) return base::invalid_error("invalid_address", "not an IP address: " + options_.address);
        const tcp::endpoint endpoint(address, options_.port);
        acceptor_.open(endpoint.protocol(), code);
        if (!code) acceptor_.set_option(tcp::acceptor::reuse_address(true), code);
        if (!code) acceptor_.bind(endpoint, code);
        if (!code) acceptor_.listen(asio::socket_base::max_listen_connections, code);
        if (code) return cannot_listen(options_, code);
        tasks_.spawn("accept", accept());
        return acceptor_.local_endpoint().port();
    }

    asio::awaitable<void> stop(base::Duration grace) override {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        stopping_ = true;
        for (const auto& connection : std::set(connections_)) connection->drain();
        const auto deadline = clock_.monotonic() + grace;
        while (!connections_.empty()) {
            const auto left = deadline - clock_.monotonic();
            if (left <= base::Duration::zero()) break;
            const auto waited = co_await ended_.wait_for(clock_, left);
            if (!waited.has_value()) break;
        }
        for (const auto& connection : std::set(connections_)) connection->abort();
        tasks_.cancel();
        co_await tasks_.join();
    }

private:
    Task<void> accept() {
        while (!stopping_) {
            auto [code, socket] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
            if (stopping_ || co_await rt::is_cancelled()) co_return base::cancelled_error();
            if (code) {
                // Most likely no file descriptors are left: wait for connections to end.
                base::log(base::LogLevel::warn, "http_accept_failed", {{"error", code.message()}});
                CO_CHECK_OK(co_await clock_.sleep(std::chrono::milliseconds(100)));
                continue;
            }
            if (connections_.size() < options_.max_connections) admit(std::move(socket));
        }
        co_return base::ok();
    }

    void admit(tcp::socket socket) {
        boost::system::error_code code;
        const auto peer = socket.remote_endpoint(code).address().to_string();
        if (code) return;
        socket.set_option(tcp::no_delay(true), code);
        auto stream = tls_ ? impl::make_tls_stream(std::move(socket), tls_, "")
                           : impl::make_plain_stream(std::move(socket));
        auto connection = std::make_shared<impl::Connection>(executor_, std::move(stream), clock_, options_,
                                                             handler_, peer);
        connections_.insert(connection);
        if (!tasks_.spawn("connection", serve(connection))) connections_.erase(connection);
    }

    Task<void> serve(std::shared_ptr<impl::Connection> connection) {
        co_await connection->run();
        connections_.erase(connection);
        ended_.notify_all();
        co_return base::ok();
    }

    asio::any_io_executor executor_;
    rt::Clock& clock_;
    ServerOptions options_;
    Handler handler_;
    std::shared_ptr<impl::TlsContext> tls_;
    tcp::acceptor acceptor_;
    bool stopping_ = false;
    std::set<std::shared_ptr<impl::Connection>> connections_;
    rt::Event ended_;
    rt::TaskGroup tasks_;
};

}  // namespace

std::unique_ptr<Server> make_server(asio::any_io_executor executor, rt::Clock& clock, ServerOptions options,
                                    Handler handler) {
    return std::make_unique<SocketServer>(std::move(executor), clock, std::move(options), std::move(handler));
}

}  // namespace instantstart::http
