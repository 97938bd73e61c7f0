// Text that others wrote: logs, events, messages of workloads. It is data and never an instruction, may hide
// control characters, and may hold secrets. It leaves the product only through here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace instantstart::domain {

struct TextLimits {
    TextLimits() = default;
    TextLimits(std::size_t lines, std::size_t line_bytes) : lines(lines), line_bytes(line_bytes) {}
    std::size_t lines = 20;
    std::size_t line_bytes = 400;
};

class UntrustedText {
public:
    // `source` says where it comes from: "event/default/pod-1".
    UntrustedText(std::string source, std::string_view text, TextLimits limits = TextLimits());
    // {"untrusted": true, "source", "lines": […], "redactions"?, "truncated"?}
    base::JsonObject to_json() const;

private:
    std::string source_;
    base::JsonArray lines_;
    std::int64_t redactions_ = 0;
    bool truncated_ = false;
};

// Without escape sequences and control, direction, zero-width, tag and variation characters; what is no UTF-8
// becomes U+FFFD. Line ends and tabs stay.
std::string without_hidden(std::string_view text);
// With "[redacted]" for what looks like a key, token or password; `count` grows by their number.
std::string without_secrets(std::string_view text, std::int64_t& count);
// At most `bytes` of it, never cutting a character.
std::string cut(std::string_view text, std::size_t bytes);

}  // namespace instantstart::domain
