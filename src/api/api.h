// Api: the one HTTP handler of the product. Checks host and origin, finds out who asks, and hands over to a
// face.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/auth.h"
#include "api/guard.h"
#include "api/mcp/mcp.h"
#include "api/metrics.h"
#include "api/rest/rest.h"
#include "api/rest/stream.h"
#include "api/web/web.h"
#include "app/execute.h"
#include "http/server.h"

namespace instantstart::api {

struct ApiSettings {
    ApiSettings() = default;
    AuthSettings auth;
    std::vector<std::string> allowed_hosts;
    std::string version;
    bool secure_cookies = false;  // served over TLS
};

class Api {
public:
    Api(boost::asio::any_io_executor executor, rt::Clock& clock, app::Executor& operations,
        ApiSettings settings);

    boost::asio::awaitable<http::Response> handle(rt::Context context, http::Request request);
    // Closes streams; ordinary requests end by themselves.
    boost::asio::awaitable<void> stop();

    Auth& auth() { return auth_; }
    Metrics& metrics() { return metrics_; }
    Stream& stream() { return stream_; }
    // Empty when ready, else why not; for /readyz. Set by the composition root.
    std::function<rt::Task<base::JsonObject>(rt::Context)> why_not_ready;

private:
    struct Routed;
    boost::asio::awaitable<http::Response> route(rt::Context context, http::Request request,
                                                 std::string& face);
    boost::asio::awaitable<http::Response> api(rt::Context context, http::Request request, std::string path);
    boost::asio::awaitable<http::Response> ready(rt::Context context);
    http::Response session(const http::Request& request);
    http::Response login(const http::Request& request);
    http::Response upgrade(const http::Request& request);
    http::Response openapi(const http::Request& request);
    // Who asks; with the Origin rule for what a browser's cookie signs.
    base::Result<Auth::Asked> admit(const http::Request& request, bool unsafe);
    http::Response with_cookie(http::Response response, const std::string& id) const;

    rt::Clock& clock_;
    app::Executor& operations_;
    ApiSettings settings_;
    Guard guard_;
    Auth auth_;
    Metrics metrics_;
    Web web_;
    Rest rest_;
    mcp::Mcp mcp_;
    Stream stream_;
    std::string openapi_;
};

// What the server itself refuses (400, 408, 413, 431), as a problem document.
http::Response refused_by_server(int status, std::string detail);

}  // namespace instantstart::api
