// Where the members of a REST request go: path, query string, headers, body.
#pragma once

#include "aws/codec/codec.h"

namespace instantstart::aws::codec {

enum class RestDialect : std::uint8_t { json, xml };
base::Result<Call> write_rest(const model::Operation& operation, const base::JsonObject& parameters,
                              RestDialect dialect);

}  // namespace instantstart::aws::codec
