// The contract: OpenAPI document, MCP tools and command line help stand in contract/ and change only
// knowingly. UPDATE_GOLDEN=1 rewrites them. The lint of tools is here, too, since it is about the real
// catalogue.
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "api/mcp/mcp.h"
#include "api/mcp/toolset.h"
#include "api/rest/openapi.h"
#include "app/catalogue.h"
#include "app/schema.h"
#include "server/call_arguments.h"

namespace instantstart {
namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

void expect_golden(const std::string& name, const std::string& text) {
    const std::string path = std::string(SOURCE_DIR) + "/contract/" + name;
    if (std::getenv("UPDATE_GOLDEN") != nullptr) {
        std::ofstream(path) << text;
        return;
    }
    std::ifstream file(path);
    std::ostringstream kept;
    kept << file.rdbuf();
    EXPECT_TRUE(kept.str() == text)
        << name << " is stale: run this test with UPDATE_GOLDEN=1 and read the difference";
}

JsonArray tools_of(const char* toolset) {
    const auto catalogue = app::make_catalogue();
    return api::mcp::list_tools(*catalogue, toolset, app::Role::admin);
}

std::size_t visible_bytes(const JsonArray& tools) {
    JsonArray visible;
    for (const auto& tool : tools) {
        JsonObject kept;
        for (const char* key : {"name", "description", "inputSchema"}) kept[key] = tool.as_object().at(key);
        visible.push_back(std::move(kept));
    }
    return base::to_text(JsonValue(std::move(visible))).size();
}

bool uses_only_plain_keywords(const JsonObject& schema, int depth) {
    static const std::vector<std::string> kAllowed = {"type",    "properties", "required",
                                                      "items",   "enum",       "description",
                                                      "minimum", "maximum",    "additionalProperties"};
    if (depth > 3) return false;
    for (const auto& entry : schema) {
        if (std::find(kAllowed.begin(), kAllowed.end(), entry.key()) == kAllowed.end()) return false;
    }
    for (const auto& entry : base::get_object(schema, "properties")) {
        if (!uses_only_plain_keywords(entry.value().as_object(), depth + 1)) return false;
    }
    const JsonObject& items = base::get_object(schema, "items");
    return items.empty() || uses_only_plain_keywords(items, depth);
}

TEST(Contract, openapi_document) {
    const auto catalogue = app::make_catalogue();
    expect_golden("openapi.json",
                  base::pretty_text(JsonValue(api::openapi_document(*catalogue, "contract"))) + "\n");
}

TEST(Contract, mcp_tools) {
    expect_golden("mcp-tools.json", base::pretty_text(JsonValue(tools_of("all"))) + "\n");
}

TEST(Contract, command_line_help) {
    const auto catalogue = app::make_catalogue();
    std::string text = server::call_help(*catalogue);
    for (const auto& operation : catalogue->operations()) text += "\n\n" + server::operation_help(*operation);
    expect_golden("cli.txt", text);
}

TEST(Contract, every_field_has_a_sentence) {
    const auto catalogue = app::make_catalogue();
    for (const auto& operation : catalogue->operations()) {
        for (const auto& entry : base::get_object(operation->input_schema(), "properties")) {
            EXPECT_FALSE(base::get_string(entry.value(), "description").empty())
                << operation->meta().id << " " << std::string(entry.key());
        }
    }
}

TEST(Contract, tools_fit_every_client) {
    static const std::regex kName("[a-z][a-z0-9_]{2,24}");
    for (const auto& value : tools_of("all")) {
        const JsonObject& tool = value.as_object();
        const std::string name = base::get_string(tool, "name");
        const std::size_t described = base::get_string(tool, "description").size();
        EXPECT_TRUE(std::regex_match(name, kName)) << name;
        EXPECT_TRUE(described >= 20 && described <= 300) << name << " " << described;
        EXPECT_TRUE(uses_only_plain_keywords(base::get_object(tool, "inputSchema"), 0)) << name;
        EXPECT_LE(visible_bytes(JsonArray{tool}), 2048U) << name;
        const bool reads = base::get_bool(tool, "annotations.readOnlyHint");
        EXPECT_TRUE(reads || (!name.ends_with("_get") && !name.ends_with("_list"))) << name;
    }
}

TEST(Contract, tool_lists_stay_within_their_bytes) {
    EXPECT_LE(visible_bytes(tools_of("all")), 28672U);
    EXPECT_LE(visible_bytes(tools_of("default")), 20480U);
    EXPECT_LE(base::to_text(JsonValue(tools_of("all"))).size(), 57344U);
    EXPECT_LE(std::string(api::mcp::instructions()).size(), 1536U);
}

}  // namespace
}  // namespace instantstart
