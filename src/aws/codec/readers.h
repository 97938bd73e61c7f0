// The body readers of the protocols. Members that the model does not know are dropped; nulls are absent.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "aws/model/model.h"
#include "base/json.h"

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace instantstart::aws::codec {

// Members of an answer that stand in its status line or headers; places of a request mean nothing here.
bool stands_in_head(const model::Member& member);

// Both take the values apart: what is text there is text here, without a copy.
base::JsonValue read_json(const model::Member& member, base::JsonValue&& value);
// Members with a place in the headers are left out.
base::JsonObject read_json_members(const model::Shape& shape, base::JsonObject&& body);

// False where the text is no complete XML document.
bool load_xml(pugi::xml_document& document, std::string_view text);
std::string_view local_name(const pugi::xml_node& node);  // without the namespace's prefix
pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name);
base::JsonValue read_xml(const model::Member& member, const pugi::xml_node& node);
base::JsonObject read_xml_members(const model::Shape& shape, const pugi::xml_node& node);

}  // namespace instantstart::aws::codec
