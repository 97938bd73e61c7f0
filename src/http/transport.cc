#include "http/transport.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/impl/bodies.h"
#include "http/impl/dial.h"
#include "http/impl/parsers.h"
#include "http/impl/pool.h"
#include "http/impl/wire.h"
#include "rt/event.h"

namespace instantstart::http {

namespace {

constexpr std::size_t kReadSize = 16384;
constexpr std::size_t kWriteSlice = 1U << 20U;

// One request and its answer on one connection. Destroyed before the end, it closes the connection.
class Exchange {
public:
    Exchange(std::shared_ptr<impl::Stream> stream, std::weak_ptr<impl::Pool> pool, std::string key,
             bool to_head)
        : stream_(std::move(stream)), pool_(std::move(pool)), key_(std::move(key)), to_head_(to_head) {
        parser_ = std::make_unique<impl::ResponseParser>(to_head_);
    }
    ~Exchange() {
        if (!stream_) return;
        const auto pool = pool_.lock();
        if (pool && stream_->timed_out()) pool->drop(key_);
        stream_->close();
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    impl::Stream& stream() { return *stream_; }
    impl::ResponseParser& parser() { return *parser_; }
    std::string& body() { return body_; }
    bool heard_anything() const { return heard_; }
    bool is_done() const { return done_; }

    // Sends it all. A server that answers early and closes makes this fail: the answer may still be read
    // then.
    Task<void> send(std::string head, std::string body) {
        std::size_t at = std::min(body.size(), kWriteSlice);
        head.append(body, 0, at);
        CO_CHECK_OK(co_await stream_->write(std::move(head)));
        while (at < body.size()) {
            std::string slice = body.substr(at, kWriteSlice);
            at += slice.size();
            CO_CHECK_OK(co_await stream_->write(std::move(slice)));
        }
        co_return base::ok();
    }

    // Reads once: body bytes come into body(), is_done() tells the end.
    Task<void> read_more() {
        std::string buffer(kReadSize, '\0');
        CO_TRY(const auto count, co_await stream_->read_some(buffer.data(), buffer.size()));
        if (count == 0) {
            CO_CHECK_OK(parser_->finish());
            done_ = true;
            stream_->close();
            co_return base::ok();
        }
        heard_ = true;
        input_.append(buffer, 0, count);
        co_return parse();
    }

    // The final head: those of 1xx answers are passed over.
    Task<Response> read_head() {
        while (true) {
            while (!parser_->is_header_done() && !done_) CO_CHECK_OK(co_await read_more());
            Response head = parser_->head();
            if (head.status >= 200) co_return head;
            if (head.status == 101)
                co_return impl::unknown_outcome("truncated", "the server switched protocols unasked");
            parser_ = std::make_unique<impl::ResponseParser>(to_head_);
            done_ = false;
            CO_CHECK_OK(parse());
        }
    }

    // After the end: the connection goes back to the pool where it can be used again.
    void release() {
        stream_->expires_never();
        const auto pool = pool_.lock();
        const bool reusable = pool && parser_->keep_alive() && input_.empty() && stream_->is_silent();
        if (reusable) {
            pool->put(key_, std::exchange(stream_, nullptr));
        } else {
            stream_->close();
        }
    }

private:
    base::Result<void> parse() {
        TRY(done_, parser_->feed(input_, body_));
        return base::ok();
    }

    std::shared_ptr<impl::Stream> stream_;
    std::weak_ptr<impl::Pool> pool_;
    std::string key_;
    bool to_head_;
    std::unique_ptr<impl::ResponseParser> parser_;
    std::string input_, body_;
    bool heard_ = false;
    bool done_ = false;
};

class ExchangeStream final : public BodyStream {
public:
    ExchangeStream(std::unique_ptr<Exchange> exchange, base::Duration read_timeout)
        : exchange_(std::move(exchange)), read_timeout_(read_timeout) {}

    Task<std::optional<std::string>> read() override {
        if (!exchange_) co_return std::optional<std::string>();
        while (exchange_->body().empty() && !exchange_->is_done()) {
            exchange_->stream().expires_after(read_timeout_);
            auto more = co_await exchange_->read_more();
            exchange_->stream().expires_never();
            if (more.has_value()) continue;
            exchange_->stream().close();
            co_return std::move(more).error();
        }
        std::optional<std::string> piece;
        if (!exchange_->body().empty()) {
            piece = std::exchange(exchange_->body(), std::string());
        } else {
            exchange_->release();
            exchange_.reset();
        }
        co_return std::move(piece);
    }

private:
    std::unique_ptr<Exchange> exchange_;
    base::Duration read_timeout_;
};

// Whether a line break or space would end the request line or a header early.
bool is_sendable(const Request& request) {
    const auto bad = [](std::string_view text, bool spaces) {
        return std::any_of(text.begin(), text.end(), [spaces](char c) {
            return c == '\r' || c == '\n' || c == '\0' || (spaces && c == ' ');
        });
    };
    if (request.target.empty() || bad(request.target, true) || bad(request.method, true)) return false;
    for (const auto& [name, value] : request.headers.fields()) {
        if (name.empty() || bad(name, true) || bad(value, false)) return false;
    }
    return true;
}

// A proxy that forwards plain requests is told the whole URL.
void address_to_proxy(Request& request, const Proxy& proxy) {
    Url url;
    url.scheme = request.scheme;
    url.host = request.host;
    url.port = request.port;
    request.target = "http://" + url.authority() + request.target;
    if (!proxy.authorization.empty()) request.headers.set("Proxy-Authorization", proxy.authorization);
}

class SocketTransport final : public Transport {
public:
    SocketTransport(rt::Clock& clock, TransportSettings settings)
        : clock_(clock), settings_(std::move(settings)), pool_(std::make_shared<impl::Pool>(clock)) {}

