// Cursors of lists: opaque to clients, bound to the operation, its filter and the principal.
#pragma once

#include <string>

#include "app/operation.h"

namespace instantstart::app {

// What a cursor is good for: the operation's id, the caller, and the filter (without limit and cursor).
std::string cursor_scope(const std::string& operation, const Caller& caller, const JsonObject& filter);
std::string make_cursor(const std::string& scope, const std::string& after);
// The position, "" for an empty cursor. Error "invalid_cursor" for what was not made for this scope.
base::Result<std::string> read_cursor(const std::string& scope, const std::string& cursor);

}  // namespace instantstart::app
