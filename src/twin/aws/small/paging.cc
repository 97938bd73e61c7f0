#include "twin/aws/small/paging.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace instantstart::twin::small {

std::optional<JsonObject> page(const Call& call, const PageNames& names, const JsonArray& items) {
    std::size_t at = 0;
    if (const std::string token = base::get_string(call.params, names.token_in); !token.empty()) {
        std::string text;
        if (!base::base64_decode(token, text)) return std::nullopt;
        const auto read = std::from_chars(text.data(), text.data() + text.size(), at);
        if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    }
    const std::int64_t asked = base::get_int(call.params, names.limit, names.most);
    const auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(asked, 1, names.most));
    JsonArray out;
    for (std::size_t i = at; i < items.size() && out.size() < limit; ++i) out.push_back(items[i]);
    const std::size_t next = at + out.size();
    JsonObject reply;
    reply[names.items] = std::move(out);
    if (next < items.size()) reply[names.token_out] = base::base64_encode(std::to_string(next));
    return reply;
}

}  // namespace instantstart::twin::small
