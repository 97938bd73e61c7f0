#include "http/impl/dial.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <vector>

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

}  // namespace

Task<std::shared_ptr<Stream>> dial(rt::Clock& clock, Target target) {
    const auto deadline = clock.monotonic() + target.timeout;
    CO_TRY(const auto attempt, co_await connect(clock, target, deadline));
    boost::system::error_code ignored;
    attempt->socket.set_option(tcp::no_delay(true), ignored);
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
    co_return unavailable("tls", error.code == "tls" ? error.message : "no TLS with " + name_of(target))
        .with_detail(error.detail);
}

}  // namespace instantstart::http::impl
