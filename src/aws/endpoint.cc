#include "aws/endpoint.h"

#include <algorithm>
#include <cctype>

#include "base/embedded.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

using base::JsonObject;
using base::JsonValue;

// The parsed table, read once; facts built into the binary.
const JsonObject& table() {
    static const JsonValue parsed = [] {
        for (const auto& file : embedded::data()) {
            if (file.name == "endpoints.json") return base::parse_json(file.content).value();
        }
        return JsonValue(JsonObject());
    }();
    return parsed.get_object();
}

bool names_an_address(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost") || host.find(':') != std::string::npos)
        return true;
    return std::all_of(host.begin(), host.end(),
                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; });
}

// "CloudWatch Logs" -> "cloudwatch_logs".
std::string key_of(const model::Service& service) {
    std::string name = base::to_lower(service.service_id);
    std::replace_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
    return name;
}

std::string variable_of(const model::Service& service) {
    std::string name = "AWS_ENDPOINT_URL_" + key_of(service);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return name;
}

bool lists(const base::JsonArray& names, const std::string& name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const JsonValue& one) { return one.is_string() && one.get_string() == name; });
}

// "us-west-2" for the prefix "us": one word and a number follow.
bool follows(const std::string& region, const std::string& prefix) {
    if (!region.starts_with(prefix + "-")) return false;
    const std::vector<std::string> rest = base::split(region.substr(prefix.size() + 1), '-');
    const auto all = [](const std::string& text, int (*is)(int)) {
        return !text.empty() && std::all_of(text.begin(), text.end(), [is](char c) {
            return c == '_' || is(static_cast<unsigned char>(c)) != 0;
        });
    };
    return rest.size() == 2 && all(rest[0], std::isalnum) && all(rest[1], std::isdigit);
}

bool has_pattern(const JsonValue& partition, const std::string& region) {
    for (const JsonValue& prefix : base::get_array(partition, "prefixes")) {
        if (follows(region, std::string(prefix.get_string()))) return true;
    }
    return false;
}

const JsonObject& partition_facts(const std::string& region) {
    return base::get_object(base::get_object(table(), "partitions"), partition_of(region));
}

std::string filled(std::string text, std::string_view name, const std::string& value) {
    const std::size_t at = text.find(name);
    return at == std::string::npos ? text : text.replace(at, name.size(), value);
}

// The price list has one home per partition, which lists all regions.
std::string home_of(const model::Service& service, const std::string& region) {
    if (service.name != "pricing") return region;
    const std::string partition = partition_of(region);
    return partition == "aws" ? "us-east-1" : partition == "aws-cn" ? "cn-northwest-1" : region;
}

const JsonValue* rule_of(const JsonObject& rules, const std::string& region) {
    const auto entry = [&rules](const char* group, const std::string& name) {
        return base::get_object(rules, group).if_contains(name);
    };
    if (const JsonValue* of_region = entry("regions", region)) return of_region;
    if (const JsonValue* of_partition = entry("partitions", partition_of(region))) return of_partition;
    return rules.if_contains("usual");
}

base::Error no_endpoint(const std::string& message) {
    return base::invalid_error("no_endpoint", message);
}

base::Result<Endpoint> usual_endpoint(const model::Service& service, const std::string& region,
                                      EndpointSwitches switches) {
    const char* variant = switches.fips ? (switches.dual_stack ? "fips_dual_stack" : "fips")
                                        : (switches.dual_stack ? "dual_stack" : "plain");
    const JsonObject& services = base::get_object(table(), "services");
    const JsonObject& rules = base::get_object(base::get_object(services, service.name), variant);
    const JsonValue* rule = rule_of(rules, region);
    if (rule == nullptr) return no_endpoint("no endpoints are known of the service " + service.name);
    const std::string error = base::get_string(*rule, "error");
    if (!error.empty())
        return no_endpoint(service.name + " has no such endpoint in " + region + ": " + error)
            .with_hint("Unset AWS_USE_FIPS_ENDPOINT or AWS_USE_DUALSTACK_ENDPOINT, or use another region.");
    const JsonObject& facts = partition_facts(region);
    Endpoint out;
    out.host = rule->is_string() ? std::string(rule->get_string()) : base::get_string(*rule, "host");
    out.host = filled(out.host, "{region}", region);
    out.host = filled(out.host, "{suffix}", base::get_string(facts, "suffix"));
    out.host = filled(out.host, "{dual_suffix}", base::get_string(facts, "dual_suffix"));
    out.signing_region = base::get_string(*rule, "signed", region);
    return out;
}

}  // namespace