    Task<Response> send(Context /*context*/, Request request, SendOptions options) override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        if (request.scheme != "http" && request.scheme != "https") {
            co_return base::invalid_error("invalid_url", "not http or https: " + request.scheme);
        }
        if (!is_sendable(request))
            co_return base::invalid_error("invalid_request", "a line break or space in the request's head");
        if (request.port == 0) request.port = request.scheme == "https" ? 443 : 80;
        CO_TRY(const std::optional<Proxy> proxy,
               settings_.proxies.choose(request.scheme, request.host, request.port));
        auto key = impl::Pool::key_of(request, options);
        if (proxy) key += "|" + proxy->name();
        const bool forwarded = proxy && request.scheme == "http";
        if (forwarded) address_to_proxy(request, *proxy);
        if (auto pooled = pool_->take(key)) {
            const bool repeatable = request.method == "GET" || request.method == "HEAD";
            bool heard = false;
            Request copy = request;
            auto answer = co_await exchange(std::move(copy), options, std::move(pooled), key, heard);
            // The server may have closed the idle connection while our request was under way.
            const bool stale = !answer.has_value() && !heard &&
                               answer.error().kind == base::ErrorKind::unknown_outcome &&
                               answer.error().code != "timeout";
            if (!stale || !repeatable) co_return as_seen_by_caller(std::move(answer), forwarded, proxy);
        }
        CO_TRY(auto fresh, co_await connect(request, options, proxy));
        bool heard = false;
        auto answer = co_await exchange(std::move(request), std::move(options), std::move(fresh), key, heard);
        co_return as_seen_by_caller(std::move(answer), forwarded, proxy);
    }

private:
    // The proxy's own refusal is no answer of the server.
    static base::Result<Response> as_seen_by_caller(base::Result<Response> answer, bool forwarded,
                                                    const std::optional<Proxy>& proxy) {
        if (forwarded && answer.has_value() && answer->status == 407) return impl::proxy_wants_user(*proxy);
        return answer;
    }

    Task<std::shared_ptr<impl::Stream>> connect(const Request& request, const SendOptions& options,
                                                std::optional<Proxy> proxy) {
        impl::Target target;
        target.host = request.host;
        target.port = request.port;
        target.timeout = options.connect_timeout;
        target.proxy = std::move(proxy);
        if (request.scheme == "https") {
            CO_TRY(target.tls, pool_->tls(options));
        }
        co_return co_await impl::dial(clock_, std::move(target));
    }

    // `heard` tells whether any byte of an answer came; it lives in the awaiting frame.
    Task<Response> exchange(Request request, SendOptions options, std::shared_ptr<impl::Stream> stream,
                            std::string key, bool& heard) {
        auto made =
            std::make_unique<Exchange>(std::move(stream), pool_, std::move(key), request.method == "HEAD");
        made->stream().expires_after(options.timeout);
        Url url;
        url.scheme = request.scheme;
        url.host = request.host;
        url.port = request.port;
        std::string head = impl::request_head(request, url.authority());
        auto sent = co_await made->send(std::move(head), std::move(request.body));
        const bool may_have_answered = !sent.has_value() && sent.error().code == "connection_reset";
        if (!sent.has_value() && !may_have_answered) co_return std::move(sent).error();
        auto answer = co_await made->read_head();
        heard = made->heard_anything();
        if (!answer.has_value())
            co_return !sent.has_value() ? std::move(sent).error() : std::move(answer).error();
        if (options.stream) {
            made->stream().expires_never();
            answer->stream = std::make_unique<ExchangeStream>(std::move(made), options.read_timeout);
            co_return std::move(answer);
        }
        while (!made->is_done()) {
            CO_CHECK_OK(co_await made->read_more());
            if (made->body().size() > options.max_body) co_return impl::body_too_large(options.max_body);
        }
        if (made->body().size() > options.max_body) co_return impl::body_too_large(options.max_body);
        answer->body = std::move(made->body());
        made->release();
        co_return std::move(answer);
    }

    rt::Clock& clock_;
    TransportSettings settings_;
    std::shared_ptr<impl::Pool> pool_;
};

}  // namespace

std::unique_ptr<Transport> make_socket_transport(boost::asio::any_io_executor /*executor*/, rt::Clock& clock,
                                                 TransportSettings settings) {
    return std::make_unique<SocketTransport>(clock, std::move(settings));
}

}  // namespace instantstart::http
