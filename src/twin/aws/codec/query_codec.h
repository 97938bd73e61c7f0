// Form bodies of the query and ec2 protocols, by shape.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "twin/aws/codec/scalar.h"

namespace instantstart::twin::codec {

using FormFields = std::vector<std::pair<std::string, std::string>>;

enum class FormStyle : std::uint8_t { query, ec2 };

// "a=b&c=d", percent- and plus-decoded, in order.
FormFields parse_form(std::string_view body);
// Parameters of the input shape. Top-level names that the shape does not know are told in `unknown`.
JsonObject from_form(const Shape& input, const FormFields& fields, FormStyle style,
                     std::vector<std::string>& unknown);

}  // namespace instantstart::twin::codec
