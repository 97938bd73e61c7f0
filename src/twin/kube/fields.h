// Sets of field paths, as metadata.managedFields holds them (fieldsV1).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "twin/kube/schema.h"

namespace instantstart::twin::kube {

// A trie of path elements: "f:name", "k:{…}" (an item by its keys), "v:value" (an item of a set).
struct FieldSet {
    FieldSet() = default;
    bool member = false;
    std::map<std::string, FieldSet> children;

    bool empty() const { return !member && children.empty(); }
    static FieldSet from_json(const JsonObject& fields);
    JsonObject to_json() const;
    void add(const FieldSet& other);
    // Takes away the paths of `other`; with `below`, also what lies below them.
    void subtract(const FieldSet& other, bool below = false);
    // Keeps only paths that `other` has.
    void intersect(const FieldSet& other);
};

enum class Containers : bool { left_out, included };

// The paths that `object` sets. apiVersion, kind and the server's own metadata are not among them.
FieldSet fields_of(const JsonObject& object, const SchemaPtr& schema, Containers containers);
// The paths of `after` that differ from `before` or are new.
FieldSet changed_fields(const JsonObject& before, const JsonObject& after, const SchemaPtr& schema);

// "k:{…}" of an item of an associative list; absent keys count with their default (protocol TCP).
std::string item_element(const JsonValue& item, const SchemaField& field);
// The member or item of `value` for a path element; null where absent.
const JsonValue* child_of(const JsonValue& value, const SchemaField& field, std::string_view element);
// True for a value that is owned member by member.
bool is_granular(const JsonValue& value, const SchemaField& field);
// ".spec.containers[name=\"x\"].image" of the elements of a path.
std::string readable_path(const std::vector<std::string>& elements);

}  // namespace instantstart::twin::kube
