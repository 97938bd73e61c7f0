#include "twin/aws/codec/scalar.h"

#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "base/time.h"

namespace instantstart::twin::codec {

namespace {

std::string time_text(base::TimePoint time) {
    const auto since = time.time_since_epoch();
    const bool whole = since == std::chrono::floor<std::chrono::seconds>(since);
    return whole ? base::format_time(time) : base::format_time_millis(time);
}

bool parse_number(std::string_view text, double& out) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::string number_text(double value) {
    if (value == std::floor(value) && std::fabs(value) < 1e15)
        return std::to_string(static_cast<std::int64_t>(value));
    char buffer[64];
    const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value);
    return std::string(buffer, written.ptr);
}

std::string time_to_text(std::string_view text, TimeForm form) {
    const auto time = base::parse_time(text);
    if (!time) return std::string(text);
    switch (form) {
        case TimeForm::rfc822: return base::format_time_http(*time);
        case TimeForm::unix_seconds: return number_text(base::to_epoch(*time));
        case TimeForm::iso8601: break;
    }
    return time_text(*time);
}

}  // namespace

TimeForm time_form(const Member& member, TimeForm otherwise) {
    std::string_view named = member.timestamp_format;
    if (named.empty() && member.shape != nullptr) named = member.shape->timestamp_format;
    if (named == "iso8601") return TimeForm::iso8601;
    if (named == "rfc822") return TimeForm::rfc822;
    if (named == "unixTimestamp") return TimeForm::unix_seconds;
    return otherwise;
}

std::string normal_time(std::string_view text) {
    if (const auto time = base::parse_time(text)) return time_text(*time);
    double seconds = 0;
    if (parse_number(text, seconds)) return time_text(base::from_epoch(seconds));
    return std::string(text);
}

JsonValue scalar_from_text(const Member& member, std::string_view text) {
    switch (member.shape->type) {
        case ShapeType::boolean:
            if (base::iequals(text, "true")) return true;
            if (base::iequals(text, "false")) return false;
            break;
        case ShapeType::integer:
        case ShapeType::long_integer: {
            std::int64_t number = 0;
            const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
            if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return number;
            break;
        }
        case ShapeType::float_number:
        case ShapeType::double_number: {
            double number = 0;
            if (parse_number(text, number)) return number;
            break;
        }
        case ShapeType::blob: {
            std::string bytes;
            if (base::base64_decode(text, bytes)) return JsonValue(bytes);
            break;
        }
        case ShapeType::timestamp: return JsonValue(normal_time(text));
        default: break;
    }
    return JsonValue(text);
}

std::string scalar_to_text(const Member& member, const JsonValue& value, TimeForm otherwise) {
    if (value.is_bool()) return value.as_bool() ? "true" : "false";
    if (value.is_int64()) return std::to_string(value.as_int64());
    if (value.is_uint64()) return std::to_string(value.as_uint64());
    if (value.is_double()) return number_text(value.as_double());
    if (!value.is_string()) return boost::json::serialize(value);
    const std::string_view text = value.as_string();
    if (member.shape == nullptr) return std::string(text);
    if (member.shape->type == ShapeType::blob) return base::base64_encode(text);
    if (member.shape->type == ShapeType::timestamp) return time_to_text(text, time_form(member, otherwise));
    return std::string(text);
}

}  // namespace instantstart::twin::codec
