#include "http/message.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace instantstart::http {

std::string Headers::get(std::string_view name) const {
    for (const auto& [key, value] : fields_) {
        if (base::iequals(key, name)) return value;
    }
    return {};
}

bool Headers::has(std::string_view name) const {
    return std::any_of(fields_.begin(), fields_.end(),
                       [name](const auto& field) { return base::iequals(field.first, name); });
}

std::vector<std::string> Headers::all(std::string_view name) const {
    std::vector<std::string> values;
    for (const auto& [key, value] : fields_) {
        if (base::iequals(key, name)) values.push_back(value);
    }
    return values;
}

void Headers::set(std::string_view name, std::string value) {
    remove(name);
    fields_.emplace_back(std::string(name), std::move(value));
}

void Headers::add(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
}

void Headers::remove(std::string_view name) {
    std::erase_if(fields_, [name](const auto& field) { return base::iequals(field.first, name); });
}

namespace {

class FunctionStream final : public BodyStream {
public:
    explicit FunctionStream(std::function<Task<std::optional<std::string>>()> next)
        : next_(std::move(next)) {}
    Task<std::optional<std::string>> read() override { return next_(); }

private:
    std::function<Task<std::optional<std::string>>()> next_;
};

std::string decode_form(std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return base::percent_decode(spaced);
}

}  // namespace

std::unique_ptr<BodyStream> make_stream(std::function<Task<std::optional<std::string>>()> next) {
    return std::make_unique<FunctionStream>(std::move(next));
}

std::string Request::path() const {
    return target.substr(0, target.find('?'));
}

std::string Request::query() const {
    const auto mark = target.find('?');
    return mark == std::string::npos ? std::string() : target.substr(mark + 1);
}

std::optional<std::string> Request::parameter(std::string_view name) const {
    for (auto& [key, value] : parameters()) {
        if (key == name) return std::move(value);
    }
    return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Request::parameters() const {
    std::vector<std::pair<std::string, std::string>> out;
    const auto text = query();
    if (text.empty()) return out;
    for (const auto& part : base::split(text, '&')) {
        if (part.empty()) continue;
        const auto equals = part.find('=');
        const std::string_view value =
            equals == std::string::npos ? std::string_view() : std::string_view(part).substr(equals + 1);
        out.emplace_back(decode_form(std::string_view(part).substr(0, equals)), decode_form(value));
    }
    return out;
}

Response::Response(int status_code, std::string content_type, std::string text)
    : status(status_code), body(std::move(text)) {
    if (!content_type.empty()) headers.add("Content-Type", std::move(content_type));
}

std::string Url::authority() const {
    std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
    const bool usual = port == 0 || (scheme == "http" && port == 80) || (scheme == "https" && port == 443);
    return usual ? text : text + ":" + std::to_string(port);
}

namespace {

base::Error bad_url(std::string_view why) {
    return base::invalid_error("invalid_url",
                               "not a URL of the form scheme://host[:port]/path: " + std::string(why));
}

bool has_bad_character(std::string_view text) {
    return std::any_of(text.begin(), text.end(),
                       [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
}

// The text after the host: "" or ":port".
base::Result<std::uint16_t> parse_port(std::string_view text) {
    if (text.empty()) return std::uint16_t{0};
    if (text.front() != ':') return bad_url("something follows the host");
    text.remove_prefix(1);
    unsigned port = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (code != std::errc() || end != text.data() + text.size() || port == 0 || port > 65535)
        return bad_url("the port");
    return static_cast<std::uint16_t>(port);
}

// A name, an IPv4 address, or what stands in brackets: an IPv6 address, perhaps with a zone.
bool is_host(std::string_view host, bool brackets) {
    const std::string_view others = brackets ? ":.%-_" : ".-_";
    const bool good = std::all_of(host.begin(), host.end(), [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x80 || std::isalnum(byte) != 0 || others.find(c) != std::string_view::npos;
    });
    return good && !host.empty() && (!brackets || host.find(':') != std::string_view::npos);
}

bool is_scheme(std::string_view scheme) {
    return !scheme.empty() && std::all_of(scheme.begin(), scheme.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '-' || c == '.';
    });
}

}  // namespace

base::Result<Url> parse_url(std::string_view text) {
    if (has_bad_character(text)) return bad_url("it holds a space or control character");
    const auto mark = text.find("://");
    if (mark == std::string_view::npos || mark == 0) return bad_url("no scheme");
    Url url;
    url.scheme = base::to_lower(text.substr(0, mark));
    if (!is_scheme(url.scheme)) return bad_url("the scheme");
    text.remove_prefix(mark + 3);
    const auto slash = text.find_first_of("/?#");
    std::string_view authority = text.substr(0, slash);
    url.target =
        slash == std::string_view::npos ? "" : std::string(text.substr(slash, text.find('#') - slash));
    if (url.target.empty() || url.target.front() != '/') url.target.insert(0, "/");
    if (authority.find('@') != std::string_view::npos) return bad_url("user information is not supported");
    std::string_view rest;
    if (!authority.empty() && authority.front() == '[') {
        const auto close = authority.find(']');
        if (close == std::string_view::npos) return bad_url("no closing bracket");
        url.host = std::string(authority.substr(1, close - 1));
        rest = authority.substr(close + 1);
    } else {
        const auto colon = authority.find(':');
        url.host = base::to_lower(authority.substr(0, colon));
        if (colon != std::string_view::npos) rest = authority.substr(colon);
    }
    if (url.host.empty()) return bad_url("no host");
    if (!is_host(url.host, authority.front() == '[')) return bad_url("the host");
    TRY(url.port, parse_port(rest));
    if (url.port == 0 && url.scheme == "http") url.port = 80;
    if (url.port == 0 && url.scheme == "https") url.port = 443;
    return url;
}

}  // namespace instantstart::http
