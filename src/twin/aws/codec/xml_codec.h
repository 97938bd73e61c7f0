// XML documents by shape: answers of query, ec2 and rest-xml, and bodies of rest-xml.
#pragma once

#include <string>

#include "base/result.h"
#include "twin/aws/codec/scalar.h"

namespace instantstart::twin::codec {

std::string xml_escape(std::string_view text);
// `<name xmlns="…">…</name>` of a structure; attributes and nested shapes by the model. "" leaves the
// namespace out.
std::string write_xml(const Shape& shape, const JsonObject& value, std::string_view name,
                      std::string_view xml_namespace);
// Only what stands inside the structure's element.
std::string write_xml_members(const Shape& shape, const JsonObject& value);
// A document whose root is the structure; any root name is taken. Error "MalformedXML".
base::Result<JsonValue> read_xml(const Member& member, std::string_view document);

}  // namespace instantstart::twin::codec
