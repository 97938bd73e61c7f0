#include "server/doctor_surroundings.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "base/text.h"
#include "base/time.h"
#include "server/surroundings.h"

namespace instantstart::server {

namespace {

using base::JsonObject;

// From there on AWS refuses signatures soon (it does at five minutes).
constexpr auto kSkewMost = std::chrono::minutes(4);

Finding proxy_finding(const http::TransportSettings& settings) {
    Finding finding("proxy");
    const auto lines = settings.proxies.describe();
    finding.seen = lines.empty() ? "none is set" : base::join(lines, "; ");
    if (finding.seen.find("cannot be used") == std::string::npos) return finding;
    finding.state = FindingState::failed;
    finding.remedy = "Set HTTPS_PROXY to http://host:port.";
    return finding;
}

// "" where the file holds a certificate.
std::string bundle_fault(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    // A folder opens, and cannot be read.
    if (!file || !(text << file.rdbuf())) return path + " cannot be read or is empty";
    for (const char* mark : {"-----BEGIN CERTIFICATE-----", "-----BEGIN TRUSTED CERTIFICATE-----"}) {
        if (text.str().find(mark) != std::string::npos) return "";
    }
    return path + " holds no certificate in PEM";
}

Finding authorities_finding(const JsonObject& explained) {
    Finding finding("certificate authorities");
    const std::string bundle = base::get_string(explained, "ca_bundle");
    const std::string of_openssl = environment("SSL_CERT_FILE");
    finding.seen = !bundle.empty()       ? bundle + " (AWS_CA_BUNDLE or ca_bundle of the profile), for AWS"
                   : !of_openssl.empty() ? of_openssl + " (SSL_CERT_FILE)"
                                         : "this machine's";
    const std::string naming =
        environment("AWS_CA_BUNDLE").empty() ? "ca_bundle of the profile" : "AWS_CA_BUNDLE";
    std::vector<std::string> faults, names;
    for (const auto& [path, name] :
         {std::pair(bundle, naming), std::pair(of_openssl, std::string("SSL_CERT_FILE"))}) {
        const std::string fault = path.empty() ? "" : bundle_fault(path);
        if (fault.empty()) continue;
        faults.push_back(name + ": " + fault);
        names.push_back(name);
    }
    if (faults.empty()) return finding;
    finding.state = FindingState::failed;
    finding.seen = base::join(faults, "; ");
    finding.remedy =
        "Let " + base::join(names, " and ") + " name a readable file of PEM certificates, or unset it.";
    return finding;
}

std::string tried_text(const JsonObject& credentials) {
    std::vector<std::string> lines;
    for (const auto& one : base::get_array(credentials, "tried")) {
        if (one.is_string()) lines.emplace_back(one.get_string());
    }
    return base::join(lines, "; ");
}

// Variables whose value begins or ends with white space, most often the end of a line: AWS takes no such key.
std::vector<std::string> spaced_variables() {
    std::vector<std::string> names;
    for (const char* name : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}) {
        const std::string value = environment(name);
        if (base::trim(value) != value) names.emplace_back(name);
    }
    return names;
}

Finding source_finding(const JsonObject& credentials) {
    Finding finding("source of credentials");
    const std::string tried = tried_text(credentials);
    const std::string source = base::get_string(credentials, "source");
    if (source.empty()) {
        finding.state = FindingState::failed;
        finding.seen = base::get_string(credentials, "error") + (tried.empty() ? "" : ". Tried: " + tried);
        finding.remedy = base::get_string(credentials, "hint");
        return finding;
    }
    const std::string ends = base::get_string(credentials, "expires");
    finding.seen = source + ", key " + base::get_string(credentials, "access_key") +
                   (ends.empty() ? "" : ", until " + ends) + (tried.empty() ? "" : ". Tried: " + tried);
    const auto spaced = source.find("AWS_ACCESS_KEY_ID") == std::string::npos ? std::vector<std::string>()
                                                                              : spaced_variables();
    if (spaced.empty()) return finding;
    finding.state = FindingState::failed;
    finding.seen = source + ": white space at the begin or end of " + base::join(spaced, " and ");
    finding.remedy = "Set " + base::join(spaced, " and ") + " without spaces and line ends.";
    return finding;
}

// What is set that decides the address of a service.
std::string endpoint_remedy(const std::string& service) {
    std::string of_service = "AWS_ENDPOINT_URL_" + service;
    std::transform(of_service.begin(), of_service.end(), of_service.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::string url = environment(of_service).empty() ? "AWS_ENDPOINT_URL" : of_service;
    std::vector<std::string> set;
    for (const std::string& name :
         {url, std::string("AWS_USE_FIPS_ENDPOINT"), std::string("AWS_USE_DUALSTACK_ENDPOINT")}) {
        if (!environment(name).empty()) set.push_back(name);
    }
    if (set.empty()) return "Mend endpoint_url, use_fips_endpoint or use_dualstack_endpoint of the profile.";
    return "Mend or unset " + base::join(set, " or ") + ".";
}

Finding endpoints_finding(const JsonObject& endpoints) {
    Finding finding("endpoints");
    std::vector<std::string> lines;
    for (const auto& entry : endpoints) {
        const std::string url = base::get_string(endpoints, std::string(entry.key()));
        lines.push_back(std::string(entry.key()) + " " + url);
        if (!url.starts_with("none: ")) continue;
        finding.state = FindingState::failed;
        finding.remedy = endpoint_remedy(std::string(entry.key()));
    }
    finding.seen = base::join(lines, ", ");
    return finding;
}

// The clock of STS, which every answer carries: even one that refuses.
rt::Task<Finding> clock_finding(http::Transport& transport, rt::Clock& clock, std::string url,
                                std::string ca_bundle) {
    Finding finding("clock");
    const auto parsed = http::parse_url(url);
    if (!parsed.has_value()) {
        finding.state = FindingState::warn;
        finding.seen = "could not be compared: STS has no address";
        co_return finding;
    }
    http::Request request;
    request.scheme = parsed->scheme;
    request.host = parsed->host;
    request.port = parsed->port;
    http::SendOptions options;
    options.ca_file = std::move(ca_bundle);
    options.timeout = std::chrono::seconds(10);
    auto answered = co_await transport.send({}, std::move(request), options);
    if (!answered.has_value()) {
        if (answered.error().kind == base::ErrorKind::cancelled) co_return std::move(answered).error();
        finding.what = "way to AWS";
        finding.state = FindingState::failed;
        finding.seen = url + " cannot be reached: " + answered.error().message;
        finding.remedy = answered.error().hint.empty()
                             ? "Check the network, DNS, the proxy and AWS_ENDPOINT_URL."
                             : answered.error().hint;
        co_return finding;
    }
    const auto theirs = base::parse_time(answered->headers.get("Date"));
    if (!theirs) {
        finding.state = FindingState::warn;
        finding.seen = "could not be compared: " + url + " answers without a date";
        co_return finding;
    }
    const base::Duration ahead = clock.now() - *theirs;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    finding.seen = "this machine is " + std::to_string(seconds < 0 ? -seconds : seconds) + " s " +
                   (seconds < 0 ? "behind" : "ahead of") + " AWS";
    if (ahead < kSkewMost && ahead > -kSkewMost) co_return finding;
    finding.state = FindingState::warn;
    finding.remedy = "Set the clock (NTP). Signatures are corrected, tokens and certificates may not be.";
    co_return finding;
}

}  // namespace

rt::Task<bool> check_surroundings(aws::Client& client, http::Transport& transport, rt::Clock& clock,
                                  http::TransportSettings settings, std::vector<Finding>& findings) {
    CO_TRY(const JsonObject explained, co_await client.explain({}));
    const JsonObject& credentials = base::get_object(explained, "credentials");
    const JsonObject& endpoints = base::get_object(explained, "endpoints");
    findings.push_back(proxy_finding(settings));
    findings.push_back(authorities_finding(explained));
    findings.push_back(endpoints_finding(endpoints));
    const std::string sts = base::get_string(endpoints, "sts");
    const std::string bundle = base::get_string(explained, "ca_bundle");
    CO_TRY(Finding clock_seen, co_await clock_finding(transport, clock, sts, bundle));
    findings.push_back(std::move(clock_seen));
    findings.push_back(source_finding(credentials));
    co_return findings.back().state == FindingState::good;
}

}  // namespace instantstart::server
