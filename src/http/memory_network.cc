#include "http/memory_network.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "base/text.h"
#include "http/impl/bodies.h"
#include "rt/event.h"

namespace instantstart::http {

namespace {

// What one exchange shares between the client and the handler's coroutine.
struct Exchange {
    Handler handler;
    Request request;
    Response response;
};

// The request as a server would see it.
void arrive(Request& request) {
    Url url;
    url.scheme = request.scheme;
    url.host = request.host;
    url.port = request.port;
    if (!request.headers.has("Host")) request.headers.add("Host", url.authority());
    if (!request.body.empty()) request.headers.set("Content-Length", std::to_string(request.body.size()));
    request.scheme = "http";
    request.host.clear();
    request.port = 0;
    request.peer = "127.0.0.1";
}

Task<void> run_handler(std::shared_ptr<Exchange> exchange) {
    exchange->response = co_await exchange->handler(Context(), std::move(exchange->request));
    co_return base::ok();
}

std::string authority_of(const Request& request) {
    const std::uint16_t usual = request.scheme == "https" ? 443 : 80;
    const auto port = request.port == 0 ? usual : request.port;
    return request.host + ":" + std::to_string(port);
}

base::Error refused(const std::string& authority) {
    return {base::ErrorKind::unavailable, "connection_refused", "connection to " + authority + " refused"};
}

base::Error broken() {
    return impl::unknown_outcome("connection_reset", "the connection broke");
}

}  // namespace

// One exchange's connection. As a clock its sleeps end when it is cut, so that every limit on the exchange
// ends with it.
struct MemoryNetwork::Line final : rt::Clock {
    Line(rt::Clock& real, const boost::asio::any_io_executor& executor) : clock(real), cut(executor) {}
    rt::TimePoint now() const override { return clock.now(); }
    rt::Duration monotonic() const override { return clock.monotonic(); }
    std::uint64_t random() override { return clock.random(); }
    Task<void> sleep(rt::Duration duration) override {
        if (is_cut) co_return base::ok();
        auto waited = co_await cut.wait_for(clock, duration);
        if (waited.has_value() || waited.error().kind == base::ErrorKind::deadline) co_return base::ok();
        co_return waited;
    }

    rt::Clock& clock;
    rt::Event cut;
    bool is_cut = false;
};

class MemoryTransport final : public Transport {
public:
    MemoryTransport(MemoryNetwork& network, base::Duration latency) : network_(network), latency_(latency) {}

    Task<Response> send(Context /*context*/, Request request, SendOptions options) override {
        CO_CHECK_OK(co_await network_.clock_.sleep(latency_));
        const auto authority = authority_of(request);
        const auto host = network_.hosts_.find(authority);
        if (host == network_.hosts_.end()) co_return refused(authority);
        const auto exchange = std::make_shared<Exchange>();
        exchange->handler = host->second;
        const auto fault = network_.hook_ ? network_.hook_(request) : NetworkFault::none;
        if (fault == NetworkFault::refuse) co_return refused(authority);
        if (fault == NetworkFault::lose_request) co_return broken();
        const bool head = request.method == "HEAD";
        exchange->request = std::move(request);
        arrive(exchange->request);
        const auto line = co_await open_line(authority);
        auto done = co_await rt::with_limit(*line, options.timeout, run_handler(exchange));
        if (!done.has_value()) {
            if (done.error().kind != base::ErrorKind::deadline) co_return std::move(done).error();
            if (line->is_cut) co_return broken();
            co_return impl::unknown_outcome("timeout", "no answer from " + authority + " in time");
        }
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        // Status 0 is a handler's way to break the connection.
        if (fault == NetworkFault::lose_answer || exchange->response.status == 0 || line->is_cut)
            co_return broken();
        co_return co_await receive(std::move(exchange->response), std::move(options), head, line);
    }

private:
    using Line = MemoryNetwork::Line;

    // A streamed body as it comes over the line.
    class LineStream final : public BodyStream {
    public:
        LineStream(std::unique_ptr<BodyStream> inner, std::shared_ptr<Line> line, base::Duration limit)
            : line_(std::move(line)), inner_(impl::limited(std::move(inner), *line_, limit)) {}

        Task<std::optional<std::string>> read() override {
            if (line_->is_cut) co_return broken();
            auto piece = co_await inner_->read();
            const bool cancelled = !piece.has_value() && piece.error().kind == base::ErrorKind::cancelled;
            if (line_->is_cut && !cancelled) co_return broken();
            co_return piece;
        }

    private:
        std::shared_ptr<Line> line_;
        std::unique_ptr<BodyStream> inner_;
    };

    boost::asio::awaitable<std::shared_ptr<Line>> open_line(std::string authority) {
        const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
        auto line = std::make_shared<Line>(network_.clock_, executor);
        auto& open = network_.lines_[authority];
        std::erase_if(open, [](const auto& other) { return other.expired(); });
        open.push_back(line);
        co_return line;
    }

    // A member coroutine's frame owns its parameters; `this` outlives every exchange.
    Task<Response> receive(Response response, SendOptions options, bool head, std::shared_ptr<Line> line) {
        if (response.websocket)
            co_return base::Error(base::ErrorKind::unsupported, "websocket", "no WebSocket in memory");
        if (head) {
            response.stream.reset();
            if (!response.headers.has("Content-Length")) {
                response.headers.set("Content-Length", std::to_string(response.body.size()));
            }
            response.body.clear();
        }
        if (options.stream) {
            auto inner = response.stream ? std::move(response.stream)
                                         : impl::stream_of(std::exchange(response.body, {}));
            response.stream = std::make_unique<LineStream>(std::move(inner), line, options.read_timeout);
        } else if (response.stream) {
            auto inner = std::make_unique<LineStream>(std::move(response.stream), line, options.timeout);
            CO_TRY(response.body, co_await impl::collect(std::move(inner), options.max_body));
        }
        if (response.body.size() > options.max_body) co_return impl::body_too_large(options.max_body);
        co_return std::move(response);
    }

    MemoryNetwork& network_;
    base::Duration latency_;
};

void MemoryNetwork::listen(const std::string& authority, Handler handler) {
    if (handler) {
        hosts_[authority] = std::move(handler);
    } else {
        hosts_.erase(authority);
    }
}

void MemoryNetwork::kill(const std::string& authority) {
    hosts_.erase(authority);
    const auto found = lines_.find(authority);
    if (found == lines_.end()) return;
    for (const auto& open : std::exchange(found->second, {})) {
        if (const auto line = open.lock()) {
            line->is_cut = true;
            line->cut.notify_all();
        }
    }
}

std::unique_ptr<Transport> MemoryNetwork::make_transport(base::Duration latency) {
    return std::make_unique<MemoryTransport>(*this, latency);
}

}  // namespace instantstart::http
