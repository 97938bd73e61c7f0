#include "aws/codec/values.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::seconds;

base::TimePoint time_of(const base::JsonValue& value) {
    if (value.is_string()) {
        const auto parsed = base::parse_time(std::string_view(value.get_string()));
        if (parsed) return *parsed;
    }
    if (value.is_number()) return base::from_epoch(value.to_number<double>());
    return {};
}

std::string iso_text(base::TimePoint time) {
    const auto micros = duration_cast<microseconds>(time.time_since_epoch()) -
                        duration_cast<microseconds>(std::chrono::floor<seconds>(time).time_since_epoch());
    std::string text = base::format_time(time);
    if (micros.count() == 0) return text;
    const std::string digits = std::to_string(1000000 + micros.count());
    text.pop_back();
    return text + "." + digits.substr(1) + "Z";
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
    if (!value.is_double()) return base::to_text(value);
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value.get_double()).ptr;
    return {buffer.data(), end};
}

std::string time_text(const base::JsonValue& value, TimeFormat format) {
    const base::TimePoint time = time_of(value);
    switch (format) {
        case TimeFormat::iso8601: return iso_text(time);
        case TimeFormat::http: return base::format_time_http(time);
        case TimeFormat::epoch: break;
    }
    return std::to_string(std::chrono::floor<seconds>(time).time_since_epoch().count());
}

std::string scalar_text(const model::Member& member, const base::JsonValue& value, TimeFormat otherwise) {
    switch (member.shape->type) {
        case model::ShapeType::timestamp: return time_text(value, time_format_of(member, otherwise));
        case model::ShapeType::boolean: return value.is_bool() && value.get_bool() ? "true" : "false";
        case model::ShapeType::blob:
            return value.is_string() ? base::base64_encode(std::string_view(value.get_string())) : "";
        default: return value.is_string() ? std::string(value.get_string()) : number_text(value);
    }
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

base::JsonValue time_value(base::TimePoint time) {
    const auto whole = std::chrono::floor<seconds>(time);
    const bool fraction = whole != std::chrono::floor<std::chrono::milliseconds>(time);
    // Parentheses: braces would make a list of one.
    return base::JsonValue(fraction ? base::format_time_millis(time) : base::format_time(time));
}

base::JsonValue read_time(std::string_view text) {
    const auto parsed = base::parse_time(text);
    if (parsed) return time_value(*parsed);
    const base::JsonValue number = read_number(text);
    if (number.is_number()) return time_value(base::from_epoch(number.to_number<double>()));
    return base::JsonValue(text);
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
