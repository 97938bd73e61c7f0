#include "app/schema.h"

#include <cmath>

#include "base/check.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

constexpr std::size_t kMaxEnumForTools =
    12;  // longer lists are left to the error that names the nearest value

std::string join_path(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + "." + name;
}

JsonValue number_value(double value) {
    if (std::nearbyint(value) == value) return static_cast<std::int64_t>(value);
    return value;
}

const char* type_name(ShapeType type) {
    switch (type) {
        case ShapeType::text: return "string";
        case ShapeType::boolean: return "boolean";
        case ShapeType::integer: return "integer";
        case ShapeType::number: return "number";
        case ShapeType::list: return "array";
        default: return "object";
    }
}

JsonArray strings(const std::vector<std::string>& values) {
    JsonArray made;
    for (const auto& value : values) made.emplace_back(value);
    return made;
}

void collect_names(const Shape& shape, const std::string& path, std::vector<std::string>& names) {
    if (shape.type == ShapeType::list) collect_names(*shape.item, path, names);
    if (shape.type != ShapeType::object) return;
    for (const auto& member : shape.members) {
        const std::string name = join_path(path, member.name);
        names.push_back(name);
        collect_names(member.shape, name, names);
    }
}

void describe_numbers(const Field& field, JsonObject& out) {
    if (field.min) out["minimum"] = number_value(*field.min);
    if (field.max) out["maximum"] = number_value(*field.max);
}

void describe_text(const Field& field, bool full, JsonObject& out) {
    if (!field.allowed.empty() && (full || field.allowed.size() <= kMaxEnumForTools))
        out["enum"] = strings(field.allowed);
    if (full && !field.pattern.empty()) out["pattern"] = field.pattern;
}

void describe_length(const Field& field, const char* low, const char* high, JsonObject& out) {
    if (field.min_length) out[low] = *field.min_length;
    if (field.max_length) out[high] = *field.max_length;
}

}  // namespace

namespace impl {

std::int64_t to_integer(const JsonValue& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return static_cast<std::int64_t>(value.get_uint64());
    return static_cast<std::int64_t>(value.get_double());
}

double to_number(const JsonValue& value) {
    if (value.is_int64()) return static_cast<double>(value.get_int64());
    if (value.is_uint64()) return static_cast<double>(value.get_uint64());
    return value.get_double();
}

}  // namespace impl

std::vector<std::string> field_names(const Shape& shape) {
    std::vector<std::string> names;
    collect_names(shape, "", names);
    return names;
}

Schema::Schema(Shape shape, std::vector<Field> fields)
    : shape_(std::move(shape)), fields_(std::move(fields)) {
    for (std::size_t i = 0; i < fields_.size(); ++i) by_name_[fields_[i].name] = i;
    compile_patterns();
    full_ = describe(shape_, "", true);
    reduced_ = describe(shape_, "", false);
}

const Field* Schema::field(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &fields_[found->second];
}

JsonObject Schema::describe_object(const Shape& shape, const std::string& path, bool full) const {
    JsonObject made;
    made["type"] = "object";
    JsonObject properties;
    JsonArray required;
    for (const auto& member : shape.members) {
        const std::string name = join_path(path, member.name);
        const Field* known = field(name);
        if (!full && !path.empty() && known != nullptr && known->is_rare) continue;
        properties[member.name] = describe(member.shape, name, full);
        if (!member.optional && (known == nullptr || known->default_value.is_null()))
            required.emplace_back(member.name);
    }
    made["properties"] = std::move(properties);
    if (!required.empty()) made["required"] = std::move(required);
    // Nested objects of tools stay open, for the members that are left out there; the parser is as strict as
    // ever.
    if (full || path.empty()) made["additionalProperties"] = false;
    return made;
}

JsonObject Schema::describe(const Shape& shape, const std::string& path, bool full) const {
    static const Field kNothing;
    const Field* found = field(path);
    const Field& known = found == nullptr ? kNothing : *found;
    JsonObject made;
    if (shape.type == ShapeType::object) {
        made = describe_object(shape, path, full);
    } else {
        made["type"] = type_name(shape.type);
    }
    if (shape.type == ShapeType::text) {
        describe_text(known, full, made);
        if (full) describe_length(known, "minLength", "maxLength", made);
    } else if (shape.type == ShapeType::integer || shape.type == ShapeType::number) {
        const bool nested = path.find('.') != std::string::npos;
        if (full || !nested) describe_numbers(known, made);  // the parser names the range where it is missed
    } else if (shape.type == ShapeType::map && full) {
        JsonObject values;
        values["type"] = "string";
        made["additionalProperties"] = std::move(values);
        describe_length(known, "minProperties", "maxProperties", made);
    } else if (shape.type == ShapeType::free_form && full) {
        made["additionalProperties"] = true;
    } else if (shape.type == ShapeType::list) {
        JsonObject items =
            shape.item->type == ShapeType::object ? describe_object(*shape.item, path, full) : JsonObject();
        if (items.empty()) items["type"] = type_name(shape.item->type);
        if (shape.item->type == ShapeType::text) describe_text(known, full, items);
        if (shape.item->type == ShapeType::integer) describe_numbers(known, items);
        made["items"] = std::move(items);
        if (full) describe_length(known, "minItems", "maxItems", made);
    }
    if (!known.sentence.empty() && (full || known.for_tools)) made["description"] = known.sentence;
    if (full && !known.default_value.is_null()) made["default"] = known.default_value;
    if (full && !known.example.is_null()) made["examples"] = JsonArray{known.example};
    return made;
}

}  // namespace instantstart::app
