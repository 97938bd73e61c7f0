#include "twin/aws/sigv4.h"

#include <algorithm>
#include <charconv>

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::twin {

namespace {

constexpr base::Duration kSkew = std::chrono::minutes(5);
constexpr std::int64_t kLongestPresigned = 7 * 86400;

bool read_scope(const std::string& credential, Signature& out) {
    const std::vector<std::string> parts = base::split(credential, '/');
    if (parts.size() != 5 || parts[4] != "aws4_request" || parts[0].empty()) return false;
    out.access_key = parts[0];
    out.day = parts[1];
    out.region = parts[2];
    out.service = parts[3];
    return true;
}

std::variant<std::monostate, Signature, SignatureFault> from_header(const http::Request& request,
                                                                    std::string_view text) {
    constexpr std::string_view kScheme = "AWS4-HMAC-SHA256";
    if (!text.starts_with(kScheme)) return SignatureFault::malformed;
    Signature out;
    bool scoped = false;
    for (const std::string& part : base::split(text.substr(kScheme.size()), ',')) {
        const std::string_view item = base::trim(part);
        const auto equals = item.find('=');
        if (equals == std::string_view::npos) return SignatureFault::malformed;
        const std::string_view name = item.substr(0, equals);
        const std::string value(item.substr(equals + 1));
        if (name == "Credential") scoped = read_scope(value, out);
        if (name == "SignedHeaders") out.signed_headers = base::split(value, ';');
        if (name == "Signature") out.hex = value;
    }
    out.time = request.headers.get("x-amz-date");
    if (out.time.empty()) {
        if (const auto date = base::parse_time(request.headers.get("date")))
            out.time = base::format_time_basic(*date);
    }
    out.session_token = request.headers.get("x-amz-security-token");
    if (!scoped || out.hex.empty() || out.signed_headers.empty() || out.time.empty())
        return SignatureFault::malformed;
    return out;
}

std::variant<std::monostate, Signature, SignatureFault> from_query(const http::Request& request) {
    Signature out;
    out.presigned = true;
    if (request.parameter("X-Amz-Algorithm").value_or("") != "AWS4-HMAC-SHA256")
        return SignatureFault::malformed;
    if (!read_scope(request.parameter("X-Amz-Credential").value_or(""), out))
        return SignatureFault::malformed;
    out.time = request.parameter("X-Amz-Date").value_or("");
    out.hex = request.parameter("X-Amz-Signature").value_or("");
    out.signed_headers = base::split(request.parameter("X-Amz-SignedHeaders").value_or(""), ';');
    out.session_token = request.parameter("X-Amz-Security-Token").value_or("");
    const std::string expires = request.parameter("X-Amz-Expires").value_or("");
    const auto read = std::from_chars(expires.data(), expires.data() + expires.size(), out.expires_seconds);
    if (read.ec != std::errc() || out.hex.empty() || out.time.empty()) return SignatureFault::malformed;
    return out;
}

// Empty and dot segments removed, as every service but S3 signs.
std::string normal_path(std::string_view path) {
    std::vector<std::string> kept;
    for (const std::string& part : base::split(path, '/')) {
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            if (!kept.empty()) kept.pop_back();
            continue;
        }
        kept.push_back(part);
    }
    std::string out = "/" + base::join(kept, "/");
    if (path.ends_with('/') && out.size() > 1) out += '/';
    return out;
}

std::string canonical_path(const http::Request& request, bool s3) {
    const std::string path = request.path().empty() ? "/" : request.path();
    // S3 signs the path encoded once, the others what is on the wire encoded again.
    if (s3) return base::percent_encode(base::percent_decode(path), "/");
    return base::percent_encode(normal_path(path), "/");
}

std::string canonical_query(const http::Request& request) {
    std::vector<std::pair<std::string, std::string>> items;
    for (const std::string& pair : base::split(request.query(), '&')) {
        if (pair.empty()) continue;
        const auto equals = pair.find('=');
        std::string name = base::percent_decode(pair.substr(0, equals));
        std::string value =
            equals == std::string::npos ? std::string() : base::percent_decode(pair.substr(equals + 1));
        if (name == "X-Amz-Signature") continue;
        items.emplace_back(base::percent_encode(name), base::percent_encode(value));
    }
    std::sort(items.begin(), items.end());
    std::string out;
    for (const auto& [name, value] : items) out += (out.empty() ? "" : "&") + name + "=" + value;
    return out;
}

std::string collapsed(std::string_view value) {
    std::string out;
    for (const char c : base::trim(value)) {
        if (c == ' ' && !out.empty() && out.back() == ' ') continue;
        out += c;
    }
    return out;
}

std::string payload_hash(const http::Request& request, const Signature& signature, bool s3) {
    std::string named = request.headers.get("x-amz-content-sha256");
    if (!named.empty()) return named;
    if (signature.presigned && s3) return "UNSIGNED-PAYLOAD";
    return base::sha256_hex(request.body);
}

std::string canonical_request(const http::Request& request, const Signature& signature) {
    const bool s3 = signature.service == "s3";
    std::string out =
        request.method + "\n" + canonical_path(request, s3) + "\n" + canonical_query(request) + "\n";
    for (const std::string& name : signature.signed_headers) {
        std::vector<std::string> values;
        for (const std::string& value : request.headers.all(name)) values.push_back(collapsed(value));
        out += name + ":" + base::join(values, ",") + "\n";
    }
    out += "\n" + base::join(signature.signed_headers, ";") + "\n" + payload_hash(request, signature, s3);
    return out;
}

std::string expected(const http::Request& request, const Signature& signature, std::string_view secret) {
    const std::string scope =
        signature.day + "/" + signature.region + "/" + signature.service + "/aws4_request";
    const std::string text = "AWS4-HMAC-SHA256\n" + signature.time + "\n" + scope + "\n" +
                             base::sha256_hex(canonical_request(request, signature));
    std::string key = base::hmac_sha256("AWS4" + std::string(secret), signature.day);
    for (const std::string& part : {signature.region, signature.service, std::string("aws4_request")})
        key = base::hmac_sha256(key, part);
    return base::hex(base::hmac_sha256(key, text));
}

bool body_matches_its_hash(const http::Request& request) {
    const std::string named = request.headers.get("x-amz-content-sha256");
    if (named.size() != 64) return true;  // unsigned or streaming
    return named == base::sha256_hex(request.body);
}

}  // namespace

