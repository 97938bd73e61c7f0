// Connecting to a server: names, addresses, TLS.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "http/impl/stream.h"
#include "http/proxy.h"
#include "rt/clock.h"

namespace instantstart::http::impl {

struct Target {
    Target() = default;
    std::string host;
    std::uint16_t port = 0;
    std::shared_ptr<TlsContext> tls;                   // null: plain
    base::Duration timeout = std::chrono::seconds(5);  // for all of it together
    std::optional<Proxy> proxy;  // on the way: a tunnel with `tls`, else the place itself
};

// A connection ready for the first request. All errors are `unavailable` ("dns", "connection_refused", "tls",
// "connect_timeout", "proxy") or `cancelled`: nothing of a request has been sent.
Task<std::shared_ptr<Stream>> dial(rt::Clock& clock, Target target);

// What a proxy means that answers 407.
base::Error proxy_wants_user(const Proxy& proxy);

}  // namespace instantstart::http::impl
