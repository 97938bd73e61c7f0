// JSON patch, merge patch and strategic merge patch.
#pragma once

#include "base/result.h"
#include "twin/kube/schema.h"

namespace instantstart::twin::kube {

// RFC 6902; 400 or 422 where it cannot be carried out.
base::Result<JsonValue> json_patch(const JsonValue& target, const JsonArray& operations);
// Kubernetes' own: lists merge by their keys, with $patch, $deleteFromPrimitiveList, $setElementOrder and
// $retainKeys.
base::Result<JsonValue> strategic_merge(JsonValue target, const JsonValue& patch, const SchemaPtr& schema);

}  // namespace instantstart::twin::kube
