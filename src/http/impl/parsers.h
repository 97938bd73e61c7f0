// The two parsers of HTTP/1.1, fed with bytes as they come. Beast is hidden in the source.
#pragma once

#include <memory>
#include <string>

#include "http/message.h"

namespace instantstart::http::impl {

class RequestParser {
public:
    RequestParser(std::size_t max_header, std::size_t max_body);
    ~RequestParser();
    RequestParser(const RequestParser&) = delete;
    RequestParser& operator=(const RequestParser&) = delete;

    enum class State : std::uint8_t { more, done, refused };
    // Takes what it can from the front of `input`.
    State feed(std::string& input);
    // Where refused: 400, 413 or 431, and why.
    int refusal() const { return refusal_; }
    const std::string& detail() const { return detail_; }
    bool expects_continue() const;  // the headers are complete and ask for 100 before the body
    bool keep_alive() const;
    bool is_http_1_0() const;
    Request take();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
    int refusal_ = 0;
    std::string detail_;
};

class ResponseParser {
public:
    explicit ResponseParser(bool to_head);
    ~ResponseParser();
    ResponseParser(const ResponseParser&) = delete;
    ResponseParser& operator=(const ResponseParser&) = delete;

    // Takes what it can from the front of `input` and appends body bytes to `body`. True when the message is
    // complete.
    base::Result<bool> feed(std::string& input, std::string& body);
    // The peer closed: an error (unknown_outcome, "truncated") where that is not the end of the message.
    base::Result<void> finish();
    bool is_header_done() const;
    bool keep_alive() const;
    Response head() const;  // status and headers

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace instantstart::http::impl
