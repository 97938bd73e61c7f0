// Requests through a proxy on real sockets: tunnels with TLS inside, forwarded plain requests, and proxies
// that refuse.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>

#include "http/certificate.h"
#include "http/impl/socket_fixture.h"

namespace instantstart::http::impl {
namespace {

using ::boost::asio::awaitable;

// A proxy that takes every name for this machine. Where `reply` is set it says that and hangs up.
class TestProxy {
public:
    explicit TestProxy(asio::io_context& io)
        : io_(io),
          acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
          tasks_(io.get_executor(), "proxy") {
        tasks_.spawn("accept", accept());
    }
    ~TestProxy() {
        boost::system::error_code ignored;
        acceptor_.close(ignored);
        tasks_.cancel();
        while (tasks_.size() > 0) io_.run_one();
    }
    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    std::vector<std::string> heads;
    std::string reply;

private:
    Task<void> accept() {
        while (true) {
            auto [code, socket] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
            if (code) co_return base::ok();
            tasks_.spawn("serve", serve(std::make_shared<tcp::socket>(std::move(socket))));
        }
    }
    Task<void> serve(std::shared_ptr<tcp::socket> client) {
        std::string head;
        std::array<char, 4096> buffer{};
        while (head.find("\r\n\r\n") == std::string::npos) {
            const auto room = asio::buffer(buffer);
            const auto [code, count] =
                co_await client->async_read_some(room, asio::as_tuple(asio::use_awaitable));
            if (code) co_return base::ok();
            head.append(buffer.data(), count);
        }
        heads.push_back(head);
        if (!reply.empty()) {
            const auto bytes = asio::buffer(reply);
            co_await asio::async_write(*client, bytes, asio::as_tuple(asio::use_awaitable));
            co_return base::ok();
        }
        // "CONNECT host:port …"
        const std::string place = head.substr(8, head.find(' ', 8) - 8);
        const auto number = static_cast<std::uint16_t>(std::stoi(place.substr(place.rfind(':') + 1)));
        auto server = std::make_shared<tcp::socket>(io_);
        const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), number);
        const auto [failed] = co_await server->async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
        const std::string said = failed ? "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
                                        : "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n";
        const auto bytes = asio::buffer(said);
        co_await asio::async_write(*client, bytes, asio::as_tuple(asio::use_awaitable));
        if (failed) co_return base::ok();
        tasks_.spawn("back", relay(server, client));
        co_return co_await relay(client, server);
    }
    Task<void> relay(std::shared_ptr<tcp::socket> from, std::shared_ptr<tcp::socket> to) {
        std::array<char, 4096> buffer{};
        while (true) {
            const auto room = asio::buffer(buffer);
            const auto [code, count] =
                co_await from->async_read_some(room, asio::as_tuple(asio::use_awaitable));
            if (code) break;
            const auto bytes = asio::buffer(buffer, count);
            const auto [failed, sent] =
                co_await asio::async_write(*to, bytes, asio::as_tuple(asio::use_awaitable));
            if (failed) break;
        }
        boost::system::error_code ignored;
        to->shutdown(tcp::socket::shutdown_both, ignored);
        co_return base::ok();
    }

    asio::io_context& io_;
    tcp::acceptor acceptor_;
    rt::TaskGroup tasks_;
};

awaitable<Response> echo(int& served, Request request) {
    ++served;
    co_return Response(200, "text/plain", request.headers.get("Proxy-Authorization") + request.target);
}

