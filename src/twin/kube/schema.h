// Schemas of objects: the built-in kinds' from data/kubernetes-types.json, custom ones' from their
// definitions. One tree serves validation, strategic merge, server-side apply, protobuf bodies and the
// OpenAPI documents.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::twin::kube {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

// A schema in its place: how lists and maps there are merged.
struct SchemaField {
    SchemaField() = default;
    SchemaPtr schema;
    int number = 0;  // protobuf field
    bool required = false;
    bool atomic = false;                   // owned and replaced as a whole
    bool set = false;                      // a list of distinct scalars
    std::vector<std::string> keys;         // of an associative list (server-side apply)
    std::optional<std::string> merge_key;  // of strategic merge; "" for a merged list of scalars
    bool retain_keys = false;
    bool keeps_zero = false;  // 0, false and "" are told apart from absence
};

struct Schema {
    enum class Type : std::uint8_t {
        any,
        object,
        map,
        list,
        string,
        integer,
        boolean,
        number,
        bytes,
        time,
        micro_time,
        quantity,
        int_or_string
    };
    Schema() = default;
    Type type = Type::any;
    std::string name;                                        // of a built-in type, "core/v1.PodSpec"
    std::map<std::string, SchemaField, std::less<>> fields;  // object: by JSON name, inlined ones included
    std::map<int, std::pair<std::string, SchemaField>>
        protobuf;                // by number; an inlined member's name starts with '~'
    SchemaField item;            // list, map
    bool atomic = false;         // an object that is owned as a whole
    bool keeps_unknown = false;  // unknown members are allowed
    JsonObject rules;            // a custom schema's own: enum, minimum, default, description, …
};

// The schema of a built-in type ("core/v1.Pod"); null where there is none.
SchemaPtr builtin_schema(std::string_view type_name);
// By apiVersion and kind; null where it is no built-in kind.
SchemaPtr builtin_schema_of(std::string_view api_version, std::string_view kind);
// From the openAPIV3Schema of a custom resource definition.
SchemaPtr custom_schema(const JsonObject& open_api);
// For a member that the schema does not know: lists atomic, maps granular.
const SchemaField& unknown_field();
// The field of a member; unknown_field() where there is none.
const SchemaField& field_of(const SchemaPtr& schema, std::string_view member);

}  // namespace instantstart::twin::kube
