// Guard: which hosts and origins a request may name. Keeps web pages of other sites, and names that were made
// to resolve to this machine, away from every face.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "http/message.h"

namespace instantstart::api {

class Guard {
public:
    explicit Guard(std::vector<std::string> allowed_hosts) : allowed_(std::move(allowed_hosts)) {}

    // Host must be a loopback name (any port: forwarded ports differ) or an allowed one.
    base::Result<void> check_host(const http::Request& request) const;
    // An Origin, where sent, must be our own. With `required` it must be sent: unsafe requests and upgrades
    // by cookie.
    base::Result<void> check_origin(const http::Request& request, bool required) const;

private:
    std::vector<std::string> allowed_;
};

bool is_loopback_name(std::string_view host);
// "name:port" or "[::1]:port" -> the name, lower case, without brackets.
std::string host_name(std::string_view authority);

}  // namespace instantstart::api
