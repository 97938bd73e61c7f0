#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>

#include "base/check.h"
#include "base/text.h"

namespace instantstart::base {

namespace {

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string digest(const EVP_MD* algorithm, std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned size = 0;
    CHECK(EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, algorithm, nullptr) == 1);
    return {reinterpret_cast<const char*>(out.data()), size};
}

}  // namespace

std::string sha256(std::string_view bytes) {
    return digest(EVP_sha256(), bytes);
}

std::string sha256_hex(std::string_view bytes) {
    return hex(sha256(bytes));
}

std::string sha1(std::string_view bytes) {
    return digest(EVP_sha1(), bytes);
}

std::string md5(std::string_view bytes) {
    return digest(EVP_md5(), bytes);
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
    unsigned size = 0;
    CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(bytes), bytes.size(), out.data(), &size) != nullptr);
    return {reinterpret_cast<const char*>(out.data()), size};
}

bool constant_time_equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) == 1);
    return out;
}

}  // namespace instantstart::base
