#include "http/transport.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "http/certificate.h"
#include "http/impl/socket_fixture.h"

namespace instantstart::http::impl {
namespace {

using namespace std::chrono_literals;
using ::boost::asio::awaitable;

awaitable<Response> counted(int& served, Request request) {
    ++served;
    co_return Response(200, "text/plain", request.body + "!");
}

class TransportTest : public SocketFixture {
protected:
    Handler counting() {
        return [this](Context, Request request) { return counted(served_, std::move(request)); };
    }

    void serve_tls(const std::vector<std::string>& names) {
        authority_ = make_authority("test authority", clock_->now()).value();
        const auto pair = make_server_certificate(authority_, "server", names, clock_->now()).value();
        ServerOptions options;
        options.cert_pem = pair.cert_pem;
        options.key_pem = pair.key_pem;
        serve(options, counting());
    }

    base::Result<Response> send_tls(const std::string& host, const std::string& ca_pem,
                                    std::string body = "x") {
        auto wanted = request("POST", "/", std::move(body));
        wanted.scheme = "https";
        wanted.host = host;
        SendOptions options;
        options.ca_pem = ca_pem;
        return send(std::move(wanted), options);
    }

    int served_ = 0;
    KeyPair authority_;
};

TEST_F(TransportTest, tls_round_trip_by_name_and_address) {
    serve_tls({"localhost", "127.0.0.1"});
    for (const auto* host : {"127.0.0.1", "localhost", "127.0.0.1"}) {
        const auto response = send_tls(host, authority_.cert_pem);
        ASSERT_TRUE(response.has_value()) << host << response.error().chain();
        EXPECT_EQ(response->body, "x!");
    }
    const std::string large(3U << 20U, 'y');
    EXPECT_EQ(send_tls("127.0.0.1", authority_.cert_pem, large).value().status, 413);
}

TEST_F(TransportTest, certificate_for_another_name_is_refused) {
    serve_tls({"example.com", "10.0.0.1"});
    for (const auto* host : {"127.0.0.1", "localhost"}) {
        const auto response = send_tls(host, authority_.cert_pem);
        ASSERT_FALSE(response.has_value());
        EXPECT_EQ(response.error().kind, base::ErrorKind::unavailable);
        EXPECT_EQ(response.error().code, "tls");
    }
    EXPECT_EQ(served_, 0);
}

TEST_F(TransportTest, certificate_of_another_authority_is_refused) {
    serve_tls({"127.0.0.1"});
    const auto other = make_authority("test authority", clock_->now()).value();
    EXPECT_EQ(send_tls("127.0.0.1", other.cert_pem).error().code, "tls");
    EXPECT_EQ(send_tls("127.0.0.1", "not a certificate").error().code, "tls");
    EXPECT_EQ(served_, 0);
}

TEST_F(TransportTest, plain_client_on_a_tls_port_fails_cleanly) {
    serve_tls({"127.0.0.1"});
    const auto response = send(request("GET", "/"));
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().kind, base::ErrorKind::unknown_outcome);
}

TEST_F(TransportTest, tls_to_a_plain_port_is_unavailable) {
    serve(ServerOptions(), counting());
    EXPECT_EQ(send_tls("127.0.0.1", make_authority("a", clock_->now()).value().cert_pem).error().code, "tls");
}

TEST_F(TransportTest, refused_connection_is_proven_not_executed) {
    serve(ServerOptions(), counting());
    const auto wanted = request("POST", "/");
    ASSERT_TRUE(run(stop_server(*server_)).has_value());
    const auto response = send(wanted);
    ASSERT_FALSE(response.has_value());
    EXPECT_EQ(response.error().kind, base::ErrorKind::unavailable);
    EXPECT_EQ(response.error().code, "connection_refused");
}

TEST_F(TransportTest, pooled_connection_that_the_server_closed_is_not_used) {
    ServerOptions options;
    options.idle_timeout = 10ms;
    serve(options, counting());
    ASSERT_TRUE(send(request("POST", "/")).has_value());
    ASSERT_TRUE(run(clock_->sleep(40ms)).has_value());
    ASSERT_TRUE(send(request("POST", "/")).has_value());
    EXPECT_EQ(served_, 2);
}

// The value of a socket option of the one connection of this process that leads to `port`; -1 where there is
// none.
int option_towards(std::uint16_t port, int level, int option) {
    for (int fd = 3; fd < 256; ++fd) {
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) continue;
        if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
        int value = -1;
        socklen_t length = sizeof(value);
        return ::getsockopt(fd, level, option, &value, &length) == 0 ? value : -1;
    }
    return -1;
}

