// JSON values of the project: Boost.JSON's, plus small readers that never throw.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace instantstart::base {

template <class T>
class Result;

using JsonValue = boost::json::value;
using JsonObject = boost::json::object;
using JsonArray = boost::json::array;

// Parses UTF-8 JSON text strictly. Depth is limited (32 by default); an error has code "invalid_json" and
// says where.
Result<JsonValue> parse_json(std::string_view text, std::size_t max_depth = 32);
// Compact text of a value.
std::string to_text(const JsonValue& value);
std::string to_text(const JsonObject& value);
// The same with sorted keys at every level: equal values give equal text. For hashing and comparing.
std::string canonical_text(const JsonValue& value);
// Indented by two spaces, for people.
std::string pretty_text(const JsonValue& value);

// Walks `a.b.c` (object keys) or `a.0.b` (array indexes) and returns nullptr when anything is missing.
const JsonValue* find_path(const JsonValue& root, std::string_view dotted);
const JsonValue* find_path(const JsonObject& root, std::string_view dotted);

// Readers by dotted path: the fallback when absent or of another type.
std::string get_string(const JsonObject& object, std::string_view path, std::string_view fallback = "");
std::string get_string(const JsonValue& value, std::string_view path, std::string_view fallback = "");
std::int64_t get_int(const JsonObject& object, std::string_view path, std::int64_t fallback = 0);
std::int64_t get_int(const JsonValue& value, std::string_view path, std::int64_t fallback = 0);
bool get_bool(const JsonObject& object, std::string_view path, bool fallback = false);
bool get_bool(const JsonValue& value, std::string_view path, bool fallback = false);
// The array or object at the path, or a shared empty one. The reference lives as long as `object`.
const JsonArray& get_array(const JsonObject& object, std::string_view path);
const JsonArray& get_array(const JsonValue& value, std::string_view path);
const JsonObject& get_object(const JsonObject& object, std::string_view path);
const JsonObject& get_object(const JsonValue& value, std::string_view path);

// Removes nulls, and empty arrays and objects, at every level (the projection rule of all answers).
void drop_empty(JsonObject& object);

// RFC 7396 merge patch.
void merge_patch(JsonValue& target, const JsonValue& patch);

}  // namespace instantstart::base