std::variant<std::monostate, Signature, SignatureFault> read_signature(const http::Request& request) {
    const std::string header = request.headers.get("authorization");
    if (!header.empty()) return from_header(request, header);
    if (request.parameter("X-Amz-Signature") || request.parameter("X-Amz-Credential"))
        return from_query(request);
    return std::monostate{};
}

std::optional<SignatureFault> check_signature(const http::Request& request, const Signature& signature,
                                              std::string_view secret, base::TimePoint now) {
    const auto time = base::parse_time(signature.time);
    if (!time || signature.time.substr(0, 8) != signature.day) return SignatureFault::malformed;
    if (signature.presigned) {
        if (signature.expires_seconds < 0 || signature.expires_seconds > kLongestPresigned)
            return SignatureFault::malformed;
        if (*time > now + kSkew) return SignatureFault::skewed;
        if (now > *time + std::chrono::seconds(signature.expires_seconds)) return SignatureFault::expired;
    } else if (*time > now + kSkew || *time < now - kSkew) {
        return SignatureFault::skewed;
    }
    const auto& names = signature.signed_headers;
    if (std::find(names.begin(), names.end(), "host") == names.end()) return SignatureFault::mismatch;
    if (!base::constant_time_equal(expected(request, signature, secret), signature.hex))
        return SignatureFault::mismatch;
    if (!body_matches_its_hash(request)) return SignatureFault::mismatch;
    return std::nullopt;
}

}  // namespace instantstart::twin
