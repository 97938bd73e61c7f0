#include "http/impl/dial.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <vector>

#include "http/impl/parsers.h"
#include "rt/event.h"

namespace instantstart::http::impl {

namespace {

base::Error unavailable(std::string code, std::string message) {
    return {base::ErrorKind::unavailable, std::move(code), std::move(message)};
}

std::string name_of(const Target& target) {
    return target.host + ":" + std::to_string(target.port);
}

// A look-up that may outlive its caller: the system's resolver cannot be interrupted.
struct Lookup {
    explicit Lookup(const asio::any_io_executor& executor) : resolver(executor), ended(executor) {}
    tcp::resolver resolver;
    rt::Event ended;
    bool done = false;
    boost::system::error_code code;
    std::vector<tcp::endpoint> endpoints;
};

Task<std::vector<tcp::endpoint>> resolve(rt::Clock& clock, Target target, base::Duration deadline) {
    boost::system::error_code no_address;
    const auto address = asio::ip::make_address(target.host, no_address);
    if (!no_address) co_return std::vector<tcp::endpoint>{tcp::endpoint(address, target.port)};
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto lookup = std::make_shared<Lookup>(executor);
    lookup->resolver.async_resolve(
        target.host, std::to_string(target.port),
        [lookup](const boost::system::error_code& code, const tcp::resolver::results_type& found) {
            lookup->done = true;
            lookup->code = code;
            for (const auto& entry : found) lookup->endpoints.push_back(entry.endpoint());
            lookup->ended.notify_all();
        });
    while (!lookup->done) {
        auto waited = co_await lookup->ended.wait_for(clock, deadline - clock.monotonic());
        if (waited.has_value() || lookup->done) continue;
        if (waited.error().kind == base::ErrorKind::cancelled) co_return std::move(waited).error();
        co_return unavailable("dns", "no answer from the name service for " + target.host);
    }
    if (lookup->code || lookup->endpoints.empty()) {
        co_return unavailable("dns", "the name " + target.host + " cannot be resolved")
            .with_detail(lookup->code.message());
    }
    co_return std::move(lookup->endpoints);
}

struct Attempt {
    explicit Attempt(const asio::any_io_executor& executor) : socket(executor) {}
    tcp::socket socket;
    boost::system::error_code code;
};

Task<void> connect_one(std::shared_ptr<Attempt> attempt, tcp::endpoint endpoint) {
    const auto [code] = co_await attempt->socket.async_connect(endpoint, asio::as_tuple(asio::use_awaitable));
    attempt->code = code;
    co_return base::ok();
}

Task<std::shared_ptr<Attempt>> connect(rt::Clock& clock, Target target, base::Duration deadline) {
    CO_TRY(const auto endpoints, co_await resolve(clock, target, deadline));
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    std::string why = "no address";
    for (const auto& endpoint : endpoints) {
        const auto attempt = std::make_shared<Attempt>(executor);
        auto done =
            co_await rt::with_limit(clock, deadline - clock.monotonic(), connect_one(attempt, endpoint));
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        if (!done.has_value())
            co_return unavailable("connect_timeout", "no connection to " + name_of(target) + " in time");
        if (!attempt->code) co_return attempt;
        why = attempt->code.message();
    }
    co_return unavailable("connection_refused", "no connection to " + name_of(target) + ": " + why);
}

constexpr std::size_t kTunnelHeadMost = 16384;

base::Error proxy_error(const Proxy& proxy, const std::string& what) {
    return unavailable("proxy", "the proxy " + proxy.name() + " " + what)
        .with_hint("Check HTTPS_PROXY and HTTP_PROXY, or name the host in NO_PROXY.");
}

std::string tunnel_head(const Target& target) {
    Url place;
    place.scheme = "tunnel";
    place.host = target.host;
    place.port = target.port;
    std::string head = "CONNECT " + place.authority() + " HTTP/1.1\r\nHost: " + place.authority() + "\r\n";
    if (!target.proxy->authorization.empty())
        head += "Proxy-Authorization: " + target.proxy->authorization + "\r\n";
    return head + "\r\n";
}

base::Error refused_tunnel(const Target& target, const Response& answer) {
    if (answer.status == 407) return proxy_wants_user(*target.proxy);
    return proxy_error(*target.proxy, "does not connect to " + name_of(target) + ": it answers HTTP " +
                                          std::to_string(answer.status));
}

// Asks the proxy for a way through; afterwards the socket is as if it were the server's.
Task<void> open_tunnel(std::shared_ptr<Attempt> attempt, Target target) {
    const std::string head = tunnel_head(target);
    const auto bytes = asio::buffer(head);
    const auto [failed, sent] =
        co_await asio::async_write(attempt->socket, bytes, asio::as_tuple(asio::use_awaitable));
    if (failed == asio::error::operation_aborted) co_return base::cancelled_error();
    if (failed) co_return proxy_error(*target.proxy, "broke off: " + failed.message());
    ResponseParser parser(true);
    std::string buffer(4096, '\0'), input, body;
    std::size_t heard = 0;
    while (!parser.is_header_done()) {
        const auto room = asio::buffer(buffer);
        const auto [code, count] =
            co_await attempt->socket.async_read_some(room, asio::as_tuple(asio::use_awaitable));
        if (code == asio::error::operation_aborted) co_return base::cancelled_error();
        if (code) co_return proxy_error(*target.proxy, "closed the connection without a word");
        heard += count;
        input.append(buffer, 0, count);
        const auto fed = parser.feed(input, body);
        if (!fed.has_value() || heard > kTunnelHeadMost)
            co_return proxy_error(*target.proxy, "does not answer as an HTTP proxy does");
    }
    const Response answer = parser.head();
    if (answer.status < 200 || answer.status > 299) co_return refused_tunnel(target, answer);
    if (!input.empty()) co_return proxy_error(*target.proxy, "sent bytes before they were asked for");
    co_return base::ok();
}

// A connection to the proxy, and through it where TLS follows.
Task<std::shared_ptr<Attempt>> connect_by_proxy(rt::Clock& clock, Target target, base::Duration deadline) {
    Target nearest = target;
    nearest.host = target.proxy->host;
    nearest.port = target.proxy->port;
    auto connected = co_await connect(clock, nearest, deadline);
    if (!connected.has_value()) {
        if (connected.error().kind == base::ErrorKind::cancelled) co_return std::move(connected).error();
        co_return proxy_error(*target.proxy, "cannot be reached: " + connected.error().message);
    }
    if (!target.tls) co_return connected;
    auto opened =
        co_await rt::with_limit(clock, deadline - clock.monotonic(), open_tunnel(*connected, target));
    if (opened.has_value()) co_return connected;
    if (opened.error().kind != base::ErrorKind::deadline) co_return std::move(opened).error();
    co_return proxy_error(*target.proxy, "does not connect to " + name_of(target) + " in time");
}

// A peer that is gone without a word, or a way to it that forgot the connection, is noticed within a minute
// even where nothing is to be said for hours (followed logs); a little traffic keeps such ways open, too.
void keep_alive(tcp::socket& socket) {
    constexpr int kSilentSeconds = 30, kBetweenSeconds = 10, kProbes = 3;
    constexpr int kUnheardMilliseconds = 60'000;
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    const auto set = [&socket](int option, int value) {
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof(value));
    };
    set(TCP_KEEPIDLE, kSilentSeconds);
    set(TCP_KEEPINTVL, kBetweenSeconds);
    set(TCP_KEEPCNT, kProbes);
    set(TCP_USER_TIMEOUT, kUnheardMilliseconds);
}

}  // namespace

