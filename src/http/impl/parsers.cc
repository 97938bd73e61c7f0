#include "http/impl/parsers.h"

#include <array>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "base/text.h"
#include "http/impl/bodies.h"

namespace instantstart::http::impl {

namespace beast = boost::beast::http;
namespace asio = boost::asio;

namespace {

template <class Fields>
Headers headers_of(const Fields& fields) {
    Headers headers;
    for (const auto& field : fields) {
        headers.add(std::string(field.name_string()), std::string(field.value()));
    }
    return headers;
}

}  // namespace

struct RequestParser::Impl {
    beast::request_parser<beast::string_body> parser;
};

RequestParser::RequestParser(std::size_t max_header, std::size_t max_body) : impl_(std::make_unique<Impl>()) {
    impl_->parser.header_limit(static_cast<std::uint32_t>(max_header));
    impl_->parser.body_limit(max_body);
    impl_->parser.eager(true);
}

RequestParser::~RequestParser() = default;

RequestParser::State RequestParser::feed(std::string& input) {
    while (!input.empty()) {
        boost::system::error_code code;
        const auto used = impl_->parser.put(asio::buffer(input), code);
        input.erase(0, used);
        if (code == beast::error::need_more) return State::more;
        if (code) {
            refusal_ = code == beast::error::body_limit     ? 413
                       : code == beast::error::header_limit ? 431
                                                            : 400;
            detail_ = refusal_ == 413   ? "the body is larger than this server takes"
                      : refusal_ == 431 ? "the headers are larger than this server takes"
                                        : "not a valid HTTP/1.1 request: " + code.message();
            return State::refused;
        }
        if (impl_->parser.is_done()) return State::done;
        if (used == 0) return State::more;
    }
    return impl_->parser.is_done() ? State::done : State::more;
}

bool RequestParser::expects_continue() const {
    if (!impl_->parser.is_header_done() || impl_->parser.is_done()) return false;
    return base::iequals(impl_->parser.get()[beast::field::expect], "100-continue");
}

bool RequestParser::keep_alive() const {
    return impl_->parser.keep_alive();
}

bool RequestParser::is_http_1_0() const {
    return impl_->parser.get().version() < 11;
}

Request RequestParser::take() {
    auto message = impl_->parser.release();
    Request request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    // A server must take the absolute form too.
    if (request.target.front() != '/') {
        if (auto url = parse_url(request.target); url.has_value()) request.target = std::move(url->target);
    }
    request.headers = headers_of(message);
    request.body = std::move(message.body());
    return request;
}

struct ResponseParser::Impl {
    beast::response_parser<beast::buffer_body> parser;
    std::array<char, 16384> scratch{};
};

ResponseParser::ResponseParser(bool to_head) : impl_(std::make_unique<Impl>()) {
    impl_->parser.header_limit(256U << 10U);
    impl_->parser.body_limit(boost::none);
    impl_->parser.eager(true);
    impl_->parser.skip(to_head);
}

ResponseParser::~ResponseParser() = default;

base::Result<bool> ResponseParser::feed(std::string& input, std::string& body) {
    auto& parser = impl_->parser;
    while (!input.empty() && !parser.is_done()) {
        auto& target = parser.get().body();
        target.data = impl_->scratch.data();
        target.size = impl_->scratch.size();
        target.more = true;
        boost::system::error_code code;
        const auto used = parser.put(asio::buffer(input), code);
        body.append(impl_->scratch.data(), impl_->scratch.size() - target.size);
        input.erase(0, used);
        if (code == beast::error::need_more) return false;
        if (code && code != beast::error::need_buffer) {
            return unknown_outcome("truncated", "the answer is not valid HTTP: " + code.message());
        }
        if (used == 0 && !code) return parser.is_done();
    }
    return parser.is_done();
}

base::Result<void> ResponseParser::finish() {
    boost::system::error_code code;
    if (impl_->parser.got_some()) impl_->parser.put_eof(code);
    if (code || !impl_->parser.is_done())
        return unknown_outcome("truncated", "the connection closed within the answer");
    return base::ok();
}

bool ResponseParser::is_header_done() const {
    return impl_->parser.is_header_done();
}

bool ResponseParser::keep_alive() const {
    return impl_->parser.keep_alive();
}

Response ResponseParser::head() const {
    Response response(static_cast<int>(impl_->parser.get().result_int()));
    response.headers = headers_of(impl_->parser.get());
    return response;
}

}  // namespace instantstart::http::impl
