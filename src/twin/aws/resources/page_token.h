// The opaque tokens of `paginate`. Apart from record.h, which everything includes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace instantstart::twin {

std::string page_token(std::size_t position);
// Where the page begins; 0 for "". nullopt for a token that no page gave: services refuse it, each in its
// words.
std::optional<std::size_t> page_position(std::string_view token);

}  // namespace instantstart::twin
