// Kubernetes' protobuf bodies, read by the field numbers of the schema table.
#pragma once

#include <string_view>

#include "base/result.h"
#include "twin/kube/schema.h"

namespace instantstart::twin::kube {

// True for the magic that such bodies begin with.
bool is_protobuf(std::string_view body);
// The object in the envelope, as JSON; 400 where it cannot be read, 415 for a kind without a schema.
base::Result<JsonObject> decode_protobuf(std::string_view body);

}  // namespace instantstart::twin::kube
