#include "base/digest.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

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

// Fetched once: EVP_sha256() looks its implementation up at every use, which costs more than a short digest.
const EVP_MD* fetched_sha256() {
    static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return kAlgorithm;
}

// An HMAC that has its algorithm and waits for a key, to be copied.
const EVP_MAC_CTX* unkeyed_hmac() {
    static const EVP_MAC_CTX* const kContext = [] {
        char name[] = "SHA256";
        const OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string("digest", name, 0),
                                     OSSL_PARAM_construct_end()};
        EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        EVP_MAC_CTX* context = EVP_MAC_CTX_new(mac);
        EVP_MAC_free(mac);
        CHECK(context != nullptr && EVP_MAC_CTX_set_params(context, params) == 1);
        return context;
    }();
    return kContext;
}

}  // namespace

std::string sha256(std::string_view bytes) {
    return digest(fetched_sha256(), bytes);
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
    std::size_t size = 0;
    const std::string owned(key);  // never null, not even when empty
    const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_dup(unkeyed_hmac()),
                                                                            &EVP_MAC_CTX_free);
    CHECK(context != nullptr);
    CHECK(EVP_MAC_init(context.get(), bytes_of(owned), owned.size(), nullptr) == 1);
    CHECK(EVP_MAC_update(context.get(), bytes_of(bytes), bytes.size()) == 1);
    CHECK(EVP_MAC_final(context.get(), out.data(), &size, out.size()) == 1);
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
