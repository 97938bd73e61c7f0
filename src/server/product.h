// Product: the control plane put together over its seams (clock, transport, store). main() builds one on
// sockets and SQLite; the simulation builds one on a virtual clock, an in-memory network and disk, and kills
// it at will.
#pragma once

#include <memory>
#include <string>

#include "app/services.h"
#include "aws/client.h"
#include "http/server.h"
#include "http/transport.h"
#include "rt/clock.h"
#include "store/store.h"

namespace instantstart::server {

struct ProductOptions {
    ProductOptions() = default;
    app::Settings settings;
    aws::ClientSettings aws;
    std::string account;      // expected account of the data folder; "" = learn from STS
    std::string admin_token;  // principal "admin"
    std::string token_file;
    bool secure_cookies = false;  // served over TLS
    std::vector<std::string> allowed_hosts;
    int rate_mutations_a_minute = -1;  // -1 = the defaults of each face
    int rate_queries_a_second = -1;
};

class Product {
public:
    virtual ~Product() = default;
    // Starts the engine (unfinished operations go on) and background refreshers.
    virtual rt::Task<void> start() = 0;
    virtual http::Handler handler() = 0;  // /, /api/v1, /mcp, /healthz, …
    virtual app::Services& services() = 0;
    virtual std::string make_login_code() = 0;
    virtual boost::asio::awaitable<void> stop() = 0;
};

std::unique_ptr<Product> make_product(boost::asio::any_io_executor executor, rt::Clock& clock,
                                      http::Transport& transport, store::Store& store,
                                      ProductOptions options);

}  // namespace instantstart::server
