// Schema: what a described struct and its fields() say, as JSON Schema, as a parser and as errors that name
// the field.
//
// Boost.Describe gives names and types as a Shape (a plain value); all else works on that value, so that only
// shape_of() and decode() are templates. A member is required unless it is std::optional or its Field has a
// default.
#pragma once

#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "app/operation.h"

namespace instantstart::app {

enum class ShapeType : std::uint8_t { text, boolean, integer, number, list, map, object, free_form };

struct Shape {  // an aggregate: a constructor here would need Member complete
    struct Member;
    ShapeType type = ShapeType::object;
    std::vector<Member> members;        // object
    std::shared_ptr<const Shape> item;  // list
};
struct Shape::Member {
    std::string name;
    bool optional = false;
    Shape shape;
};
inline Shape shape_as(ShapeType type) {
    Shape made;
    made.type = type;
    return made;
}

namespace impl {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
using MembersOf =
    boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

// The wire's name of a member: `namespace_` stands for a word that C++ keeps for itself.
inline std::string json_name(std::string_view name) {
    if (name.ends_with('_')) name.remove_suffix(1);
    return std::string(name);
}
std::int64_t to_integer(const JsonValue& value);
double to_number(const JsonValue& value);

}  // namespace impl

template <class T>
Shape shape_of() {
    if constexpr (std::is_same_v<T, std::string>) {
        return shape_as(ShapeType::text);
    } else if constexpr (std::is_same_v<T, bool>) {
        return shape_as(ShapeType::boolean);
    } else if constexpr (std::is_integral_v<T>) {
        return shape_as(ShapeType::integer);
    } else if constexpr (std::is_floating_point_v<T>) {
        return shape_as(ShapeType::number);
    } else if constexpr (std::is_same_v<T, JsonObject>) {
        return shape_as(ShapeType::free_form);
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
        return shape_as(ShapeType::map);
    } else if constexpr (impl::IsVector<T>::value) {
        Shape made = shape_as(ShapeType::list);
        made.item = std::make_shared<const Shape>(shape_of<typename T::value_type>());
        return made;
    } else {
        Shape made = shape_as(ShapeType::object);
        boost::mp11::mp_for_each<impl::MembersOf<T>>([&made](auto descriptor) {
            using Member = std::remove_cvref_t<decltype(std::declval<T>().*descriptor.pointer)>;
            if constexpr (impl::IsOptional<Member>::value) {
                made.members.push_back(
                    {impl::json_name(descriptor.name), true, shape_of<typename Member::value_type>()});
            } else {
                made.members.push_back({impl::json_name(descriptor.name), false, shape_of<Member>()});
            }
        });
        return made;
    }
}

// Reads a value that Schema::normalize() has accepted.
template <class T>
T decode(const JsonValue& value) {
    if constexpr (std::is_same_v<T, std::string>) {
        return std::string(value.get_string());
    } else if constexpr (std::is_same_v<T, bool>) {
        return value.get_bool();
    } else if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(impl::to_integer(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(impl::to_number(value));
    } else if constexpr (std::is_same_v<T, JsonObject>) {
        return value.get_object();
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
        T made;
        for (const auto& entry : value.get_object())
            made.emplace(std::string(entry.key()), std::string(entry.value().get_string()));
        return made;
    } else if constexpr (impl::IsVector<T>::value) {
        T made;
        for (const JsonValue& item : value.get_array()) made.push_back(decode<typename T::value_type>(item));
        return made;
    } else {
        T made;
        const JsonObject& object = value.get_object();
        boost::mp11::mp_for_each<impl::MembersOf<T>>([&made, &object](auto descriptor) {
            auto& member = made.*descriptor.pointer;
            using Member = std::remove_cvref_t<decltype(member)>;
            const JsonValue* found = object.if_contains(impl::json_name(descriptor.name));
            if (found == nullptr) return;
            if constexpr (impl::IsOptional<Member>::value) {
                member = decode<typename Member::value_type>(*found);
            } else {
                member = decode<Member>(*found);
            }
        });
        return made;
    }
}

// The value as JSON, without optionals that are unset: what decode() reads back.
template <class T>
JsonValue to_json_value(const T& value) {
    if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
        JsonObject made;
        for (const auto& [key, text] : value) made[key] = text;
        return made;
    } else if constexpr (impl::IsVector<T>::value) {
        JsonArray made;
        for (const auto& item : value) made.push_back(to_json_value(item));
        return made;
    } else if constexpr (boost::describe::has_describe_members<T>::value) {
        JsonObject made;
        boost::mp11::mp_for_each<impl::MembersOf<T>>([&made, &value](auto descriptor) {
            const auto& member = value.*descriptor.pointer;
            if constexpr (impl::IsOptional<std::remove_cvref_t<decltype(member)>>::value) {
                if (member.has_value()) made[impl::json_name(descriptor.name)] = to_json_value(*member);
            } else {
                made[impl::json_name(descriptor.name)] = to_json_value(member);
            }
        });
        return made;
    } else {
        return JsonValue(value);
    }
}
template <class T>
JsonObject to_json(const T& described) {
    return to_json_value(described).get_object();
}

// The names of all members as Field names ("network.vpc_cidr"), for the test that each has a sentence.
std::vector<std::string> field_names(const Shape& shape);

class Schema {
public:
    Schema(Shape shape, std::vector<Field> fields);

    const JsonObject& full() const { return full_; }        // OpenAPI and reference: everything
    const JsonObject& reduced() const { return reduced_; }  // MCP: the keywords that every client takes
    const std::vector<Field>& fields() const { return fields_; }
    const Shape& shape() const { return shape_; }

    // The canonical request: members in the order of the struct, defaults filled in, null taken as absent.
    // All faults at once as one Error{invalid, "invalid_field"}.
    base::Result<JsonObject> normalize(const JsonObject& arguments) const;

private:
    class Reader;
    struct Patterns;
    void compile_patterns();
    const Field* field(const std::string& name) const;
    JsonObject describe(const Shape& shape, const std::string& path, bool full) const;
    JsonObject describe_object(const Shape& shape, const std::string& path, bool full) const;

    Shape shape_;
    std::vector<Field> fields_;
    std::map<std::string, std::size_t, std::less<>> by_name_;
    std::shared_ptr<const Patterns> patterns_;  // compiled once; <regex> stays out of this header
    JsonObject full_, reduced_;
};

// Values of a query string or path, which are text, turned into the types of an input schema. What does not
// fit stays text, so that normalize() names the fault. A list is given by repeating its name or by commas.
JsonObject coerce_text(const JsonObject& input_schema,
                       const std::vector<std::pair<std::string, std::string>>& values);

// One fault for a pointer, with nearest match where `allowed` is given.
base::FieldError fault(std::string pointer, std::string message, const std::vector<std::string>& allowed = {},
                       std::string_view seen = "");
// The error that carries all faults: 'Field "count": must be …' or "3 fields are wrong".
base::Error faults_error(std::vector<base::FieldError> faults);

}  // namespace instantstart::app
