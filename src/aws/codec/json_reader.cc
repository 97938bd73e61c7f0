#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

base::JsonValue read_json_scalar(const model::Member& member, const base::JsonValue& value) {
    switch (member.shape->type) {
        case model::ShapeType::timestamp:
            if (value.is_number()) return time_value(base::from_epoch(value.to_number<double>()));
            return value.is_string() ? read_time(std::string_view(value.get_string())) : value;
        case model::ShapeType::blob:
            return value.is_string() ? read_scalar(*member.shape, std::string_view(value.get_string()))
                                     : value;
        case model::ShapeType::float_number:
        case model::ShapeType::double_number:
            if (value.is_int64()) return static_cast<double>(value.get_int64());
            return value;
        case model::ShapeType::integer:
        case model::ShapeType::long_integer:
            // Some services write whole numbers as 3.0.
            if (value.is_double() &&
                value.get_double() == static_cast<double>(static_cast<std::int64_t>(value.get_double()))) {
                return static_cast<std::int64_t>(value.get_double());
            }
            return value;
        default: return value;
    }
}

}  // namespace

bool stands_in_head(const model::Member& member) {
    return member.location == "header" || member.location == "headers" || member.location == "statusCode";
}

base::JsonObject read_json_members(const model::Shape& shape, const base::JsonObject& body) {
    base::JsonObject out;
    for (const model::Member& member : shape.members) {
        if (stands_in_head(member)) continue;
        const auto* found =
            body.if_contains(member.location_name.empty() ? member.name : member.location_name);
        if (found != nullptr && !found->is_null()) out[member.name] = read_json(member, *found);
    }
    return out;
}

base::JsonValue read_json(const model::Member& member, const base::JsonValue& value) {
    const model::Shape& shape = *member.shape;
    if (value.is_null() || shape.document) return value;
    switch (shape.type) {
        case model::ShapeType::structure:
            return value.is_object() ? base::JsonValue(read_json_members(shape, value.get_object())) : value;
        case model::ShapeType::list: {
            if (!value.is_array()) return value;
            base::JsonArray out;
            for (const auto& item : value.get_array()) out.push_back(read_json(shape.element, item));
            return out;
        }
        case model::ShapeType::map: {
            if (!value.is_object()) return value;
            base::JsonObject out;
            for (const auto& entry : value.get_object())
                out[entry.key()] = read_json(shape.element, entry.value());
            return out;
        }
        default: return read_json_scalar(member, value);
    }
}

}  // namespace instantstart::aws::codec
