// The table of built-in kinds, by apiVersion and kind.
#pragma once

#include <optional>
#include <string_view>

#include "kube/client.h"

namespace instantstart::kube::impl {

std::optional<Resource> known_kind(std::string_view api_version, std::string_view kind);

}  // namespace instantstart::kube::impl
