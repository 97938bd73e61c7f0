#include "http/proxy.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <charconv>

#include "base/text.h"
#include "http/message.h"

namespace instantstart::http {

namespace {

namespace ip = boost::asio::ip;

std::optional<ip::address> address_of(const std::string& host) {
    boost::system::error_code failed;
    ip::address found = ip::make_address(host, failed);
    if (failed) return std::nullopt;
    // An IPv4 address in IPv6's clothes is judged as what it is.
    if (found.is_v6() && found.to_v6().is_v4_mapped())
        return ip::make_address_v4(ip::v4_mapped, found.to_v6());
    return found;
}

bool is_within(const ip::address& address, const std::string& range) {
    boost::system::error_code failed;
    if (address.is_v4()) {
        const auto network = ip::make_network_v4(range, failed);
        if (failed) return false;
        return network.canonical().network() ==
               ip::network_v4(address.to_v4(), network.prefix_length()).network();
    }
    const auto network = ip::make_network_v6(range, failed);
    if (failed) return false;
    return network.canonical().network() ==
           ip::network_v6(address.to_v6(), network.prefix_length()).canonical().network();
}

// This machine, and what only this machine can answer: a proxy would give another machine's credentials.
bool is_local(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost")) return true;
    const auto address = address_of(host);
    if (!address) return false;
    if (address->is_loopback() || address->is_unspecified()) return true;
    if (address->is_v4()) return is_within(*address, "169.254.0.0/16");
    return is_within(*address, "fe80::/10") || is_within(*address, "fd00:ec2::/32");
}

// "http://user:password@host:port", where scheme, user and port may be left out; or why it cannot be used.
base::Result<Proxy> parse_proxy(const std::string& text) {
    const auto bad = [](const std::string& why) { return base::invalid_error("invalid_proxy", why); };
    const std::size_t mark = text.find("://");
    const std::string scheme = mark == std::string::npos ? "http" : base::to_lower(text.substr(0, mark));
    std::string rest = mark == std::string::npos ? text : text.substr(mark + 3);
    if (scheme != "http")
        return bad("proxies are reached by http:// only, not by " + scheme +
                   ":// (TLS to AWS goes through such a proxy untouched)");
    rest = rest.substr(0, rest.find_first_of("/?#"));
    Proxy out;
    if (const std::size_t at = rest.rfind('@'); at != std::string::npos) {
        std::string user = rest.substr(0, at);
        rest = rest.substr(at + 1);
        const std::size_t colon = user.find(':');
        const std::string password = colon == std::string::npos ? "" : user.substr(colon + 1);
        user = base::percent_decode(user.substr(0, colon)) + ":" + base::percent_decode(password);
        out.authorization = "Basic " + base::base64_encode(user);
    }
    const bool has_port =
        !rest.empty() &&
        rest.find(':', rest.find(']') == std::string::npos ? 0 : rest.find(']')) != std::string::npos;
    const auto url = parse_url("http://" + rest + "/");
    if (!url.has_value()) return bad("it is not of the form http://[user:password@]host[:port]");
    out.host = url->host;
    // As curl: a proxy without a port listens on 1080 there, but the SDKs and kubectl take 80.
    out.port = has_port ? url->port : 80;
    return out;
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), port);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || port == 0) return std::nullopt;
    return port;
}

}  // namespace

std::string Proxy::name() const {
    Url url;
    url.scheme = "proxy";
    url.host = host;
    url.port = port;
    return "http://" + url.authority();
}

ProxyRules::Setting ProxyRules::read(const std::function<std::string(const std::string&)>& environment,
                                     std::vector<std::string> variables) {
    Setting out;
    for (const std::string& variable : variables) {
        const std::string text(base::trim(environment(variable)));
        if (text.empty()) continue;
        out.variable = variable;
        auto parsed = parse_proxy(text);
        if (parsed.has_value()) {
            out.proxy = std::move(parsed).value();
        } else {
            out.fault = parsed.error().message;
        }
        return out;
    }
    return out;
}

