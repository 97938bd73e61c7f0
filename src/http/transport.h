// Transport: the seam of the network, client side. Signing, retries, parsing and watches run over it for real
// in every test.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/message.h"
#include "http/proxy.h"
#include "rt/clock.h"

namespace instantstart::http {

struct SendOptions {
    SendOptions() = default;
    base::Duration connect_timeout = std::chrono::seconds(5);
    base::Duration timeout =
        std::chrono::seconds(60);  // to the end of the headers, or of the body where it is not streamed
    base::Duration read_timeout = std::chrono::seconds(330);  // between two pieces of a streamed body
    bool stream = false;                                      // Response::stream instead of body
    std::size_t max_body = 64U << 20U;  // bytes; more is Error{invalid, "body_too_large"}
    std::string ca_pem;                 // https: trust only this authority; "" = ca_file
    std::string ca_file;  // https: trust the authorities in this file; "" = the machine's (SSL_CERT_FILE)
    std::string client_cert_pem;  // https: with client_key_pem
    std::string client_key_pem;
};

class Transport {
public:
    virtual ~Transport() = default;
    // One exchange. HTTP statuses are not errors. Errors:
    //   unavailable      proven not executed: codes "connection_refused", "dns", "tls", "connect_timeout",
    //   "proxy" unknown_outcome  bytes may have left: codes "connection_reset", "timeout", "truncated"
    //   cancelled        the connection is closed, not reused
    virtual Task<Response> send(Context context, Request request, SendOptions options) = 0;
};

struct TransportSettings {
    TransportSettings() = default;
    ProxyRules proxies;
};

// Sockets: keep-alive pool per authority and proxy, TLS verified always (through a proxy, too: it sees the
// host's name and no more). All on `executor`'s loop.
std::unique_ptr<Transport> make_socket_transport(boost::asio::any_io_executor executor, rt::Clock& clock,
                                                 TransportSettings settings = TransportSettings());

}  // namespace instantstart::http
