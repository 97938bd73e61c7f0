#include "aws/sigv4.h"

#include <algorithm>
#include <map>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::aws {

namespace {

constexpr const char* kAlgorithm = "AWS4-HMAC-SHA256";

std::string host_header(const http::Request& request) {
    const std::uint16_t usual = request.scheme == "https" ? 443 : 80;
    if (request.port == 0 || request.port == usual) return request.host;
    return request.host + ":" + std::to_string(request.port);
}

// Inner white space counts as one space.
std::string squeezed(std::string_view text) {
    std::string out;
    for (const char c : base::trim(text)) {
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!space) out += c;
        if (space && out.back() != ' ') out += ' ';
    }
    return out;
}

bool is_signed_header(const std::string& name) {
    static constexpr std::string_view kLeftOut[] = {"authorization",   "expect",        "transfer-encoding",
                                                    "user-agent",      "connection",    "x-amzn-trace-id",
                                                    "accept-encoding", "content-length"};
    return std::find(std::begin(kLeftOut), std::end(kLeftOut), name) == std::end(kLeftOut);
}

std::map<std::string, std::string> signed_headers(const http::Request& request) {
    std::map<std::string, std::string> out;
    for (const auto& [name, value] : request.headers.fields()) {
        const std::string lower = base::to_lower(name);
        if (!is_signed_header(lower)) continue;
        const auto [at, fresh] = out.emplace(lower, squeezed(value));
        if (!fresh) at->second += "," + squeezed(value);
    }
    if (out.find("host") == out.end()) out["host"] = host_header(request);
    return out;
}

std::string signed_names(const std::map<std::string, std::string>& headers) {
    std::vector<std::string> names;
    names.reserve(headers.size());
    for (const auto& entry : headers) names.push_back(entry.first);
    return base::join(names, ";");
}

// "." and ".." are resolved and empty segments dropped, as every service but S3 expects.
std::string normalised_path(const std::string& path) {
    std::vector<std::string> kept;
    for (std::string& part : base::split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (part != "..") {
            kept.push_back(std::move(part));
        } else if (!kept.empty()) {
            kept.pop_back();
        }
    }
    std::string out = "/" + base::join(kept, "/");
    if (path.ends_with('/') && out != "/") out += '/';
    return out;
}

std::string canonical_path(const std::string& path, SigningStyle style) {
    if (path.empty()) return "/";
    if (style == SigningStyle::s3) return path;
    return base::percent_encode(normalised_path(path), "/");
}

std::string canonical_query(const std::string& query) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& part : base::split(query, '&')) {
        if (part.empty()) continue;
        const std::size_t equals = part.find('=');
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        pairs.emplace_back(base::percent_encode(base::percent_decode(part.substr(0, equals))),
                           base::percent_encode(base::percent_decode(value)));
    }
    std::sort(pairs.begin(), pairs.end());
    std::vector<std::string> parts;
    parts.reserve(pairs.size());
    for (const auto& [name, value] : pairs) parts.push_back(name + "=" + value);
    return base::join(parts, "&");
}

std::string scope_text(const SigningScope& scope, base::TimePoint now) {
    return base::format_time_basic(now).substr(0, 8) + "/" + scope.region + "/" + scope.service +
           "/aws4_request";
}

std::string signature_of(const std::string& to_sign, const Credentials& credentials,
                         const SigningScope& scope, base::TimePoint now) {
    std::string key =
        base::hmac_sha256("AWS4" + credentials.secret_key, base::format_time_basic(now).substr(0, 8));
    key = base::hmac_sha256(key, scope.region);
    key = base::hmac_sha256(key, scope.service);
    key = base::hmac_sha256(key, "aws4_request");
    return base::hex(base::hmac_sha256(key, to_sign));
}

}  // namespace

std::string canonical_request(const http::Request& request, SigningStyle style,
                              const std::string& payload_hash) {
    const auto headers = signed_headers(request);
    std::string out = request.method + "\n" + canonical_path(request.path(), style) + "\n" +
                      canonical_query(request.query()) + "\n";
    for (const auto& [name, value] : headers) out += name + ":" + value + "\n";
    return out + "\n" + signed_names(headers) + "\n" + payload_hash;
}

std::string string_to_sign(const std::string& canonical, const SigningScope& scope, base::TimePoint now) {
    return std::string(kAlgorithm) + "\n" + base::format_time_basic(now) + "\n" + scope_text(scope, now) +
           "\n" + base::sha256_hex(canonical);
}

void sign(http::Request& request, const Credentials& credentials, const SigningScope& scope,
          base::TimePoint now) {
    const std::string hash = base::sha256_hex(request.body);
    request.headers.remove("Authorization");
    request.headers.set("X-Amz-Date", base::format_time_basic(now));
    if (scope.style == SigningStyle::s3) request.headers.set("x-amz-content-sha256", hash);
    request.headers.remove("X-Amz-Security-Token");
    if (!credentials.session_token.empty()) {
        request.headers.set("X-Amz-Security-Token", credentials.session_token);
    }
    const std::string to_sign = string_to_sign(canonical_request(request, scope.style, hash), scope, now);
    request.headers.set("Authorization", std::string(kAlgorithm) + " Credential=" + credentials.access_key +
                                             "/" + scope_text(scope, now) +
                                             ", SignedHeaders=" + signed_names(signed_headers(request)) +
                                             ", Signature=" + signature_of(to_sign, credentials, scope, now));
}

std::string presigned_target(const http::Request& request, const Credentials& credentials,
                             const SigningScope& scope, base::TimePoint now, std::chrono::seconds valid) {
    http::Request presigned;
    presigned.method = request.method;
    presigned.scheme = request.scheme;
    presigned.host = request.host;
    presigned.port = request.port;
    presigned.headers = request.headers;
    std::string query = request.query();
    const auto add = [&query](const std::string& name, const std::string& value) {
        query += (query.empty() ? "" : "&") + name + "=" + base::percent_encode(value);
    };
    add("X-Amz-Algorithm", kAlgorithm);
    add("X-Amz-Credential", credentials.access_key + "/" + scope_text(scope, now));
    add("X-Amz-Date", base::format_time_basic(now));
    add("X-Amz-Expires", std::to_string(valid.count()));
    add("X-Amz-SignedHeaders", signed_names(signed_headers(request)));
    if (!credentials.session_token.empty()) add("X-Amz-Security-Token", credentials.session_token);
    presigned.target = request.path() + "?" + query;
    const std::string hash = scope.style == SigningStyle::s3 ? "UNSIGNED-PAYLOAD" : base::sha256_hex("");
    const std::string to_sign = string_to_sign(canonical_request(presigned, scope.style, hash), scope, now);
    return presigned.target + "&X-Amz-Signature=" + signature_of(to_sign, credentials, scope, now);
}

}  // namespace instantstart::aws