std::string Endpoint::url() const {
    http::Url url;
    url.scheme = scheme;
    url.host = host;
    url.port = port;
    return scheme + "://" + url.authority() + base_path;
}

EndpointSwitches endpoint_switches(const Environment& environment, const Profiles& profiles) {
    EndpointSwitches out;
    out.fips = is_switched_on(environment, profiles, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint");
    out.dual_stack =
        is_switched_on(environment, profiles, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint");
    return out;
}

std::string partition_of(const std::string& region) {
    const JsonObject& partitions = base::get_object(table(), "partitions");
    for (const auto& entry : partitions) {
        if (lists(base::get_array(entry.value(), "regions"), region)) return entry.key();
    }
    for (const auto& entry : partitions) {
        if (has_pattern(entry.value(), region)) return entry.key();
    }
    return "aws";
}

std::string dns_suffix_of(const std::string& region) {
    return base::get_string(partition_facts(region), "suffix");
}

bool is_region_name(const std::string& region) {
    const auto fits = [](char c) {
        return std::islower(static_cast<unsigned char>(c)) != 0 ||
               std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-';
    };
    return !region.empty() && region.size() <= 63 && region.front() != '-' && region.back() != '-' &&
           std::all_of(region.begin(), region.end(), fits);
}

base::Result<std::string> endpoint_override(const model::Service& service, const std::string& fixed,
                                            const Environment& environment, const Profiles& profiles) {
    if (!fixed.empty()) return fixed;
    if (is_switched_on(environment, profiles, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                       "ignore_configured_endpoint_urls"))
        return std::string();
    for (const std::string& variable : {variable_of(service), std::string("AWS_ENDPOINT_URL")}) {
        const std::string url = environment(variable);
        if (!url.empty()) return url;
    }
    const std::string profile = profile_name(environment);
    TRY(const std::string of_service, profiles.service_value(profile, key_of(service), "endpoint_url"));
    if (!of_service.empty()) return of_service;
    return profiles.value(profile, "endpoint_url");
}

base::Result<Endpoint> resolve_endpoint(const model::Service& service, const std::string& region,
                                        const std::string& override_url, EndpointSwitches switches) {
    const std::string home = home_of(service, region);
    if (override_url.empty()) return usual_endpoint(service, home, switches);
    if (switches.fips || switches.dual_stack) {
        const std::string which = switches.fips ? "FIPS" : "dual-stack";
        return no_endpoint(which + " endpoints are switched on, but " + service.name + " has the address " +
                           override_url)
            .with_hint("Unset the switch, or the endpoint URL.");
    }
    auto url = http::parse_url(override_url);
    const bool fits = url.has_value() && (url->scheme == "http" || url->scheme == "https");
    if (!fits) {
        return no_endpoint("the endpoint URL of " + service.name +
                           " is not of the form http(s)://host[:port]: " + override_url)
            .with_hint("Mend " + variable_of(service) +
                       " or AWS_ENDPOINT_URL, or endpoint_url of the profile.");
    }
    Endpoint out;
    const auto usual = usual_endpoint(service, home, EndpointSwitches());
    out.signing_region = usual.has_value() ? usual->signing_region : home;
    out.scheme = url->scheme;
    out.host = url->host;
    out.port = url->port;
    out.base_path = url->target.substr(0, url->target.find('?'));
    while (out.base_path.ends_with('/')) out.base_path.pop_back();
    out.is_address = names_an_address(out.host);
    return out;
}

void use_virtual_host(Endpoint& endpoint, std::string& path, const std::string& bucket) {
    const bool plain =
        !bucket.empty() && bucket.find_first_of(".:/_ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
    const std::string start = "/" + bucket;
    if (endpoint.is_address || !plain || !path.starts_with(start)) return;
    if (path.size() > start.size() && path[start.size()] != '/') return;
    endpoint.host = bucket + "." + endpoint.host;
    path = path.substr(start.size());
    if (path.empty()) path = "/";
}

}  // namespace instantstart::aws
