// Dispatcher: one request to the AWS endpoint, from its signature to its answer. Owned by the twin, lives as
// long as its world.
#pragma once

#include <optional>

#include "http/server.h"
#include "twin/aws/codec/codec.h"
#include "twin/aws/keys.h"
#include "twin/aws/sigv4.h"
#include "twin/aws/world_impl.h"

namespace instantstart::twin {

class Dispatcher {
public:
    explicit Dispatcher(WorldImpl& world);
    boost::asio::awaitable<http::Response> handle(rt::Context context, http::Request request);

private:
    struct Exchange;
    void identify(Exchange& exchange) const;
    void authenticate(Exchange& exchange) const;
    Reply perform(Exchange& exchange, base::Duration stale);
    void record(const Exchange& exchange, int status, const std::string& error_code);
    http::Response finish(Exchange& exchange, const Reply& reply);

    WorldImpl& world_;
};

// Whether a Host header names this machine ("127.0.0.1:3097", "localhost", "bucket.localhost", "[::1]").
bool is_loopback_host(std::string_view host);

}  // namespace instantstart::twin
