#include "aws/codec/values.h"
#include "aws/codec/writers.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

base::JsonValue write_structure(const model::Shape& shape, const base::JsonObject& object) {
    base::JsonObject out;
    for (const auto& entry : object) {
        const model::Member* member = shape.member(entry.key());
        if (member == nullptr || entry.value().is_null()) continue;
        out[member->location_name.empty() ? member->name : member->location_name] =
            write_json(*member, entry.value());
    }
    return out;
}

}  // namespace

base::JsonValue write_json(const model::Member& member, const base::JsonValue& value) {
    if (value.is_null() || member.shape->document) return value;
    switch (member.shape->type) {
        case model::ShapeType::structure:
            return value.is_object() ? write_structure(*member.shape, value.get_object()) : value;
        case model::ShapeType::list: {
            if (!value.is_array()) return value;
            base::JsonArray out;
            for (const auto& item : value.get_array()) out.push_back(write_json(member.shape->element, item));
            return out;
        }
        case model::ShapeType::map: {
            if (!value.is_object()) return value;
            base::JsonObject out;
            for (const auto& entry : value.get_object()) {
                out[entry.key()] = write_json(member.shape->element, entry.value());
            }
            return out;
        }
        case model::ShapeType::timestamp: {
            const TimeFormat format = time_format_of(member, TimeFormat::epoch);
            const std::string text = time_text(value, format);
            return format == TimeFormat::epoch ? read_integer(text) : base::JsonValue(text);
        }
        case model::ShapeType::blob: return base::JsonValue(scalar_text(member, value, TimeFormat::epoch));
        default:
            return member.json_value && !value.is_string() ? base::JsonValue(base::to_text(value)) : value;
    }
}

base::JsonObject write_json_members(const model::Shape& shape, const base::JsonObject& parameters) {
    base::JsonObject body;
    for (const auto& entry : parameters) {
        const model::Member* member = shape.member(entry.key());
        if (member == nullptr || !member->location.empty() || entry.value().is_null()) continue;
        body[member->location_name.empty() ? member->name : member->location_name] =
            write_json(*member, entry.value());
    }
    return body;
}

}  // namespace instantstart::aws::codec
