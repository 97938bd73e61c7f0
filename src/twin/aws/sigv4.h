// Signature Version 4 from the verifier's side: recomputed from the request as it arrived, headers and
// presigned URLs alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"
#include "http/message.h"

namespace instantstart::twin {

struct Signature {
    Signature() = default;
    std::string access_key, day, region, service;  // the scope
    std::string time;                              // X-Amz-Date
    std::vector<std::string> signed_headers;
    std::string hex;
    std::string session_token;
    bool presigned = false;
    std::int64_t expires_seconds = 0;  // presigned only
};

enum class SignatureFault : std::uint8_t { malformed, mismatch, skewed, expired };

// nullopt where the request carries none; `malformed` where it cannot be read.
std::variant<std::monostate, Signature, SignatureFault> read_signature(const http::Request& request);
// nullopt where it is right. Skew is ±5 minutes for headers; a presigned URL lives from its time to its
// expiry.
std::optional<SignatureFault> check_signature(const http::Request& request, const Signature& signature,
                                              std::string_view secret, base::TimePoint now);

}  // namespace instantstart::twin
