// Request bodies in YAML, which server-side apply allows.
#pragma once

#include <string>

#include "base/result.h"

namespace instantstart::twin::kube {

// One YAML document as JSON; 400 where it is none.
base::Result<base::JsonValue> parse_yaml(const std::string& text);

}  // namespace instantstart::twin::kube