class ProxyTransport : public SocketFixture {
protected:
    void use(const std::string& user = "") {
        proxy_ = std::make_unique<TestProxy>(io_);
        use_url("http://" + user + "127.0.0.1:" + std::to_string(proxy_->port()));
    }
    void use_url(const std::string& url) {
        TransportSettings settings;
        settings.proxies = ProxyRules::from([url](const std::string& name) {
            return name == "ALL_PROXY"  ? url
                   : name == "NO_PROXY" ? std::string("direct.example")
                                        : std::string();
        });
        transport_ = make_socket_transport(io_.get_executor(), *clock_, std::move(settings));
    }
    void serve_tls(const std::vector<std::string>& names, base::Duration age = base::Duration::zero()) {
        const auto made = std::chrono::time_point_cast<base::TimePoint::duration>(clock_->now() - age);
        authority_ = make_authority("test authority", made).value();
        const auto pair = make_server_certificate(authority_, "server", names, made).value();
        ServerOptions options;
        options.cert_pem = pair.cert_pem;
        options.key_pem = pair.key_pem;
        serve(options, [this](Context, Request request) { return echo(served_, std::move(request)); });
    }
    base::Result<Response> ask(const std::string& scheme, const std::string& host) {
        auto wanted = request("GET", "/x?y");
        wanted.scheme = scheme;
        wanted.host = host;
        SendOptions options;
        options.ca_pem = authority_.cert_pem;
        return send(std::move(wanted), options);
    }
    void TearDown() override {
        transport_.reset();
        proxy_.reset();
        SocketFixture::TearDown();
    }

    std::unique_ptr<TestProxy> proxy_;
    KeyPair authority_;
    int served_ = 0;
};

TEST_F(ProxyTransport, tls_goes_through_a_tunnel_that_is_kept) {
    serve_tls({"api.example"});
    use("me:secret@");
    for (int i = 0; i < 3; ++i) {
        const auto answer = ask("https", "api.example");
        ASSERT_TRUE(answer.has_value()) << answer.error().chain();
        EXPECT_EQ(answer->body, "/x?y") << "the server must not see the proxy's password";
    }
    ASSERT_EQ(proxy_->heads.size(), 1U);
    const std::string place = "api.example:" + std::to_string(port_);
    EXPECT_EQ(proxy_->heads[0], "CONNECT " + place + " HTTP/1.1\r\nHost: " + place +
                                    "\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n");
}

TEST_F(ProxyTransport, certificates_are_verified_inside_the_tunnel) {
    serve_tls({"other.example"});
    use();
    const auto answer = ask("https", "api.example");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "tls");
    EXPECT_NE(answer.error().message.find("api.example is not trusted"), std::string::npos);
    EXPECT_NE(answer.error().hint.find("AWS_CA_BUNDLE"), std::string::npos);
    EXPECT_EQ(served_, 0);
}

TEST_F(ProxyTransport, plain_requests_are_forwarded_with_the_whole_url) {
    use("me:secret@");
    proxy_->reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    EXPECT_EQ(ask("http", "api.example").value().body, "hi");
    EXPECT_EQ(proxy_->heads.at(0).find("GET http://api.example/x?y HTTP/1.1\r\nHost: api.example\r\n"), 0U)
        << proxy_->heads[0];
    EXPECT_NE(proxy_->heads[0].find("Proxy-Authorization: Basic bWU6c2VjcmV0\r\n"), std::string::npos);
}

TEST_F(ProxyTransport, proxies_that_refuse_say_so_and_nothing_was_sent) {
    serve_tls({"api.example"});
    const std::map<std::string, std::string> replies = {
        {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 4\r\n\r\n<p/>",
         "asks for a user and password"},
        {"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<html>Blocked</html>",
         "it answers HTTP 403"},
        {"HTTP/1.0 502 Bad Gateway\r\n\r\n", "it answers HTTP 502"},
        {"SSH-2.0-OpenSSH_9\r\n", "does not answer as an HTTP proxy does"},
        {"HTTP/1.1 200 OK\r\n\r\nearly", "sent bytes before they were asked for"},
        {"\r\n", "closed the connection without a word"}};
    for (const auto& [reply, words] : replies) {
        use();
        proxy_->reply = reply;
        const auto answer = ask("https", "api.example");
        ASSERT_FALSE(answer.has_value()) << reply;
        EXPECT_EQ(answer.error().kind, base::ErrorKind::unavailable) << reply;
        EXPECT_EQ(answer.error().code, "proxy") << answer.error().chain();
        EXPECT_NE(answer.error().message.find(words), std::string::npos) << answer.error().message;
    }
    use("me:wrong@");
    proxy_->reply = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
    for (const char* scheme : {"http", "https"}) {
        const auto answer = ask(scheme, "api.example");
        ASSERT_FALSE(answer.has_value()) << scheme;
        EXPECT_NE(answer.error().message.find("refuses its user and password"), std::string::npos) << scheme;
        EXPECT_EQ(answer.error().message.find("wrong"), std::string::npos) << scheme;
    }
    EXPECT_EQ(served_, 0);
}

