#include "api/guard.h"

#include <algorithm>

#include "base/text.h"

namespace instantstart::api {

std::string host_name(std::string_view authority) {
    if (authority.starts_with('[')) {
        const auto end = authority.find(']');
        return base::to_lower(authority.substr(1, end == std::string_view::npos ? end : end - 1));
    }
    return base::to_lower(authority.substr(0, authority.find(':')));
}

bool is_loopback_name(std::string_view host) {
    if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
    const auto parts = base::split(host, '.');
    const auto is_byte = [](const std::string& part) {
        constexpr std::size_t kDigits = 3;
        return !part.empty() && part.size() <= kDigits &&
               std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    return parts.size() == 4 && parts[0] == "127" && std::all_of(parts.begin(), parts.end(), is_byte);
}

base::Result<void> Guard::check_host(const http::Request& request) const {
    const std::string name = host_name(request.headers.get("Host"));
    if (is_loopback_name(name)) return base::ok();
    const bool allowed = std::any_of(allowed_.begin(), allowed_.end(),
                                     [&name](const std::string& host) { return base::iequals(host, name); });
    if (allowed && !name.empty()) return base::ok();
    return base::Error(base::ErrorKind::denied, "misdirected_request",
                       "This server is not known by the host name of the request")
        .with_hint("Use a loopback name, or start the server with --allow-host NAME.");
}

base::Result<void> Guard::check_origin(const http::Request& request, bool required) const {
    const std::string origin = request.headers.get("Origin");
    if (origin.empty() && !required) return base::ok();
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!origin.starts_with(scheme)) continue;
        if (base::iequals(std::string_view(origin).substr(scheme.size()), request.headers.get("Host")))
            return base::ok();
    }
    return base::Error(base::ErrorKind::denied, "foreign_origin",
                       "Requests from pages of another origin are refused");
}

}  // namespace instantstart::api
