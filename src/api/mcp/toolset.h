// Toolsets: which tools a path lists, and how a tool is described. A list costs every agent tokens, so bytes
// count.
#pragma once

#include <string>
#include <string_view>

#include "app/catalogue.h"
#include "base/json.h"

namespace instantstart::api::mcp {

// "" and "default", "all", "readonly", "cluster", "training", "inference", "ops".
bool is_toolset(std::string_view name);
bool in_toolset(const app::Meta& meta, std::string_view toolset);
bool is_read_only(const app::Meta& meta);  // in the sense of the annotations
base::JsonObject describe_tool(const app::Operation& operation);
// Tools of a toolset that this role may use, in the catalogue's order.
base::JsonArray list_tools(const app::Catalogue& catalogue, std::string_view toolset, app::Role role);

}  // namespace instantstart::api::mcp
