// Scalars as text, the same in every protocol.
#pragma once

#include <string>
#include <string_view>

#include "aws/model/model.h"
#include "base/json.h"

namespace instantstart::aws::codec {

// The format of a timestamp: the trait's, else the protocol's for that place.
enum class TimeFormat : std::uint8_t { iso8601, epoch, http };
TimeFormat time_format_of(const model::Member& member, TimeFormat otherwise);

std::string number_text(const base::JsonValue& value);  // "3", "0.5", "NaN"
std::string time_text(const base::JsonValue& value, TimeFormat format);
// A scalar in a query string, form, header or XML node. Blobs are base64.
std::string scalar_text(const model::Member& member, const base::JsonValue& value, TimeFormat otherwise);

// The way back. A text that is none of its type stays a string: the caller sees what the service sent.
base::JsonValue read_scalar(const model::Shape& shape, std::string_view text);
// The value of a header: HTTP's bytes are Latin-1 where they are not UTF-8, and what we hand on is UTF-8.
std::string header_text(std::string_view value);
base::JsonValue read_number(std::string_view text);
base::JsonValue read_integer(std::string_view text);
base::JsonValue read_time(std::string_view text);
base::JsonValue read_epoch(double seconds);  // RFC 3339, with three or six decimals where there are any

}  // namespace instantstart::aws::codec