TEST_F(ProxyTransport, unreachable_proxy_is_named) {
    serve_tls({"127.0.0.1"});
    std::uint16_t closed = 0;
    {
        tcp::acceptor acceptor(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        closed = acceptor.local_endpoint().port();
    }
    use_url("http://127.0.0.1:" + std::to_string(closed));
    const auto answer = ask("https", "api.example");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "proxy");
    EXPECT_NE(answer.error().message.find("cannot be reached"), std::string::npos);
    const auto direct = ask("https", "127.0.0.1");
    ASSERT_TRUE(direct.has_value()) << direct.error().chain();
}

TEST_F(ProxyTransport, silent_proxy_runs_into_the_time_for_connecting) {
    tcp::acceptor silent(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    serve_tls({"api.example"});
    use_url("http://127.0.0.1:" + std::to_string(silent.local_endpoint().port()));
    auto wanted = request("GET", "/");
    wanted.scheme = "https";
    wanted.host = "api.example";
    SendOptions options;
    options.ca_pem = authority_.cert_pem;
    options.connect_timeout = std::chrono::milliseconds(50);
    const auto answer = send(std::move(wanted), options);
    ASSERT_FALSE(answer.has_value());
    // Whether the time runs out before or within the tunnel depends on the machine.
    EXPECT_EQ(answer.error().kind, base::ErrorKind::unavailable) << answer.error().chain();
    EXPECT_EQ(answer.error().code, "proxy");
}

TEST_F(ProxyTransport, cancellation_at_every_step_of_a_tunnel_is_clean) {
    serve_tls({"api.example"});
    bool ended_by_itself = false;
    for (int steps = 0; !ended_by_itself && steps < 200; ++steps) {
        use();
        auto wanted = request("GET", "/");
        wanted.scheme = "https";
        wanted.host = "api.example";
        SendOptions options;
        options.ca_pem = authority_.cert_pem;
        rt::TaskGroup group(io_.get_executor(), "client");
        const auto kept = std::make_shared<std::optional<base::Result<Response>>>();
        group.spawn("client", rt::testing::keep<Response>(
                                  transport_->send(Context(), std::move(wanted), options), kept));
        for (int i = 0; i < steps && group.size() > 0; ++i) io_.run_one_for(std::chrono::milliseconds(20));
        ended_by_itself = group.size() == 0;
        group.cancel();
        while (group.size() > 0) io_.run_one();
    }
    EXPECT_TRUE(ended_by_itself);
}

TEST_F(ProxyTransport, expired_certificate_is_refused) {
    serve_tls({"127.0.0.1"}, std::chrono::hours(24 * 500));
    const auto answer = ask("https", "127.0.0.1");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, "tls");
    EXPECT_NE(answer.error().message.find("expired"), std::string::npos) << answer.error().message;
    EXPECT_EQ(served_, 0);
}

TEST_F(ProxyTransport, authorities_come_from_the_file_that_is_named) {
    serve_tls({"127.0.0.1"});
    const auto path = std::filesystem::path(::testing::TempDir()) / "proxy_transport_bundle.pem";
    const auto other = make_authority("another", clock_->now()).value();
    std::ofstream(path) << other.cert_pem << authority_.cert_pem;
    auto wanted = request("GET", "/");
    wanted.scheme = "https";
    SendOptions options;
    options.ca_file = path;
    EXPECT_EQ(send(wanted, options).value().status, 200);
    options.ca_file = path.string() + ".gone";
    const auto missing = send(wanted, options);
    ASSERT_FALSE(missing.has_value());
    EXPECT_NE(missing.error().message.find("no certificate authorities can be read from " + options.ca_file),
              std::string::npos);
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace instantstart::http::impl
