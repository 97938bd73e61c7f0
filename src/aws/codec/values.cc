#include "aws/codec/values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/instant.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

// The time that a parameter means; empty where it is none: it is then written as it stands, for the service
// to refuse.
std::optional<base::Instant> instant_of(const base::JsonValue& value) {
    if (value.is_string()) return base::parse_instant(std::string_view(value.get_string()));
    if (value.is_number()) return base::instant_of_epoch(value.to_number<double>());
    return std::nullopt;
}

// ISO 8601 as botocore writes it: six decimals or none.
std::string iso_text(base::Instant instant) {
    std::string text = base::format_instant(instant);
    constexpr std::size_t kWithMillis = 24;
    if (text.size() == kWithMillis) text.insert(text.size() - 1, "000");
    return text;
}

// As the reference writes numbers in text: 1.0, 100000.0, 1e-07, 1e+16.
std::string double_text(double number) {
    const double size = std::abs(number);
    const bool plain = number == 0 || (size >= 1e-4 && size < 1e16);
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific)
                         .ptr;
    std::string text(buffer.data(), end);
    if (plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

}  // namespace

TimeFormat time_format_of(const model::Member& member, TimeFormat otherwise) {
    std::string name = base::to_lower(member.timestamp_format);
    if (name.empty() && member.shape != nullptr) name = base::to_lower(member.shape->timestamp_format);
    if (name == "iso8601") return TimeFormat::iso8601;
    if (name == "unixtimestamp") return TimeFormat::epoch;
    if (name == "rfc822") return TimeFormat::http;
    return otherwise;
}

std::string number_text(const base::JsonValue& value) {
    if (value.is_int64()) return std::to_string(value.get_int64());
    if (value.is_uint64()) return std::to_string(value.get_uint64());
    if (value.is_string()) return std::string(value.get_string());
    return value.is_double() ? double_text(value.get_double()) : base::to_text(value);
}

std::string time_text(const base::JsonValue& value, TimeFormat format) {
    const auto instant = instant_of(value);
    if (!instant) return number_text(value);
    switch (format) {
        case TimeFormat::iso8601: return iso_text(*instant);
        case TimeFormat::http: return base::format_instant_http(*instant);
        case TimeFormat::epoch: break;
    }
    return std::to_string(instant->seconds);
}

std::string scalar_text(const model::Member& member, const base::JsonValue& value, TimeFormat otherwise) {
    // A list where the model has a scalar names elements that no shape describes: the check refuses such
    // parameters, and a writer that runs without it must still end.
    if (member.shape == nullptr) {
        return value.is_string() ? std::string(value.get_string()) : number_text(value);
    }
    switch (member.shape->type) {
        case model::ShapeType::timestamp: return time_text(value, time_format_of(member, otherwise));
        case model::ShapeType::boolean: return value.is_bool() && value.get_bool() ? "true" : "false";
        case model::ShapeType::blob:
            return value.is_string() ? base::base64_encode(std::string_view(value.get_string())) : "";
        default: return value.is_string() ? std::string(value.get_string()) : number_text(value);
    }
}

std::string header_text(std::string_view value) {
    if (base::is_valid_utf8(value)) return std::string(value);
    std::string out;
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80U) {
            out += c;
        } else {
            out += static_cast<char>(0xC0U | byte >> 6U);
            out += static_cast<char>(0x80U | (byte & 0x3FU));
        }
    }
    return out;
}

base::JsonValue read_integer(std::string_view text) {
    text = base::trim(text);
    std::int64_t whole = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, whole);
    if (parsed.ec == std::errc() && parsed.ptr == end) return whole;
    return read_number(text);
}

base::JsonValue read_number(std::string_view text) {
    text = base::trim(text);
    double number = 0;
    const auto* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec == std::errc() && parsed.ptr == end && std::isfinite(number)) return number;
    return base::JsonValue(text);
}

base::JsonValue read_epoch(double seconds) {
    const auto instant = base::instant_of_epoch(seconds);
    return instant ? base::JsonValue(base::format_instant(*instant)) : base::JsonValue(seconds);
}

base::JsonValue read_time(std::string_view text) {
    const auto instant = base::parse_instant(base::trim(text));
    // Parentheses: braces would make a list of one.
    if (instant) return base::JsonValue(base::format_instant(*instant));
    const base::JsonValue number = read_number(text);
    return number.is_number() ? read_epoch(number.to_number<double>()) : base::JsonValue(text);
}

base::JsonValue read_scalar(const model::Shape& shape, std::string_view text) {
    switch (shape.type) {
        case model::ShapeType::boolean: return base::iequals(base::trim(text), "true");
        case model::ShapeType::integer:
        case model::ShapeType::long_integer: return read_integer(text);
        case model::ShapeType::float_number:
        case model::ShapeType::double_number: return read_number(text);
        case model::ShapeType::timestamp: return read_time(text);
        case model::ShapeType::blob: {
            std::string bytes;
            return base::base64_decode(text, bytes) ? base::JsonValue(bytes) : base::JsonValue(text);
        }
        default: return base::JsonValue(text);
    }
}

}  // namespace instantstart::aws::codec
