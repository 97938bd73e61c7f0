#include "twin/aws/codec/json_codec.h"

#include "base/text.h"
#include "base/time.h"

namespace instantstart::twin::codec {

namespace {

std::string_view wire_name(const Member& member) {
    return member.location_name.empty() || !member.location.empty() ? std::string_view(member.name)
                                                                    : std::string_view(member.location_name);
}

JsonValue structure_from(const Shape& shape, const JsonObject& wire) {
    JsonObject out;
    for (const auto& item : wire) {
        if (item.value().is_null()) continue;
        const Member* found = nullptr;
        for (const Member& member : shape.members) {
            if (wire_name(member) == std::string_view(item.key())) found = &member;
        }
        if (found == nullptr) {
            if (item.key() != "__type") out[item.key()] = item.value();
            continue;
        }
        out[found->name] = from_json(*found, item.value());
    }
    return out;
}

JsonValue structure_to(const Shape& shape, const JsonObject& value) {
    JsonObject out;
    for (const Member& member : shape.members) {
        if (!member.location.empty()) continue;
        const JsonValue* found = value.if_contains(member.name);
        if (found != nullptr && !found->is_null()) out[wire_name(member)] = to_json(member, *found);
    }
    return out;
}

JsonValue time_number(std::string_view text, TimeForm form) {
    const auto time = base::parse_time(text);
    if (!time) return JsonValue(text);
    if (form == TimeForm::iso8601) return JsonValue(base::format_time(*time));
    if (form == TimeForm::rfc822) return JsonValue(base::format_time_http(*time));
    const double seconds = base::to_epoch(*time);
    const auto whole = static_cast<std::int64_t>(seconds);
    if (static_cast<double>(whole) == seconds) return whole;
    return seconds;
}

}  // namespace

JsonValue from_json(const Member& member, const JsonValue& wire) {
    const Shape& shape = *member.shape;
    switch (shape.type) {
        case ShapeType::structure:
            if (wire.is_object()) return structure_from(shape, wire.as_object());
            break;
        case ShapeType::list:
            if (wire.is_array()) {
                JsonArray out;
                for (const JsonValue& item : wire.as_array()) out.push_back(from_json(shape.element, item));
                return out;
            }
            break;
        case ShapeType::map:
            if (wire.is_object()) {
                JsonObject out;
                for (const auto& item : wire.as_object())
                    out[item.key()] = from_json(shape.element, item.value());
                return out;
            }
            break;
        case ShapeType::timestamp:
            if (wire.is_number()) return JsonValue(normal_time(std::to_string(wire.to_number<double>())));
            if (wire.is_string()) return JsonValue(normal_time(wire.as_string()));
            break;
        case ShapeType::blob:
            if (wire.is_string()) return scalar_from_text(member, wire.as_string());
            break;
        default: break;
    }
    return wire;
}

JsonValue to_json(const Member& member, const JsonValue& value) {
    const Shape& shape = *member.shape;
    if (shape.type == ShapeType::structure && value.is_object())
        return structure_to(shape, value.as_object());
    if (shape.type == ShapeType::list && value.is_array()) {
        JsonArray out;
        for (const JsonValue& item : value.as_array()) out.push_back(to_json(shape.element, item));
        return out;
    }
    if (shape.type == ShapeType::map && value.is_object()) {
        JsonObject out;
        for (const auto& item : value.as_object()) out[item.key()] = to_json(shape.element, item.value());
        return out;
    }
    if (shape.type == ShapeType::timestamp && value.is_string())
        return time_number(value.as_string(), time_form(member, TimeForm::unix_seconds));
    if (shape.type == ShapeType::blob && value.is_string())
        return JsonValue(base::base64_encode(value.as_string()));
    return value;
}

}  // namespace instantstart::twin::codec
