// All faults of a value against its shape, before anything leaves for the network (client) or is done (twin).
#include <algorithm>
#include <cmath>

#include "aws/model/model.h"
#include "aws/model/pattern.h"
#include "base/instant.h"
#include "base/text.h"

namespace instantstart::aws::model {

namespace {

std::string joined(const std::string& path, std::string_view part) {
    return path.empty() ? std::string(part) : path + "." + std::string(part);
}

std::string number_text(double value) {
    if (value == std::floor(value) && std::abs(value) < 9e15)
        return std::to_string(static_cast<std::int64_t>(value));
    return std::to_string(value);
}

class Validator {
public:
    std::vector<Fault> take() { return std::move(faults_); }

    void check(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (shape.document) return;
        switch (shape.type) {
            case ShapeType::structure: return check_structure(shape, value, path);
            case ShapeType::list: return check_list(shape, value, path);
            case ShapeType::map: return check_map(shape, value, path);
            case ShapeType::string: return check_string(shape, value, path);
            case ShapeType::integer:
            case ShapeType::long_integer: return check_integer(shape, value, path);
            case ShapeType::float_number:
            case ShapeType::double_number: return check_number(shape, value, path);
            case ShapeType::boolean:
                if (!value.is_bool()) wrong_type(path, "true or false");
                return;
            case ShapeType::blob: return check_blob(shape, value, path);
            case ShapeType::timestamp: return check_timestamp(value, path);
        }
    }

private:
    void add(const std::string& path, std::string message, std::string rule) {
        faults_.push_back({path, std::move(message), std::move(rule)});
    }
    void wrong_type(const std::string& path, std::string_view wanted) {
        add(path, "must be " + std::string(wanted), "type");
    }

    void check_bounds(const Shape& shape, double value, const std::string& path, std::string_view what,
                      const std::string& rule) {
        if (shape.min && value < *shape.min) {
            add(path, std::string(what) + " must be at least " + number_text(*shape.min), rule);
        }
        if (shape.max && value > *shape.max) {
            add(path, std::string(what) + " must be at most " + number_text(*shape.max), rule);
        }
    }

    void check_structure(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_object()) return wrong_type(path, "an object");
        const auto& object = value.get_object();
        std::size_t set = 0;
        for (const Member& member : shape.members) {
            const auto* found = object.if_contains(member.name);
            if (found == nullptr || found->is_null()) {
                if (member.required) add(joined(path, member.name), "is required", "required");
                continue;
            }
            ++set;
            if (!member.json_value) check(*member.shape, *found, joined(path, member.name));
        }
        if (shape.union_type && set != 1) add(path, "must have exactly one member", "union");
        for (const auto& entry : object) {
            if (shape.member(entry.key()) == nullptr) {
                add(joined(path, entry.key()), "is not a member of " + shape.name, "unknown");
            }
        }
    }

    void check_list(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_array()) return wrong_type(path, "a list");
        const auto& items = value.get_array();
        check_bounds(shape, static_cast<double>(items.size()), path, "the number of items", "length");
        std::size_t index = 0;
        for (const auto& item : items) {
            check(*shape.element.shape, item, joined(path, std::to_string(index)));
            ++index;
        }
    }

    void check_map(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_object()) return wrong_type(path, "a map");
        const auto& entries = value.get_object();
        check_bounds(shape, static_cast<double>(entries.size()), path, "the number of entries", "length");
        for (const auto& entry : entries) {
            const std::string inner = joined(path, entry.key());
            check(*shape.key.shape, base::JsonValue(entry.key()), inner);
            check(*shape.element.shape, entry.value(), inner);
        }
    }

    void check_string(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_string()) return wrong_type(path, "a string");
        const std::string text(value.get_string());
        if (shape.min || shape.max) {
            check_bounds(shape, static_cast<double>(code_points(text).size()), path, "the length", "length");
        }
        if (!shape.enumeration.empty() &&
            std::find(shape.enumeration.begin(), shape.enumeration.end(), text) == shape.enumeration.end()) {
            add(path, enum_message(shape, text), "enum");
        }
        if (shape.compiled_pattern && !shape.compiled_pattern->matches(text)) {
            add(path, "must match " + shape.pattern, "pattern");
        }
    }

    static std::string enum_message(const Shape& shape, const std::string& text) {
        constexpr std::size_t kListed = 20;
        if (shape.enumeration.size() <= kListed)
            return "must be one of " + base::join(shape.enumeration, ", ");
        const std::string near = base::nearest(text, shape.enumeration);
        return "is not a known " + shape.name + (near.empty() ? "" : "; did you mean " + near + "?");
    }

    void check_integer(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_int64() && !value.is_uint64()) return wrong_type(path, "a whole number");
        const double number = value.to_number<double>();
        constexpr double kIntegerMax = 2147483647.0;
        if (shape.type == ShapeType::integer && (number > kIntegerMax || number < -kIntegerMax - 1)) {
            add(path, "does not fit in 32 bits", "range");
        }
        check_bounds(shape, number, path, "the value", "range");
    }

    void check_number(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (value.is_string()) {
            const auto& text = value.get_string();
            if (text == "NaN" || text == "Infinity" || text == "-Infinity") return;
        }
        if (!value.is_number()) return wrong_type(path, "a number");
        check_bounds(shape, value.to_number<double>(), path, "the value", "range");
    }

    void check_blob(const Shape& shape, const base::JsonValue& value, const std::string& path) {
        if (!value.is_string()) return wrong_type(path, "a string of bytes");
        check_bounds(shape, static_cast<double>(value.get_string().size()), path, "the length", "length");
    }

    void check_timestamp(const base::JsonValue& value, const std::string& path) {
        if (value.is_number()) return;
        if (!value.is_string() || !base::parse_instant(std::string_view(value.get_string()))) {
            wrong_type(path, "a time such as 2026-11-30T13:45:39Z");
        }
    }

    std::vector<Fault> faults_;
};

}  // namespace

std::vector<Fault> validate(const Shape& shape, const base::JsonValue& parameters) {
    Validator validator;
    validator.check(shape, parameters, "");
    return validator.take();
}

}  // namespace instantstart::aws::model
