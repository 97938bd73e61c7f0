#include <cmath>

#include "aws/codec/readers.h"
#include "aws/codec/values.h"
#include "base/text.h"

namespace instantstart::aws::codec {

namespace {

bool is_whole(double number) {
    constexpr double kLimit = 9223372036854775808.0;
    return number >= -kLimit && number < kLimit && number == std::floor(number);
}

base::JsonValue read_json_scalar(const model::Member& member, base::JsonValue&& value) {
    switch (member.shape->type) {
        case model::ShapeType::timestamp:
            if (value.is_number()) return read_epoch(value.to_number<double>());
            return value.is_string() ? read_time(std::string_view(value.get_string())) : std::move(value);
        case model::ShapeType::blob:
            return value.is_string() ? read_scalar(*member.shape, std::string_view(value.get_string()))
                                     : std::move(value);
        case model::ShapeType::float_number:
        case model::ShapeType::double_number:
            if (value.is_int64()) return static_cast<double>(value.get_int64());
            return std::move(value);
        case model::ShapeType::integer:
        case model::ShapeType::long_integer:
            // Some services write whole numbers as 3.0.
            if (value.is_double() && is_whole(value.get_double()))
                return static_cast<std::int64_t>(value.get_double());
            return std::move(value);
        default: return std::move(value);
    }
}

}  // namespace

bool stands_in_head(const model::Member& member) {
    if (member.location.empty()) return false;
    return member.location == "header" || member.location == "headers" || member.location == "statusCode";
}

base::JsonObject read_json_members(const model::Shape& shape, base::JsonObject&& body) {
    base::JsonObject out;
    out.reserve(body.size());
    for (const model::Member& member : shape.members) {
        if (stands_in_head(member)) continue;
        auto* found = body.if_contains(member.location_name.empty() ? member.name : member.location_name);
        if (found != nullptr && !found->is_null())
            out.emplace(member.name, read_json(member, std::move(*found)));
    }
    return out;
}

base::JsonValue read_json(const model::Member& member, base::JsonValue&& value) {
    const model::Shape& shape = *member.shape;
    if (value.is_null() || shape.document) return std::move(value);
    switch (shape.type) {
        case model::ShapeType::structure:
            if (!value.is_object()) return std::move(value);
            return read_json_members(shape, std::move(value.get_object()));
        case model::ShapeType::list:
            if (!value.is_array()) return std::move(value);
            for (auto& item : value.get_array()) item = read_json(shape.element, std::move(item));
            return std::move(value);
        case model::ShapeType::map:
            if (!value.is_object()) return std::move(value);
            for (auto& entry : value.get_object())
                entry.value() = read_json(shape.element, std::move(entry.value()));
            return std::move(value);
        default: return read_json_scalar(member, std::move(value));
    }
}

}  // namespace instantstart::aws::codec
