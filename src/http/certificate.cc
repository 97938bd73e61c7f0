#include "http/certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <memory>

#include "base/digest.h"

namespace instantstart::http {

namespace {

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T* pointer) const {
        Free(pointer);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;
using Number = std::unique_ptr<BIGNUM, Deleter<BN_free>>;

base::Error failed(const char* what) {
    return base::internal_error(std::string("OpenSSL: cannot ") + what);
}

std::string text_of(BIO* bio) {
    char* data = nullptr;
    const auto size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<std::size_t>(size)};
}

base::Result<KeyPair> to_pem(X509* cert, EVP_PKEY* key) {
    const Bio cert_out(BIO_new(BIO_s_mem()));
    const Bio key_out(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(cert_out.get(), cert) != 1 ||
        PEM_write_bio_PKCS8PrivateKey(key_out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
        return failed("write PEM");
    }
    KeyPair pair;
    pair.cert_pem = text_of(cert_out.get());
    pair.key_pem = text_of(key_out.get());
    return pair;
}

bool add_extension(X509* cert, X509* issuer, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
    return extension && X509_add_ext(cert, extension.get(), -1) == 1;
}

void set_times(X509* cert, base::TimePoint from, base::TimePoint to) {
    ASN1_TIME_set(X509_getm_notBefore(cert), std::chrono::system_clock::to_time_t(from));
    ASN1_TIME_set(X509_getm_notAfter(cert), std::chrono::system_clock::to_time_t(to));
}

// A certificate of `key` with a random serial number, not yet signed.
Cert begin(EVP_PKEY* key, const std::string& common_name, base::TimePoint from, base::TimePoint to) {
    Cert cert(X509_new());
    auto serial = base::random_bytes(16);
    serial[0] = static_cast<char>(serial[0] & 0x7f);
    const Number number(BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()),
                                  static_cast<int>(serial.size()), nullptr));
    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(cert.get()));
    X509_set_version(cert.get(), X509_VERSION_3);
    set_times(cert.get(), from, to);
    X509_set_pubkey(cert.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.data()),
                               static_cast<int>(common_name.size()), -1, 0);
    return cert;
}

std::string alternative_names(const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) {
        boost::system::error_code no_address;
        boost::asio::ip::make_address(name, no_address);
        text += (text.empty() ? "" : ",") + std::string(no_address ? "DNS:" : "IP:") + name;
    }
    return text;
}

}  // namespace

base::Result<KeyPair> make_authority(const std::string& common_name, base::TimePoint now) {
    const Key key(EVP_EC_gen("P-256"));
    if (!key) return failed("make a key");
    const auto cert =
        begin(key.get(), common_name, now - std::chrono::hours(24), now + std::chrono::hours(24 * 3650));
    auto* self = cert.get();
    X509_set_issuer_name(self, X509_get_subject_name(self));
    if (!add_extension(self, self, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(self, self, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !add_extension(self, self, NID_subject_key_identifier, "hash")) {
        return failed("add an extension");
    }
    if (X509_sign(self, key.get(), EVP_sha256()) == 0) return failed("sign");
    return to_pem(self, key.get());
}

base::Result<KeyPair> make_server_certificate(const KeyPair& authority, const std::string& common_name,
                                              const std::vector<std::string>& names, base::TimePoint now) {
    const Bio cert_in(
        BIO_new_mem_buf(authority.cert_pem.data(), static_cast<int>(authority.cert_pem.size())));
    const Bio key_in(BIO_new_mem_buf(authority.key_pem.data(), static_cast<int>(authority.key_pem.size())));
    const Cert issuer(PEM_read_bio_X509(cert_in.get(), nullptr, nullptr, nullptr));
    const Key issuer_key(PEM_read_bio_PrivateKey(key_in.get(), nullptr, nullptr, nullptr));
    if (!issuer || !issuer_key)
        return base::invalid_error("invalid_authority", "the authority's certificate or key cannot be read");
    const Key key(EVP_EC_gen("P-256"));
    if (!key) return failed("make a key");
    const auto cert =
        begin(key.get(), common_name, now - std::chrono::hours(1), now + std::chrono::hours(24 * 365));
    auto* made = cert.get();
    X509_set_issuer_name(made, X509_get_subject_name(issuer.get()));
    const bool extended =
        add_extension(made, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") &&
        add_extension(made, issuer.get(), NID_key_usage, "critical,digitalSignature") &&
        add_extension(made, issuer.get(), NID_ext_key_usage, "serverAuth") &&
        add_extension(made, issuer.get(), NID_subject_key_identifier, "hash") &&
        add_extension(made, issuer.get(), NID_authority_key_identifier, "keyid") &&
        (names.empty() || add_extension(made, issuer.get(), NID_subject_alt_name, alternative_names(names)));
    if (!extended) return base::invalid_error("invalid_names", "the names do not fit into a certificate");
    if (X509_sign(made, issuer_key.get(), EVP_sha256()) == 0) return failed("sign");
    return to_pem(made, key.get());
}

}  // namespace instantstart::http
