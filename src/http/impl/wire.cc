#include "http/impl/wire.h"

#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>

#include "base/text.h"

namespace instantstart::http::impl {

namespace {

std::string reason_of(int status) {
    const auto known = boost::beast::http::int_to_status(static_cast<unsigned>(status));
    if (known == boost::beast::http::status::unknown) return "Unknown";
    const auto reason = boost::beast::http::obsolete_reason(known);
    return {reason.data(), reason.size()};
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
    out += name;
    out += ": ";
    for (const char c : value) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
    out += "\r\n";
}

// Framing is ours to say.
bool is_framing(std::string_view name) {
    return base::iequals(name, "Content-Length") || base::iequals(name, "Transfer-Encoding") ||
           base::iequals(name, "Connection");
}

}  // namespace

std::string response_head(const Response& response, Framing framing, std::size_t length, bool keep_alive,
                          const std::string& date) {
    std::string out =
        "HTTP/1.1 " + std::to_string(response.status) + " " + reason_of(response.status) + "\r\n";
    for (const auto& [name, value] : response.headers.fields()) {
        if (!is_framing(name)) append_field(out, name, value);
    }
    if (!response.headers.has("Date")) append_field(out, "Date", date);
    if (framing == Framing::length) append_field(out, "Content-Length", std::to_string(length));
    if (framing == Framing::chunked) append_field(out, "Transfer-Encoding", "chunked");
    append_field(out, "Connection", keep_alive ? "keep-alive" : "close");
    return out + "\r\n";
}

std::string request_head(const Request& request, const std::string& authority) {
    std::string out = request.method + " " + request.target + " HTTP/1.1\r\n";
    if (!request.headers.has("Host")) append_field(out, "Host", authority);
    for (const auto& [name, value] : request.headers.fields()) {
        if (!is_framing(name)) append_field(out, name, value);
    }
    const bool usually_has_body =
        request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (!request.body.empty() || usually_has_body)
        append_field(out, "Content-Length", std::to_string(request.body.size()));
    return out + "\r\n";
}

std::string chunk(const std::string& piece) {
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16).ptr;
    std::string out(digits.data(), end);
    out.reserve(out.size() + piece.size() + 4);
    out += "\r\n";
    out += piece;
    out += "\r\n";
    return out;
}

}  // namespace instantstart::http::impl
