// Pages of a list by a count and an opaque token.
#pragma once

#include <string>
#include <string_view>

#include "twin/aws/world.h"

namespace instantstart::twin::small {

struct PageNames {
    std::string_view items, limit, token_in, token_out;
    std::int64_t most = 100;
};

// {items: […], token_out?}; a token that is none of ours gives nullopt.
std::optional<JsonObject> page(const Call& call, const PageNames& names, const JsonArray& items);

}  // namespace instantstart::twin::small
