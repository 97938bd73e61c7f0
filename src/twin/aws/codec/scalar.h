// One scalar of a shape, as text (query, XML, headers) and as JSON, both ways.
#pragma once

#include <string>
#include <string_view>

#include "aws/model/model.h"

namespace instantstart::twin::codec {

using aws::model::Member;
using aws::model::Shape;
using aws::model::ShapeType;
using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

enum class TimeForm : std::uint8_t { iso8601, rfc822, unix_seconds };

// The form of a member's timestamps, `otherwise` where the model says nothing.
TimeForm time_form(const Member& member, TimeForm otherwise);
// Text from the wire; what cannot be read stays a string, for the validator to name.
JsonValue scalar_from_text(const Member& member, std::string_view text);
std::string scalar_to_text(const Member& member, const JsonValue& value, TimeForm otherwise);
// "2026-11-30T13:45:39Z" from any form of a timestamp; the text itself where it is none.
std::string normal_time(std::string_view text);

}  // namespace instantstart::twin::codec
