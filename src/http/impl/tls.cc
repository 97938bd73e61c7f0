// TLS over Asio: the one source that includes asio/ssl.
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <fstream>

#include "http/impl/stream.h"
#include "rt/event.h"

namespace instantstart::http::impl {

namespace ssl = asio::ssl;

class TlsContext {
public:
    explicit TlsContext(ssl::context::method method) : context(method) {}
    ssl::context context;
};

namespace {

base::Error tls_error(std::string message, const boost::system::error_code& code) {
    return base::Error(base::ErrorKind::unavailable, "tls", message + ": " + code.message());
}

class TlsStream final : public Stream {
public:
    TlsStream(tcp::socket socket, std::shared_ptr<TlsContext> context, std::string peer_name)
        : Stream(std::move(socket)),
          context_(std::move(context)),
          peer_name_(std::move(peer_name)),
          tls_(socket_, context_->context) {}

    Task<void> handshake() override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        if (!peer_name_.empty()) expect_name();
        const auto side = peer_name_.empty() ? ssl::stream_base::server : ssl::stream_base::client;
        const auto [code] = co_await tls_.async_handshake(side, asio::as_tuple(asio::use_awaitable));
        if (!code) co_return base::ok();
        if (timed_out() || code == asio::error::operation_aborted) co_return error_of(code);
        const auto verified = SSL_get_verify_result(tls_.native_handle());
        if (!peer_name_.empty() && verified != X509_V_OK) {
            co_return base::Error(base::ErrorKind::unavailable, "tls",
                                  "the certificate of " + peer_name_ +
                                      " is not trusted: " + X509_verify_cert_error_string(verified))
                .with_hint(
                    "Where a company's proxy signs anew, name its authorities in AWS_CA_BUNDLE or "
                    "SSL_CERT_FILE.");
        }
        co_return tls_error("no TLS with " + (peer_name_.empty() ? "the client" : peer_name_), code);
    }

    Task<std::size_t> read_some(char* to, std::size_t most) override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        const auto room = asio::buffer(to, most);
        const auto [code, count] = co_await tls_.async_read_some(room, asio::as_tuple(asio::use_awaitable));
        if (code == asio::error::eof || code == ssl::error::stream_truncated) co_return std::size_t{0};
        if (code) co_return error_of(code);
        co_return count;
    }

    Task<void> write(std::string data) override {
        if (co_await rt::is_cancelled()) co_return base::cancelled_error();
        const auto bytes = asio::buffer(data);
        const auto [code, count] =
            co_await asio::async_write(tls_, bytes, asio::as_tuple(asio::use_awaitable));
        if (code) co_return error_of(code);
        co_return base::ok();
    }

private:
    // An address is verified against the certificate's addresses, a name against its names (and sent as SNI).
    void expect_name() {
        auto* handle = tls_.native_handle();
        auto* wanted = SSL_get0_param(handle);
        boost::system::error_code no_address;
        asio::ip::make_address(peer_name_, no_address);
        if (!no_address) {
            X509_VERIFY_PARAM_set1_ip_asc(wanted, peer_name_.c_str());
            return;
        }
        SSL_set_hostflags(handle, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        X509_VERIFY_PARAM_set1_host(wanted, peer_name_.c_str(), 0);
        SSL_ctrl(handle, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, peer_name_.data());
    }

    std::shared_ptr<TlsContext> context_;
    std::string peer_name_;
    ssl::stream<tcp::socket&> tls_;
};

base::Error no_authorities(const std::string& what) {
    return base::Error(base::ErrorKind::unavailable, "tls", what)
        .with_hint("Install the package ca-certificates, or name a bundle in SSL_CERT_FILE.");
}

base::Result<void> load_authorities(ssl::context& context, const std::string& file,
                                    const std::string& named_by) {
    boost::system::error_code code;
    context.load_verify_file(file, code);
    if (!code) return base::ok();
    return no_authorities("no certificate authorities can be read from " + file + named_by + ": " +
                          code.message());
}

// The machine's authorities: what the environment names, else the places of the usual systems.
base::Result<void> load_machine_authorities(ssl::context& context) {
    for (const char* variable : {"AWS_CA_BUNDLE", "SSL_CERT_FILE"}) {
        const char* value = std::getenv(variable);
        if (value == nullptr || *value == '\0') continue;
        return load_authorities(context, value, std::string(", which ") + variable + " names");
    }
    for (const auto* place : {"/etc/ssl/certs/ca-certificates.crt",                 // Debian, Alpine
                              "/etc/pki/tls/certs/ca-bundle.crt",                   // Amazon Linux
                              "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Amazon Linux 2023
                              "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem"}) {
        if (std::ifstream(place).good() && load_authorities(context, place, "").has_value())
            return base::ok();
    }
    return no_authorities("this machine has no certificate authorities");
}

base::Result<void> use_certificate(ssl::context& context, const std::string& cert_pem,
                                   const std::string& key_pem) {
    boost::system::error_code code;
    context.use_certificate_chain(asio::buffer(cert_pem), code);
    if (code) return tls_error("the certificate cannot be read", code);
    context.use_private_key(asio::buffer(key_pem), ssl::context::pem, code);
    if (code) return tls_error("the private key cannot be read", code);
    return base::ok();
}

std::shared_ptr<TlsContext> make_context(ssl::context::method method) {
    auto made = std::make_shared<TlsContext>(method);
    SSL_CTX_set_min_proto_version(made->context.native_handle(), TLS1_2_VERSION);
    return made;
}

}  // namespace

base::Result<std::shared_ptr<TlsContext>> make_server_tls(const std::string& cert_pem,
                                                          const std::string& key_pem) {
    auto made = make_context(ssl::context::tls_server);
    CHECK_OK(use_certificate(made->context, cert_pem, key_pem));
    return made;
}

base::Result<std::shared_ptr<TlsContext>> make_client_tls(const std::string& ca_pem,
                                                          const std::string& ca_file,
                                                          const std::string& cert_pem,
                                                          const std::string& key_pem) {
    auto made = make_context(ssl::context::tls_client);
    made->context.set_verify_mode(ssl::verify_peer);
    if (!ca_pem.empty()) {
        boost::system::error_code code;
        made->context.add_certificate_authority(asio::buffer(ca_pem), code);
        if (code) return tls_error("the authority's certificate cannot be read", code);
    } else if (!ca_file.empty()) {
        CHECK_OK(load_authorities(made->context, ca_file, ""));
    } else {
        CHECK_OK(load_machine_authorities(made->context));
    }
    if (!cert_pem.empty()) CHECK_OK(use_certificate(made->context, cert_pem, key_pem));
    return made;
}

std::shared_ptr<Stream> make_tls_stream(tcp::socket socket, std::shared_ptr<TlsContext> context,
                                        std::string peer_name) {
    return std::make_shared<TlsStream>(std::move(socket), std::move(context), std::move(peer_name));
}

}  // namespace instantstart::http::impl