ProxyRules ProxyRules::from(const std::function<std::string(const std::string&)>& environment) {
    ProxyRules made;
    std::vector<std::string> plain = {"http_proxy"};
    if (environment("REQUEST_METHOD").empty()) plain.emplace_back("HTTP_PROXY");
    plain.insert(plain.end(), {"all_proxy", "ALL_PROXY"});
    made.plain_ = read(environment, std::move(plain));
    made.secure_ = read(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"});
    std::string list = environment("no_proxy");
    if (list.empty()) list = environment("NO_PROXY");
    std::replace_if(list.begin(), list.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }, ',');
    for (const std::string& part : base::split(list, ',')) {
        Exception one;
        one.text = base::to_lower(base::trim(part));
        if (one.text.empty()) continue;
        one.host = one.text;
        const std::size_t colon = one.host.rfind(':');
        const bool is_name_or_v4 = colon != std::string::npos && one.host.find(':') == colon;
        const bool is_bracketed = one.host.front() == '[';
        if (const auto port = colon == std::string::npos ? std::nullopt : port_of(one.host.substr(colon + 1));
            port && (is_name_or_v4 || (is_bracketed && colon > one.host.find(']')))) {
            one.port = *port;
            one.host = one.host.substr(0, colon);
        }
        if (one.host.starts_with('[') && one.host.ends_with(']'))
            one.host = one.host.substr(1, one.host.size() - 2);
        if (one.host.starts_with("*.")) one.host = one.host.substr(1);
        made.exceptions_.push_back(std::move(one));
    }
    return made;
}

bool ProxyRules::is_direct(const std::string& host, std::uint16_t port) const {
    const auto address = address_of(host);
    return std::any_of(exceptions_.begin(), exceptions_.end(), [&](const Exception& one) {
        if (one.host == "*") return true;
        if (one.port != 0 && one.port != port) return false;
        if (address) {
            const auto named = address_of(one.host);
            return named ? *named == *address : is_within(*address, one.host);
        }
        const std::string bare = one.host.starts_with('.') ? one.host.substr(1) : one.host;
        return !bare.empty() && (host == bare || host.ends_with("." + bare));
    });
}

base::Result<std::optional<Proxy>> ProxyRules::choose(const std::string& scheme,
                                                      const std::string& host_given,
                                                      std::uint16_t port) const {
    const Setting& setting = scheme == "https" ? secure_ : plain_;
    std::string host = base::to_lower(host_given);
    if (host.ends_with('.')) host.pop_back();
    if (setting.variable.empty() || is_local(host) || is_direct(host, port)) return std::optional<Proxy>();
    if (setting.proxy) return setting.proxy;
    return base::Error(base::ErrorKind::unavailable, "proxy",
                       setting.variable + " cannot be used: " + setting.fault)
        .with_hint("Set " + setting.variable + " to http://host:port, or name " + host + " in NO_PROXY.");
}

std::vector<std::string> ProxyRules::describe() const {
    std::vector<std::string> out;
    const auto add = [&out](const std::string& scheme, const Setting& setting) {
        if (setting.variable.empty()) return;
        if (!setting.proxy) {
            out.push_back(scheme + ": " + setting.variable + " cannot be used: " + setting.fault);
            return;
        }
        const bool has_user = !setting.proxy->authorization.empty();
        out.push_back(scheme + " through " + setting.proxy->name() + (has_user ? " with a user" : "") + " (" +
                      setting.variable + ")");
    };
    add("https", secure_);
    add("http", plain_);
    std::vector<std::string> names;
    names.reserve(exceptions_.size());
    for (const Exception& one : exceptions_) names.push_back(one.text);
    if (!out.empty() && !names.empty()) out.push_back("but directly to " + base::join(names, ", "));
    return out;
}

}  // namespace instantstart::http
