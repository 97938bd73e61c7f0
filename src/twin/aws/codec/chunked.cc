#include "twin/aws/codec/chunked.h"

#include <charconv>

#include "base/text.h"

namespace instantstart::twin::codec {

namespace {

base::Error incomplete() {
    return base::invalid_error("IncompleteBody", "The request body terminated unexpectedly");
}

void read_trailers(std::string_view rest, http::Request& request) {
    while (!rest.empty()) {
        const auto end = rest.find('\n');
        const std::string_view line = base::trim(rest.substr(0, end));
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        request.headers.set(base::trim(line.substr(0, colon)),
                            std::string(base::trim(line.substr(colon + 1))));
    }
}

}  // namespace

bool is_aws_chunked(const http::Request& request) {
    return request.headers.get("x-amz-content-sha256").starts_with("STREAMING-") ||
           request.headers.get("content-encoding").find("aws-chunked") != std::string::npos;
}

base::Result<void> decode_aws_chunked(http::Request& request) {
    std::string body;
    std::string_view rest = request.body;
    for (;;) {
        const auto line_end = rest.find("\r\n");
        if (line_end == std::string_view::npos) return incomplete();
        const std::string_view size_text = rest.substr(0, std::min(rest.find(';'), line_end));
        std::size_t size = 0;
        const auto read = std::from_chars(size_text.data(), size_text.data() + size_text.size(), size, 16);
        if (read.ec != std::errc() || read.ptr != size_text.data() + size_text.size()) return incomplete();
        rest.remove_prefix(line_end + 2);
        if (size == 0) break;
        if (rest.size() < 2 || size > rest.size() - 2) return incomplete();
        body.append(rest.substr(0, size));
        rest.remove_prefix(size + 2);
    }
    const std::string trailers(rest);
    const std::string length = request.headers.get("x-amz-decoded-content-length");
    if (!length.empty() && length != std::to_string(body.size())) return incomplete();
    request.body = std::move(body);
    read_trailers(trailers, request);
    std::string encoding = request.headers.get("content-encoding");
    if (encoding == "aws-chunked")
        request.headers.remove("content-encoding");
    else if (encoding.starts_with("aws-chunked,"))
        request.headers.set("content-encoding", encoding.substr(12));
    return base::ok();
}

}  // namespace instantstart::twin::codec
