#include "api/mcp/toolset.h"

#include <algorithm>
#include <array>
#include <vector>

#include "app/face_schema.h"

namespace instantstart::api::mcp {

namespace {

struct ToolsetRow {
    std::string_view name;
    std::vector<std::string_view> areas;
};

const std::vector<ToolsetRow>& by_area() {
    static const std::vector<ToolsetRow> kRows = {
        {"cluster",
         {"start", "quotas", "operations", "cluster", "instance_groups", "nodes", "features", "storage",
          "diagnostics"}},
        {"training", {"start", "operations", "storage", "models", "training", "diagnostics"}},
        {"inference", {"start", "operations", "models", "inference", "diagnostics"}},
        {"ops", {"start", "quotas", "operations", "instance_groups", "nodes", "diagnostics"}}};
    return kRows;
}

// The few cluster tools that every toolset needs to know where it is.
bool is_orientation(const app::Meta& meta) {
    return meta.id == "cluster.list" || meta.id == "cluster.get";
}

}  // namespace

bool is_toolset(std::string_view name) {
    if (name.empty() || name == "default" || name == "all" || name == "readonly") return true;
    return std::any_of(by_area().begin(), by_area().end(),
                       [name](const ToolsetRow& row) { return row.name == name; });
}

bool is_read_only(const app::Meta& meta) {
    return meta.kind == app::Kind::query && meta.idempotent && !meta.open_world && !meta.disruptive;
}

bool in_toolset(const app::Meta& meta, std::string_view toolset) {
    if (toolset.empty() || toolset == "default") return meta.default_tool;
    if (toolset == "all") return true;
    if (toolset == "readonly") return is_read_only(meta);
    for (const auto& row : by_area()) {
        if (row.name != toolset) continue;
        return is_orientation(meta) ||
               std::find(row.areas.begin(), row.areas.end(), meta.area) != row.areas.end();
    }
    return false;
}

base::JsonObject describe_tool(const app::Operation& operation) {
    const app::Meta& meta = operation.meta();
    const bool read_only = is_read_only(meta);
    const bool destructive = !read_only && (meta.removes != app::Removes::never || meta.disruptive);
    base::JsonObject annotations;
    annotations["readOnlyHint"] = read_only;
    annotations["destructiveHint"] = destructive;
    annotations["idempotentHint"] = meta.idempotent;
    annotations["openWorldHint"] = meta.open_world;
    base::JsonObject tool;
    tool["name"] = app::tool_name(meta);
    tool["description"] = app::tool_description(meta);
    tool["inputSchema"] = app::tool_input_schema(operation);
    tool["outputSchema"] = app::tool_output_schema(meta);
    tool["annotations"] = std::move(annotations);
    if (destructive) {
        base::JsonObject extra;
        extra["anthropic/requiresUserInteraction"] = true;
        tool["_meta"] = std::move(extra);
    }
    return tool;
}

base::JsonArray list_tools(const app::Catalogue& catalogue, std::string_view toolset, app::Role role) {
    base::JsonArray tools;
    for (const auto& operation : catalogue.operations()) {
        const app::Meta& meta = operation->meta();
        if (!in_toolset(meta, toolset) || role < meta.role) continue;
        tools.push_back(describe_tool(*operation));
    }
    return tools;
}

}  // namespace instantstart::api::mcp
