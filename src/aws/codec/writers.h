// The body writers of the protocols. Absent and null members are left out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aws/model/model.h"
#include "base/json.h"

namespace instantstart::aws::codec {

using Form = std::vector<std::pair<std::string, std::string>>;

// query and ec2: flat names with values, Action and Version not among them.
enum class FormDialect : std::uint8_t { query, ec2 };
Form write_form(const model::Shape& shape, const base::JsonObject& parameters, FormDialect dialect);
std::string form_text(const Form& form);

// json and rest-json: members of `value` that have no place elsewhere in the request.
base::JsonValue write_json(const model::Member& member, const base::JsonValue& value);
base::JsonObject write_json_members(const model::Shape& shape, const base::JsonObject& parameters);

// rest-xml: a document with `root` as its root element.
std::string write_xml(const model::Member& root, const std::string& name, const base::JsonValue& value);

}  // namespace instantstart::aws::codec
