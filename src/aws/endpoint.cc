#include "aws/endpoint.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace instantstart::aws {

namespace {

bool names_an_address(const std::string& host) {
    if (host == "localhost" || host.ends_with(".localhost") || host.find(':') != std::string::npos)
        return true;
    return std::all_of(host.begin(), host.end(),
                       [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; });
}

std::string variable_of(const model::Service& service) {
    std::string name = "AWS_ENDPOINT_URL_";
    for (const char c : service.service_id) {
        name += c == ' ' || c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return name;
}

// Services with one endpoint per partition, or in few regions only.
bool global_endpoint(const model::Service& service, const std::string& partition, Endpoint& out) {
    if (service.name == "iam") {
        const bool china = partition == "aws-cn";
        const bool gov = partition == "aws-us-gov";
        out.host = china ? "iam.cn-north-1.amazonaws.com.cn"
                   : gov ? "iam.us-gov.amazonaws.com"
                         : "iam.amazonaws.com";
        out.signing_region = china ? "cn-north-1" : gov ? "us-gov-west-1" : "us-east-1";
        return true;
    }
    if (service.name == "pricing") {
        const bool china = partition == "aws-cn";
        out.host =
            china ? "api.pricing.cn-northwest-1.amazonaws.com.cn" : "api.pricing.us-east-1.amazonaws.com";
        out.signing_region = china ? "cn-northwest-1" : "us-east-1";
        return true;
    }
    return false;
}

}  // namespace

std::string partition_of(const std::string& region) {
    if (region.starts_with("cn-")) return "aws-cn";
    if (region.starts_with("us-gov-")) return "aws-us-gov";
    return "aws";
}

std::string dns_suffix_of(const std::string& region) {
    return region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
}

std::string endpoint_override(const model::Service& service, const std::string& fixed,
                              const Environment& environment, const Profiles& profiles) {
    if (!fixed.empty()) return fixed;
    if (base::iequals(environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"), "true")) return "";
    for (const std::string& variable : {variable_of(service), std::string("AWS_ENDPOINT_URL")}) {
        const std::string url = environment(variable);
        if (!url.empty()) return url;
    }
    return profiles.value(profile_name(environment), "endpoint_url");
}

base::Result<Endpoint> resolve_endpoint(const model::Service& service, const std::string& region,
                                        const std::string& override_url) {
    Endpoint out;
    out.signing_region = region;
    const std::string partition = partition_of(region);
    Endpoint global;
    const bool is_global = global_endpoint(service, partition, global);
    if (is_global) out.signing_region = global.signing_region;
    if (override_url.empty()) {
        out.host =
            is_global ? global.host : service.endpoint_prefix + "." + region + "." + dns_suffix_of(region);
        return out;
    }
    TRY(const http::Url url, http::parse_url(override_url));
    out.scheme = url.scheme;
    out.host = url.host;
    out.port = url.port;
    out.base_path = url.target.substr(0, url.target.find('?'));
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
