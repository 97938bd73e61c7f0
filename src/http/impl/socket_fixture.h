// For tests: a server and a client on real sockets of one loop, and raw bytes for what no proper client
// sends.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "http/impl/dial.h"
#include "http/server.h"
#include "http/transport.h"
#include "rt/event.h"
#include "rt/task_group.h"
#include "rt/testing.h"

namespace instantstart::http::impl {

inline Task<void> stop_server(Server& server) {
    co_await server.stop(std::chrono::milliseconds(200));
    co_return base::ok();
}

inline Task<std::string> read_all(std::shared_ptr<Stream> stream) {
    std::string all, buffer(65536, '\0');
    while (true) {
        const auto count = co_await stream->read_some(buffer.data(), buffer.size());
        if (!count.has_value() || *count == 0) co_return all;
        all.append(buffer, 0, *count);
    }
}

// Sends bytes as they are and returns what comes until the server closes.
inline Task<std::string> talk(rt::Clock& clock, std::uint16_t port, std::string bytes) {
    Target target;
    target.host = "127.0.0.1";
    target.port = port;
    CO_TRY(auto stream, co_await dial(clock, target));
    CO_CHECK_OK(co_await stream->write(std::move(bytes)));
    co_return co_await read_all(stream);
}

class SocketFixture : public ::testing::Test {
protected:
    void TearDown() override {
        transport_.reset();
        if (server_) EXPECT_TRUE(run(stop_server(*server_)).has_value());
        server_.reset();
    }

    void serve(ServerOptions options, Handler handler) {
        server_ = make_server(io_.get_executor(), *clock_, std::move(options), std::move(handler));
        auto started = server_->start();
        ASSERT_TRUE(started.has_value()) << started.error().chain();
        port_ = *started;
    }

    template <class T>
    base::Result<T> run(Task<T> task) {
        rt::TaskGroup group(io_.get_executor(), "test");
        const auto out = std::make_shared<std::optional<base::Result<T>>>();
        group.spawn("task", rt::testing::keep<T>(std::move(task), out));
        // A guard only: no test waits for it.
        const auto guard = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        io_.restart();
        while (group.size() > 0) {
            if (std::chrono::steady_clock::now() > guard) group.cancel();
            io_.run_one_for(std::chrono::seconds(1));
        }
        if (!out->has_value()) return base::internal_error("the task threw");
        return std::move(**out);
    }

    Request request(std::string method, std::string target, std::string body = "") const {
        Request made;
        made.method = std::move(method);
        made.target = std::move(target);
        made.body = std::move(body);
        made.host = "127.0.0.1";
        made.port = port_;
        return made;
    }
    base::Result<Response> send(Request wanted, SendOptions options = SendOptions()) {
        return run(transport_->send(Context(), std::move(wanted), std::move(options)));
    }
    base::Result<std::string> raw(std::string bytes) { return run(talk(*clock_, port_, std::move(bytes))); }

    boost::asio::io_context io_;
    std::unique_ptr<rt::Clock> clock_ = rt::make_system_clock(io_.get_executor());
    std::unique_ptr<Transport> transport_ = make_socket_transport(io_.get_executor(), *clock_);
    std::unique_ptr<Server> server_;
    std::uint16_t port_ = 0;
};

}  // namespace instantstart::http::impl
