#include "app/cursor.h"

#include "base/digest.h"
#include "base/text.h"

namespace instantstart::app {

namespace {
constexpr std::size_t kScopeDigits = 12;
}

std::string cursor_scope(const std::string& operation, const Caller& caller, const JsonObject& filter) {
    JsonObject bound = filter;
    bound.erase("limit");
    bound.erase("cursor");
    const std::string text =
        operation + "\n" + caller.principal + "\n" + base::canonical_text(JsonValue(std::move(bound)));
    return base::sha256_hex(text).substr(0, kScopeDigits);
}

std::string make_cursor(const std::string& scope, const std::string& after) {
    return after.empty() ? "" : base::base64url_encode(scope + after);
}

base::Result<std::string> read_cursor(const std::string& scope, const std::string& cursor) {
    if (cursor.empty()) return std::string();
    std::string text;
    if (base::base64_decode(cursor, text) && text.size() > scope.size() && text.starts_with(scope))
        return text.substr(scope.size());
    return base::Error(base::ErrorKind::invalid, "invalid_cursor",
                       "The cursor was not made by this list with this filter")
        .with_field({"/cursor", "is not a cursor of this list", {}, {}})
        .with_hint("Begin again without a cursor, and follow next_cursor with the same filter.");
}

}  // namespace instantstart::app