base::Error proxy_wants_user(const Proxy& proxy) {
    const bool had_one = !proxy.authorization.empty();
    return unavailable("proxy",
                       "the proxy " + proxy.name() +
                           (had_one ? " refuses its user and password" : " asks for a user and password") +
                           " (HTTP 407)")
        .with_hint(
            "Put them into the variable: HTTPS_PROXY=http://user:password@host:port, special characters "
            "percent-encoded.");
}

Task<std::shared_ptr<Stream>> dial(rt::Clock& clock, Target target) {
    const auto deadline = clock.monotonic() + target.timeout;
    const bool by_proxy = target.proxy.has_value();
    auto connected = by_proxy ? co_await connect_by_proxy(clock, target, deadline)
                              : co_await connect(clock, target, deadline);
    CO_TRY(const auto attempt, std::move(connected));
    keep_alive(attempt->socket);
    if (!target.tls) co_return make_plain_stream(std::move(attempt->socket));
    const auto stream = make_tls_stream(std::move(attempt->socket), target.tls, target.host);
    stream->expires_after(
        std::max(base::Duration(std::chrono::milliseconds(1)), deadline - clock.monotonic()));
    auto agreed = co_await stream->handshake();
    stream->expires_never();
    if (agreed.has_value()) co_return stream;
    if (agreed.error().kind == base::ErrorKind::cancelled) co_return std::move(agreed).error();
    if (stream->timed_out())
        co_return unavailable("connect_timeout", "no TLS with " + name_of(target) + " in time");
    auto& error = agreed.error();
    base::Error failed =
        unavailable("tls", error.code == "tls" ? error.message : "no TLS with " + name_of(target))
            .with_detail(error.detail);
    failed.hint = error.hint;
    co_return failed;
}

}  // namespace instantstart::http::impl
