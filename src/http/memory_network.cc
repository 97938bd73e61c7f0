#include "http/memory_network.h"

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

}  // namespace

class MemoryTransport final : public Transport {
public:
    MemoryTransport(MemoryNetwork& network, base::Duration latency) : network_(network), latency_(latency) {}

    Task<Response> send(Context /*context*/, Request request, SendOptions options) override {
        CO_CHECK_OK(co_await network_.clock_.sleep(latency_));
        const auto authority = authority_of(request);
        const auto host = network_.hosts_.find(authority);
        const auto fault = network_.hook_ ? network_.hook_(request) : NetworkFault::none;
        if (host == network_.hosts_.end() || fault == NetworkFault::refuse) co_return refused(authority);
        if (fault == NetworkFault::lose_request)
            co_return impl::unknown_outcome("connection_reset", "the connection broke");
        const bool head = request.method == "HEAD";
        const auto exchange = std::make_shared<Exchange>();
        exchange->handler = host->second;
        exchange->request = std::move(request);
        arrive(exchange->request);
        auto done = co_await rt::with_limit(network_.clock_, options.timeout, run_handler(exchange));
        if (!done.has_value()) {
            if (done.error().kind != base::ErrorKind::deadline) co_return std::move(done).error();
            co_return impl::unknown_outcome("timeout", "no answer from " + authority + " in time");
        }
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        // Status 0 is a handler's way to break the connection.
        if (fault == NetworkFault::lose_answer || exchange->response.status == 0) {
            co_return impl::unknown_outcome("connection_reset", "the connection broke");
        }
        co_return co_await receive(std::move(exchange->response), std::move(options), head);
    }

private:
    // A member coroutine's frame owns its parameters; `this` outlives every exchange.
    Task<Response> receive(Response response, SendOptions options, bool head) {
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
            response.stream = impl::limited(std::move(inner), network_.clock_, options.read_timeout);
        } else if (response.stream) {
            auto inner = impl::limited(std::move(response.stream), network_.clock_, options.timeout);
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

std::unique_ptr<Transport> MemoryNetwork::make_transport(base::Duration latency) {
    return std::make_unique<MemoryTransport>(*this, latency);
}

}  // namespace instantstart::http