TEST_F(TransportTest, connections_are_probed_so_that_a_dead_peer_is_noticed) {
    serve(ServerOptions(), counting());
    ASSERT_TRUE(send(request("GET", "/")).has_value());
    EXPECT_EQ(option_towards(port_, SOL_SOCKET, SO_KEEPALIVE), 1);
    EXPECT_EQ(option_towards(port_, IPPROTO_TCP, TCP_KEEPIDLE), 30);
    EXPECT_EQ(option_towards(port_, IPPROTO_TCP, TCP_KEEPINTVL), 10);
    EXPECT_EQ(option_towards(port_, IPPROTO_TCP, TCP_KEEPCNT), 3);
    EXPECT_EQ(option_towards(port_, IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
}

// A server whose connections so far can die without a word, as behind a machine that forgot them.
class ForgetfulServer {
public:
    explicit ForgetfulServer(asio::io_context& io)
        : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
          tasks_(io.get_executor(), "forgetful server") {
        tasks_.spawn("accept", accept());
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    void forget() { dead_ = connections_; }
    int connections() const { return connections_; }
    Task<void> stop() {
        tasks_.cancel();
        co_await tasks_.join();
        co_return base::ok();
    }

private:
    Task<void> accept() {
        while (true) {
            auto [code, socket] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
            if (code) co_return base::cancelled_error();
            tasks_.spawn("connection", answer(make_plain_stream(std::move(socket)), ++connections_));
        }
    }
    Task<void> answer(std::shared_ptr<Stream> stream, int number) {
        std::string buffer(4096, '\0');
        while (true) {
            CO_TRY(const auto count, co_await stream->read_some(buffer.data(), buffer.size()));
            if (count == 0) co_return base::ok();
            if (number <= dead_) continue;
            CO_CHECK_OK(co_await stream->write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
        }
    }

    tcp::acceptor acceptor_;
    int connections_ = 0, dead_ = 0;
    rt::TaskGroup tasks_;
};

TEST_F(TransportTest, idle_connections_are_not_trusted_after_one_of_them_timed_out) {
    ForgetfulServer server(io_);
    port_ = server.port();
    rt::TaskGroup clients(io_.get_executor(), "clients");
    std::vector<std::shared_ptr<std::optional<base::Result<Response>>>> answers;
    for (int i = 0; i < 3; ++i) {
        answers.push_back(std::make_shared<std::optional<base::Result<Response>>>());
        auto sent = transport_->send(Context(), request("GET", "/"), SendOptions());
        clients.spawn("client", rt::testing::keep<Response>(std::move(sent), answers.back()));
    }
    while (clients.size() > 0) io_.run_one();
    ASSERT_EQ(server.connections(), 3);
    server.forget();
    SendOptions hasty;
    hasty.timeout = 50ms;
    EXPECT_EQ(send(request("POST", "/"), hasty).error().code, "timeout");
    // The next goes by a new connection instead of the second dead one.
    EXPECT_TRUE(send(request("POST", "/"), hasty).has_value());
    EXPECT_EQ(server.connections(), 4);
    transport_.reset();
    EXPECT_TRUE(run(server.stop()).has_value());
}

TEST_F(TransportTest, body_beyond_the_limit_is_an_error) {
    serve(ServerOptions(), counting());
    SendOptions options;
    options.max_body = 10;
    EXPECT_EQ(send(request("POST", "/", std::string(100, 'a')), options).error().code, "body_too_large");
}

TEST_F(TransportTest, heads_that_would_smuggle_are_not_sent) {
    serve(ServerOptions(), counting());
    auto wanted = request("GET", "/a b");
    EXPECT_EQ(send(wanted).error().code, "invalid_request");
    wanted.target = "/";
    wanted.headers.add("X-A", "b\r\nX-C: d");
    EXPECT_EQ(send(wanted).error().code, "invalid_request");
    wanted.scheme = "ftp";
    EXPECT_EQ(send(wanted).error().code, "invalid_url");
    EXPECT_EQ(served_, 0);
}

TEST_F(TransportTest, cancelled_exchange_says_cancelled) {
    serve(ServerOptions(), counting());
    rt::TaskGroup group(io_.get_executor(), "clients");
    const auto kept = std::make_shared<std::optional<base::Result<Response>>>();
    group.spawn("client", rt::testing::keep<Response>(
                              transport_->send(Context(), request("GET", "/"), SendOptions()), kept));
    io_.poll_one();
    group.cancel();
    while (group.size() > 0) io_.run_one();
    if (kept->has_value()) EXPECT_EQ((*kept)->error().kind, base::ErrorKind::cancelled);
}

Task<void> use_stream(Transport& transport, Request wanted, SendOptions options) {
    CO_TRY(auto response, co_await transport.send(Context(), std::move(wanted), std::move(options)));
    while (true) {
        CO_TRY(const auto piece, co_await response.stream->read());
        if (!piece) co_return base::ok();
    }
}

TEST_F(TransportTest, cancellation_at_every_step_is_clean_on_both_sides) {
    serve_tls({"127.0.0.1"});
    SendOptions options;
    options.ca_pem = authority_.cert_pem;
    options.stream = true;
    bool ended_by_itself = false;
    for (int steps = 0; !ended_by_itself && steps < 200; ++steps) {
        const auto transport = make_socket_transport(io_.get_executor(), *clock_);
        auto wanted = request("POST", "/", "body");
        wanted.scheme = "https";
        rt::TaskGroup group(io_.get_executor(), "client");
        group.spawn("client", use_stream(*transport, std::move(wanted), options));
        for (int i = 0; i < steps && group.size() > 0; ++i) io_.run_one_for(20ms);
        ended_by_itself = group.size() == 0;
        group.cancel();
        while (group.size() > 0) io_.run_one();
    }
    EXPECT_TRUE(ended_by_itself);
    EXPECT_EQ(send_tls("127.0.0.1", authority_.cert_pem).value().body, "x!");
}

TEST(Certificate, bad_authority_is_refused) {
    EXPECT_EQ(make_server_certificate(KeyPair(), "a", {"a"}, base::TimePoint()).error().code,
              "invalid_authority");
}

}  // namespace
}  // namespace instantstart::http::impl
