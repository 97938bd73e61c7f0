// Which requests go through a proxy: the rules of HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY as the
// usual programs (curl, the AWS SDKs, kubectl) read them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace instantstart::http {

struct Proxy {
    Proxy() = default;
    std::string host;
    std::uint16_t port = 0;
    std::string authorization;  // the value of Proxy-Authorization; "" for none. A secret
    std::string name() const;   // "http://host:port", for messages and logs
};

// Built once from the environment. A proxy that cannot be used (https:// or socks5://, no URL) is a fault
// that shows when a request would go through it: those that need no proxy are not hindered.
class ProxyRules {
public:
    ProxyRules() = default;  // none
    // `environment` looks a variable up ("" where unset). The lower-case name wins over the upper-case one,
    // and HTTP_PROXY in capitals is passed over in a CGI program (REQUEST_METHOD is set), where a client
    // could set it.
    static ProxyRules from(const std::function<std::string(const std::string&)>& environment);

    // The proxy for a request, none where it goes directly. Never proxied: this machine, link-local addresses
    // (instance metadata and container credentials), and what NO_PROXY names: "*"; a name, with all names
    // below it
    // ("example.com", ".example.com", "*.example.com"); an address; a range ("10.0.0.0/8"); each with ":port"
    // too.
    base::Result<std::optional<Proxy>> choose(const std::string& scheme, const std::string& host,
                                              std::uint16_t port) const;
    // One line each for what is set, without passwords; empty where nothing is.
    std::vector<std::string> describe() const;

private:
    struct Setting {
        Setting() = default;
        std::string variable;  // "" = not set
        std::optional<Proxy> proxy;
        std::string fault;
    };
    struct Exception {
        Exception() = default;
        std::string text, host;
        std::uint16_t port = 0;  // 0 = any
    };
    static Setting read(const std::function<std::string(const std::string&)>& environment,
                        std::vector<std::string> variables);
    bool is_direct(const std::string& host, std::uint16_t port) const;

    Setting plain_, secure_;
    std::vector<Exception> exceptions_;
};

}  // namespace instantstart::http
