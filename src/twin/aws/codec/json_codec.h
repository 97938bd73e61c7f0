// JSON documents of the json and rest-json protocols, by shape.
#pragma once

#include "twin/aws/codec/scalar.h"

namespace instantstart::twin::codec {

// Wire names to member names, epoch times to RFC 3339, base64 to bytes. Unknown members are kept, for the
// validator.
JsonValue from_json(const Member& member, const JsonValue& wire);
JsonValue to_json(const Member& member, const JsonValue& value);

}  // namespace instantstart::twin::codec
