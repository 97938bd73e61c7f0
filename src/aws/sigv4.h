// Signature Version 4: in the Authorization header, or in the query of a URL that somebody else will fetch.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/time.h"
#include "http/message.h"

namespace instantstart::aws {

struct Credentials {
    Credentials() = default;
    std::string access_key, secret_key, session_token;
    std::optional<base::TimePoint> expires;
    std::string source;  // where they came from, in words for people
};

// S3 encodes a path once and wants the hash of the payload as a header; all others encode it twice.
enum class SigningStyle : std::uint8_t { common, s3 };

struct SigningScope {
    SigningScope() = default;
    std::string region, service;
    SigningStyle style = SigningStyle::common;
};

// Sets X-Amz-Date, X-Amz-Security-Token, for S3 x-amz-content-sha256, and Authorization. Every header present
// is signed but those that proxies change.
void sign(http::Request& request, const Credentials& credentials, const SigningScope& scope,
          base::TimePoint now);

// The target (path and query) of `request` with its signature: valid for `valid`, without a body. Headers
// present are signed.
std::string presigned_target(const http::Request& request, const Credentials& credentials,
                             const SigningScope& scope, base::TimePoint now, std::chrono::seconds valid);

// The steps on the way, for tests against published vectors.
std::string canonical_request(const http::Request& request, SigningStyle style,
                              const std::string& payload_hash);
std::string string_to_sign(const std::string& canonical, const SigningScope& scope, base::TimePoint now);

}  // namespace instantstart::aws
