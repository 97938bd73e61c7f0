// JSONPath as custom resource definitions use it for columns and replica counts.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"

namespace instantstart::twin::kube {

// What `.spec.a['b.c'].list[?(@.type=="Ready")].status`, `[*]`, `[0]` and escaped dots lead to, in order.
std::vector<const base::JsonValue*> json_path(const base::JsonValue& root, std::string_view path);

}  // namespace instantstart::twin::kube
