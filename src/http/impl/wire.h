// The text of message heads.
#pragma once

#include <string>

#include "http/message.h"

namespace instantstart::http::impl {

enum class Framing : std::uint8_t { length, chunked, until_close, none };

// The head of an answer up to and with the empty line. Line breaks within values become spaces, so that no
// value can add a header. `length` is used for Framing::length.
std::string response_head(const Response& response, Framing framing, std::size_t length, bool keep_alive,
                          const std::string& date);
// The head of a request to a server.
std::string request_head(const Request& request, const std::string& authority);
std::string chunk(const std::string& piece);

}  // namespace instantstart::http::impl
