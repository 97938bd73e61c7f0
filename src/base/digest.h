// SHA-256, MD5, HMAC and random bytes by OpenSSL: the one place outside http that includes it.
#pragma once

#include <string>
#include <string_view>

namespace instantstart::base {

std::string sha256(std::string_view bytes);                             // 32 raw bytes
std::string sha256_hex(std::string_view bytes);                         // 64 lower-case digits
std::string hmac_sha256(std::string_view key, std::string_view bytes);  // 32 raw bytes
std::string sha1(std::string_view bytes);                               // 20 raw bytes (thumbprints)
std::string md5(std::string_view bytes);  // 16 raw bytes (S3 ETags, Content-MD5)
bool constant_time_equal(std::string_view a, std::string_view b);
std::string random_bytes(
    std::size_t count);  // from the operating system; tokens and keys only (ids come from rt::Clock)

}  // namespace instantstart::base
