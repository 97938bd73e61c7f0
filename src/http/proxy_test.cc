#include "http/proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace instantstart::http {
namespace {

ProxyRules rules(std::map<std::string, std::string> values) {
    return ProxyRules::from([values](const std::string& name) {
        const auto found = values.find(name);
        return found == values.end() ? std::string() : found->second;
    });
}

// "host:port", "" for a direct way, or the fault.
std::string way(const ProxyRules& rules, const std::string& scheme, const std::string& host,
                std::uint16_t port = 443) {
    const auto chosen = rules.choose(scheme, host, port);
    if (!chosen.has_value()) return chosen.error().message;
    return chosen->has_value() ? (*chosen)->host + ":" + std::to_string((*chosen)->port) : "";
}

TEST(Proxy, variables_choose_by_scheme_and_lower_case_wins) {
    const ProxyRules both = rules({{"HTTPS_PROXY", "http://secure:3128"}, {"http_proxy", "plain:8080"}});
    EXPECT_EQ(way(both, "https", "a.example"), "secure:3128");
    EXPECT_EQ(way(both, "http", "a.example", 80), "plain:8080");
    EXPECT_EQ(
        way(rules({{"HTTPS_PROXY", "http://upper:1"}, {"https_proxy", "http://lower:2"}}), "https", "a"),
        "lower:2");
    const ProxyRules all = rules({{"ALL_PROXY", "http://all"}, {"https_proxy", "http://[::1]:99/"}});
    EXPECT_EQ(way(all, "http", "a.example", 80), "all:80");
    EXPECT_EQ(way(all, "https", "a.example"), "::1:99");
    EXPECT_EQ(way(rules({}), "https", "a.example"), "");
}

TEST(Proxy, capitals_are_not_trusted_in_a_cgi_program) {
    const ProxyRules cgi = rules({{"REQUEST_METHOD", "GET"}, {"HTTP_PROXY", "http://evil"}});
    EXPECT_EQ(way(cgi, "http", "a.example", 80), "");
}

TEST(Proxy, user_and_password_become_a_header_and_are_not_shown) {
    const ProxyRules with = rules({{"HTTPS_PROXY", "http://me:p%40ss%3A@proxy:3128"}});
    const auto chosen = with.choose("https", "a.example", 443).value();
    EXPECT_EQ(chosen->authorization, "Basic bWU6cEBzczo=");
    EXPECT_EQ(chosen->name(), "http://proxy:3128");
    ASSERT_EQ(with.describe().size(), 1U);
    EXPECT_EQ(with.describe()[0], "https through http://proxy:3128 with a user (HTTPS_PROXY)");
}

TEST(Proxy, this_machine_and_its_metadata_are_never_proxied) {
    const ProxyRules all = rules({{"ALL_PROXY", "http://proxy:1"}});
    for (const char* host : {"localhost", "LOCALHOST", "x.localhost", "127.0.0.1", "127.9.9.9", "::1",
                             "0.0.0.0", "169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254",
                             "fd00:ec2::23", "fe80::1", "::ffff:127.0.0.1"}) {
        EXPECT_EQ(way(all, "http", host, 80), "") << host;
        EXPECT_EQ(way(all, "https", host), "") << host;
    }
    EXPECT_EQ(way(all, "https", "10.0.0.1"), "proxy:1");
    EXPECT_EQ(way(all, "https", "localhost.example"), "proxy:1");
    EXPECT_EQ(way(all, "https", "fd00:ec3::1"), "proxy:1");
}

TEST(Proxy, no_proxy_names_hosts_suffixes_addresses_ranges_and_ports) {
    const ProxyRules some = rules({{"HTTPS_PROXY", "http://proxy:1"},
                                   {"NO_PROXY",
                                    "Exact.example, .suffix.example *.star.example,10.1.0.0/16,192.0.2.7,"
                                    "fd12::/16,[2001:db8::1]:8443,ported.example:6443"}});
    const std::vector<std::pair<std::string, std::uint16_t>> direct = {
        {"exact.example", 443},  {"a.exact.example", 443}, {"EXACT.example.", 443},
        {"suffix.example", 443}, {"a.suffix.example", 1},  {"b.star.example", 443},
        {"10.1.200.3", 443},     {"192.0.2.7", 8443},      {"fd12:3::4", 443},
        {"2001:db8::1", 8443},   {"ported.example", 6443}, {"::ffff:10.1.0.9", 443}};
    for (const auto& [host, port] : direct) EXPECT_EQ(way(some, "https", host, port), "") << host;
    const std::vector<std::pair<std::string, std::uint16_t>> proxied = {
        {"inexact.example", 443}, {"xsuffix.example", 443}, {"10.2.0.1", 443},
        {"192.0.2.70", 443},      {"2001:db8::1", 443},     {"ported.example", 443}};
    for (const auto& [host, port] : proxied) EXPECT_EQ(way(some, "https", host, port), "proxy:1") << host;
    EXPECT_EQ(way(rules({{"HTTPS_PROXY", "http://proxy:1"}, {"no_proxy", "*"}}), "https", "a.example"), "");
    EXPECT_EQ(
        way(rules({{"HTTPS_PROXY", "http://proxy:1"}, {"no_proxy", ",, ,/8,.,:1"}}), "https", "a.example"),
        "proxy:1");
}

TEST(Proxy, one_that_cannot_be_used_hinders_only_those_who_need_it) {
    const ProxyRules socks = rules({{"ALL_PROXY", "socks5://p:1080"}, {"NO_PROXY", "direct.example"}});
    EXPECT_EQ(way(socks, "https", "direct.example"), "");
    EXPECT_NE(
        way(socks, "https", "a.example").find("ALL_PROXY cannot be used: proxies are reached by http://"),
        std::string::npos);
    EXPECT_EQ(socks.choose("https", "a.example", 443).error().code, "proxy");
    EXPECT_NE(way(rules({{"HTTPS_PROXY", "http://a b"}}), "https", "a.example").find("not of the form"),
              std::string::npos);
}

}  // namespace
}  // namespace instantstart::http
