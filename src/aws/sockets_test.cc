// Deadlines and cancellation reach the socket: a server that never answers and one that trickles are left,
// the connection is closed, and the next call makes a new one.
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>

#include "aws/client.h"
#include "rt/event.h"
#include "rt/task_group.h"
#include "rt/testing.h"

namespace instantstart::aws {
namespace {

using boost::asio::ip::tcp;
using std::chrono::milliseconds;
constexpr auto kTuple = boost::asio::as_tuple(boost::asio::use_awaitable);

enum class Manner : std::uint8_t { silent, trickling };

// A server of bad manners. It counts who comes, who asks and who leaves.
class BadServer {
public:
    BadServer(boost::asio::io_context& io, rt::Clock& clock, Manner manner)
        : clock_(clock),
          manner_(manner),
          acceptor_(io, tcp::endpoint(boost::asio::ip::make_address("127.0.0.1"), 0)),
          group_(io.get_executor(), "server") {
        group_.spawn("accept", accept());
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    void stop() {
        acceptor_.close();
        group_.cancel();
    }
    bool stopped() const { return group_.size() == 0; }

    int came = 0, asked = 0, left = 0;

private:
    rt::Task<void> accept() {
        while (true) {
            auto [error, socket] = co_await acceptor_.async_accept(kTuple);
            if (error) co_return base::ok();
            ++came;
            group_.spawn("serve", serve(std::make_shared<tcp::socket>(std::move(socket))));
        }
    }
    rt::Task<void> serve(std::shared_ptr<tcp::socket> socket) {
        std::string head;
        std::array<char, 4096> buffer{};
        while (head.find("\r\n\r\n") == std::string::npos) {
            auto [error, count] = co_await socket->async_read_some(boost::asio::buffer(buffer), kTuple);
            if (error) co_return base::ok();
            head.append(buffer.data(), count);
        }
        ++asked;
        std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n";
        while (manner_ == Manner::trickling) {
            auto [error, count] =
                co_await boost::asio::async_write(*socket, boost::asio::buffer(answer), kTuple);
            if (error) break;
            answer.assign(1, 'x');
            CO_CHECK_OK(co_await clock_.sleep(milliseconds(5)));
        }
        while (true) {
            auto [error, count] = co_await socket->async_read_some(boost::asio::buffer(buffer), kTuple);
            if (error) break;
        }
        ++left;
        co_return base::ok();
    }

    rt::Clock& clock_;
    Manner manner_;
    tcp::acceptor acceptor_;
    rt::TaskGroup group_;
};

class Sockets : public ::testing::TestWithParam<Manner> {
protected:
    Sockets() : server_(io_, *clock_, GetParam()) {
        ClientSettings settings;
        settings.region = "us-west-2";
        settings.access_key = "AKID";
        settings.secret_key = "secret";
        settings.environment = [](const std::string&) { return std::string(); };
        settings.endpoint_url = "http://127.0.0.1:" + std::to_string(server_.port());
        client_ = make_client(std::move(settings), *transport_, *clock_).value();
    }
    void TearDown() override {
        server_.stop();
        EXPECT_TRUE(reach([this] { return server_.stopped(); }));
    }
    // Runs the loop until it is so; the limit is a guard against hanging only.
    bool reach(const std::function<bool()>& done) {
        for (int rounds = 0; rounds < 60 && !done(); ++rounds) {
            for (int events = 0; events < 100000 && !done(); ++events) {
                if (io_.run_one_for(std::chrono::seconds(1)) == 0) break;
            }
            io_.restart();
        }
        return done();
    }
    base::Result<JsonObject> call(rt::Context context, CallOptions options) {
        rt::TaskGroup group(io_.get_executor(), "client");
        const auto out = std::make_shared<std::optional<base::Result<JsonObject>>>();
        group.spawn("call", rt::testing::keep<JsonObject>(
                                client_->call(context, "ec2", "DescribeVpcs", {}, options), out));
        EXPECT_TRUE(reach([&] { return group.size() == 0; }));
        return out->has_value() ? std::move(**out) : base::Result<JsonObject>(base::internal_error("hangs"));
    }

    boost::asio::io_context io_;
    std::unique_ptr<rt::Clock> clock_ = rt::make_system_clock(io_.get_executor());
    std::unique_ptr<http::Transport> transport_ = http::make_socket_transport(io_.get_executor(), *clock_);
    BadServer server_;
    std::unique_ptr<Client> client_;
};

TEST_P(Sockets, a_deadline_closes_the_connection) {
    for (int round = 1; round <= 2; ++round) {
        const auto context = rt::Context().with_deadline(clock_->monotonic() + milliseconds(200));
        const auto result = call(context, CallOptions());
        ASSERT_FALSE(result.has_value());
        EXPECT_EQ(result.error().kind, base::ErrorKind::deadline);
        EXPECT_TRUE(reach([&] { return server_.left == round; }));
        EXPECT_EQ(server_.came, round);
    }
}

TEST_P(Sockets, the_time_of_an_attempt_closes_the_connection) {
    CallOptions options;
    options.timeout = milliseconds(100);
    options.attempts = 2;
    const auto result = call(rt::Context(), options);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, "timeout");
    EXPECT_TRUE(reach([&] { return server_.left == 2; }));
    EXPECT_EQ(server_.came, 2);
}

TEST_P(Sockets, cancellation_closes_the_connection) {
    rt::TaskGroup group(io_.get_executor(), "client");
    const auto out = std::make_shared<std::optional<base::Result<JsonObject>>>();
    group.spawn("call", rt::testing::keep<JsonObject>(
                            client_->call(rt::Context(), "ec2", "DescribeVpcs", {}, CallOptions()), out));
    ASSERT_TRUE(reach([&] { return server_.asked == 1; }));
    group.cancel();
    ASSERT_TRUE(reach([&] { return group.size() == 0; }));
    if (out->has_value()) EXPECT_EQ((*out)->error().kind, base::ErrorKind::cancelled);
    EXPECT_TRUE(reach([&] { return server_.left == 1; }));
    EXPECT_EQ(server_.came, 1);
}

INSTANTIATE_TEST_SUITE_P(Manners, Sockets, ::testing::Values(Manner::silent, Manner::trickling));

}  // namespace
}  // namespace instantstart::aws
