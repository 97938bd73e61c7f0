#include "domain/untrusted.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace instantstart::domain {

namespace {

constexpr std::size_t kLongest = 256 * 1024;  // of what is looked at

struct Character {
    Character() = default;
    char32_t code = 0xFFFD;
    std::size_t length = 1;
    bool valid = false;
};

std::size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    if (first >= 0xF0 && first <= 0xF4) return 4;
    return 0;
}

Character character_at(std::string_view text, std::size_t at) {
    Character found;
    const auto first = static_cast<unsigned char>(text[at]);
    const auto length = length_of(first);
    if (length == 0 || at + length > text.size()) return found;
    char32_t code = length == 1 ? first : first & (0xFFU >> (length + 1));
    for (std::size_t index = 1; index < length; ++index) {
        const auto next = static_cast<unsigned char>(text[at + index]);
        if ((next & 0xC0U) != 0x80U) return found;
        code = (code << 6U) | (next & 0x3FU);
    }
    static constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast.at(length) || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return found;
    found.code = code;
    found.length = length;
    found.valid = true;
    return found;
}

bool in(char32_t code, char32_t first, char32_t last) {
    return code >= first && code <= last;
}

bool is_hidden(char32_t code) {
    if (code == '\n' || code == '\t') return false;
    return code < 0x20 || in(code, 0x7F, 0x9F) || code == 0xAD || code == 0x61C || code == 0x180E ||
           in(code, 0x200B, 0x200F) || in(code, 0x2028, 0x202E) || in(code, 0x2060, 0x206F) ||
           in(code, 0xFE00, 0xFE0F) || code == 0xFEFF || in(code, 0xE0000, 0xE01EF);
}

// Where an escape sequence that begins at `at` ends.
std::size_t after_escape(std::string_view text, std::size_t at) {
    std::size_t end = at + 1;
    if (end >= text.size()) return end;
    const char kind = text[end++];
    if (kind == '[') {
        while (end < text.size() && (text[end] < 0x40 || text[end] > 0x7E)) ++end;
        return std::min(end + 1, text.size());
    }
    if (kind == ']' || kind == 'P' || kind == '_' ||
        kind == '^') {  // up to BEL or ESC backslash, in its line
        while (end < text.size() && text[end] != '\a' && text[end] != '\x1b' && text[end] != '\n') ++end;
        if (end < text.size() && text[end] == '\x1b') ++end;
        return end < text.size() && text[end] != '\n' ? end + 1 : end;
    }
    return end;
}

bool is_token(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '/' ||
           c == '+' || c == '=' || c == '~' || c == '%';
}

bool same_letters(std::string_view text, std::size_t at, std::string_view lower) {
    if (text.size() - at < lower.size()) return false;
    return std::equal(
        lower.begin(), lower.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
        [](char wanted, char seen) { return wanted == std::tolower(static_cast<unsigned char>(seen)); });
}

std::size_t run(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_token(text[end])) ++end;
    return end - at;
}

struct Secret {
    Secret() = default;
    Secret(std::size_t begin, std::size_t end) : begin(begin), end(end) {}
    std::size_t begin = 0, end = 0;  // end 0: none
};

Secret pem(std::string_view text, std::size_t at) {
    if (!text.substr(at).starts_with("-----BEGIN ")) return {};
    const auto last = text.find("-----END ", at);
    if (last == std::string_view::npos) return {at, text.size()};
    const auto end = text.find("-----", last + 9);
    return {at, end == std::string_view::npos ? text.size() : end + 5};
}

// Keys and tokens that are known by how they begin.
Secret prefixed(std::string_view text, std::size_t at) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) return {};
    for (const std::string_view key : {"AKIA", "ASIA"}) {
        if (text.substr(at).starts_with(key) && run(text, at) >= 20) return {at, at + run(text, at)};
    }
    for (const std::string_view token : {"hf_", "ghp_", "k8s-aws-v1.", "eyJ"}) {
        if (text.substr(at).starts_with(token) && run(text, at) >= 20) return {at, at + run(text, at)};
    }
    if (same_letters(text, at, "bearer ") && run(text, at + 7) >= 8)
        return {at + 7, at + 7 + run(text, at + 7)};
    return {};
}

// NAME=VALUE and NAME: VALUE where the name says that the value is secret.
Secret named(std::string_view text, std::size_t at) {
    for (const std::string_view name :
         {"password", "passwd", "secret_access_key", "secretaccesskey", "client_secret", "secret", "api_key",
          "apikey", "api-key", "token", "x-amz-signature", "x-amz-credential"}) {
        if (!same_letters(text, at, name)) continue;
        auto end = at + name.size();
        const auto skip = [&text, &end](std::string_view set) {
            while (end < text.size() && set.find(text[end]) != std::string_view::npos) ++end;
        };
        skip("\"'");
        skip(" ");
        if (end >= text.size() || (text[end] != '=' && text[end] != ':')) continue;
        ++end;
        skip(" \"'");
        const auto begin = end;
        while (end < text.size() && std::string_view(" \t\n\"'&;,").find(text[end]) == std::string_view::npos)
            ++end;
        if (end > begin) return {begin, end};
    }
    return {};
}

Secret secret_at(std::string_view text, std::size_t at) {
    for (const auto& look : {&pem, &prefixed, &named}) {
        const auto found = look(text, at);
        if (found.end > 0) return found;
    }
    return {};
}

}  // namespace

std::string without_hidden(std::string_view text) {
    std::string clean;
    const auto size = std::min(text.size(), kLongest);
    for (std::size_t at = 0; at < size;) {
        if (text[at] == '\x1b') {
            at = after_escape(text, at);
            continue;
        }
        const auto next = character_at(text, at);
        if (!next.valid) {
            clean += "\xEF\xBF\xBD";
        } else if (!is_hidden(next.code)) {
            clean += text.substr(at, next.length);
        }
        at += next.length;
    }
    return clean;
}

std::string without_secrets(std::string_view text, std::int64_t& count) {
    std::string clean;
    for (std::size_t at = 0; at < text.size();) {
        const auto secret = secret_at(text, at);
        if (secret.end == 0) {
            clean += text[at++];
            continue;
        }
        clean += text.substr(at, secret.begin - at);
        clean += "[redacted]";
        ++count;
        at = secret.end;
    }
    return clean;
}

std::string cut(std::string_view text, std::size_t bytes) {
    if (text.size() <= bytes) return std::string(text);
    std::size_t end = bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return std::string(text.substr(0, end));
}

UntrustedText::UntrustedText(std::string source, std::string_view text, TextLimits limits)
    : source_(std::move(source)) {
    const auto clean = without_secrets(without_hidden(text), redactions_);
    truncated_ = text.size() > kLongest;
    for (std::size_t at = 0; at < clean.size();) {
        const auto end = std::min(clean.find('\n', at), clean.size());
        if (lines_.size() == limits.lines) {
            truncated_ = true;
            break;
        }
        const auto line = std::string_view(clean).substr(at, end - at);
        truncated_ = truncated_ || line.size() > limits.line_bytes;
        lines_.emplace_back(cut(line, limits.line_bytes));
        at = end + 1;
    }
}

base::JsonObject UntrustedText::to_json() const {
    base::JsonObject made{{"untrusted", true}, {"source", source_}, {"lines", lines_}};
    if (redactions_ > 0) made["redactions"] = redactions_;
    if (truncated_) made["truncated"] = true;
    return made;
}

}  // namespace instantstart::domain
