// The faces over the toy catalogue: what stands before them, REST, and MCP in both eras.
#include "api/api.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "app/testing.h"
#include "base/digest.h"
#include "base/text.h"

namespace instantstart::api {
namespace {

using base::JsonObject;
using base::JsonValue;

struct Reply {
    int status = 0;
    http::Headers headers;
    JsonObject body;
    std::string text;
};

class Faces : public ::testing::Test {
protected:
    app::testing::World world_;
    Api api_{world_.io.get_executor(), world_.clock, world_.executor, settings()};

    static ApiSettings settings() {
        ApiSettings made;
        made.auth.admin_token = "secret";
        made.allowed_hosts = {"console.example"};
        made.version = "1";
        return made;
    }

    static rt::Task<Reply> exchange(Api& api, http::Request request) {
        http::Response response = co_await api.handle({}, std::move(request));
        Reply reply;
        reply.status = response.status;
        reply.headers = response.headers;
        reply.text = std::move(response.body);
        while (response.stream) {
            auto piece = co_await response.stream->read();
            CO_TRY(std::optional<std::string> text, std::move(piece));
            if (!text) break;
            reply.text += *text;
        }
        auto parsed = base::parse_json(reply.text);
        if (parsed && parsed->is_object()) reply.body = parsed->get_object();
        co_return reply;
    }
    static http::Request request(const char* method, const std::string& target,
                                 const std::string& body = "") {
        http::Request made;
        made.method = method;
        made.target = target;
        made.headers.set("Host", "127.0.0.1:3099");
        made.headers.set("Authorization", "Bearer secret");
        if (!body.empty()) made.headers.set("Content-Type", "application/json");
        made.body = body;
        return made;
    }
    Reply send(http::Request asked) {
        auto reply = world_.run(exchange(api_, std::move(asked)));
        EXPECT_TRUE(reply) << (reply ? "" : reply.error().chain());
        return reply ? std::move(reply).value() : Reply();
    }
    Reply send(const char* method, const std::string& target, const std::string& body = "") {
        return send(request(method, target, body));
    }

    static http::Request modern(const std::string& method, JsonObject params = {},
                                const char* path = "/mcp") {
        params["_meta"] = JsonObject{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                                     {"io.modelcontextprotocol/clientCapabilities", JsonObject()}};
        const std::string name = base::get_string(params, "name");
        const JsonObject message = {
            {"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
        http::Request made = request("POST", path, base::to_text(message));
        made.headers.set("MCP-Protocol-Version", "2026-07-28");
        made.headers.set("Mcp-Method", method);
        if (!name.empty()) made.headers.set("Mcp-Name", name);
        return made;
    }
    Reply legacy(const std::string& method, JsonObject params = {}, const char* path = "/mcp") {
        const JsonObject message = {
            {"jsonrpc", "2.0"}, {"id", 7}, {"method", method}, {"params", std::move(params)}};
        return send("POST", path, base::to_text(message));
    }
    Reply tool(const char* name, JsonObject arguments, const char* path = "/mcp") {
        return legacy("tools/call", {{"name", name}, {"arguments", std::move(arguments)}}, path);
    }
    static std::string code(const Reply& reply) { return base::get_string(reply.body, "code"); }
};

TEST_F(Faces, health_is_open_and_all_else_wants_a_token) {
    http::Request open = request("GET", "/healthz");
    open.headers.remove("Authorization");
    EXPECT_EQ(send(open).status, 200);
    for (const char* path : {"/api/v1/operations", "/metrics", "/api/v1/openapi.json", "/api/v1/nowhere"}) {
        http::Request asked = request("GET", path);
        asked.headers.remove("Authorization");
        EXPECT_EQ(send(asked).status, 401) << path;
        asked.headers.set("Authorization", "Bearer wrong");
        EXPECT_EQ(send(asked).status, 401) << path;
    }
    http::Request mcp = request("POST", "/mcp", "{}");
    mcp.headers.remove("Authorization");
    EXPECT_EQ(send(mcp).status, 401);
}

TEST_F(Faces, foreign_hosts_and_origins_are_refused) {
    http::Request asked = request("GET", "/api/v1/operations");
    for (const char* host : {"localhost:1", "[::1]:3099", "127.8.9.1", "console.example:80"}) {
        asked.headers.set("Host", host);
        EXPECT_EQ(send(asked).status, 200) << host;
    }
    for (const char* host : {"evil.example", "127.0.0.1.evil.example", "", "localhost.evil"}) {
        asked.headers.set("Host", host);
        EXPECT_EQ(send(asked).status, 421) << host;
    }
    asked.headers.set("Host", "127.0.0.1:3099");
    asked.headers.set("Origin", "http://127.0.0.1:3099");
    EXPECT_EQ(send(asked).status, 200);
    for (const char* origin : {"https://evil.example", "null", "http://127.0.0.1:3100"}) {
        asked.headers.set("Origin", origin);
        EXPECT_EQ(send(asked).status, 403) << origin;
    }
    http::Request mcp = modern("tools/list");
    mcp.headers.set("Origin", "https://evil.example");
    EXPECT_EQ(send(mcp).status, 403);
}

TEST_F(Faces, a_session_begins_with_a_token_or_a_code_that_works_once) {
    EXPECT_EQ(send("POST", "/api/v1/session", R"({"token": "wrong"})").status, 401);
    const Reply begun = send("POST", "/api/v1/session", R"({"token": "secret"})");
    ASSERT_EQ(begun.status, 200);
    const std::string cookie = begun.headers.get("Set-Cookie");
    EXPECT_THAT(cookie, ::testing::HasSubstr("HttpOnly; SameSite=Strict"));
    http::Request by_cookie = request("POST", "/api/v1/clusters/demo/touch", "{}");
    by_cookie.headers.remove("Authorization");
    by_cookie.headers.set("Cookie", "other=1; " + cookie.substr(0, cookie.find(';')));
    EXPECT_EQ(send(by_cookie).status, 403) << "an unsafe request by cookie needs our Origin";
    by_cookie.headers.set("Origin", "http://127.0.0.1:3099");
    EXPECT_EQ(send(by_cookie).status, 200);
    http::Request stream = by_cookie;
    stream.method = "GET";
    stream.target = "/api/v1/stream";
    stream.headers.remove("Origin");
    EXPECT_EQ(send(stream).status, 403);
    by_cookie.method = "DELETE";
    by_cookie.target = "/api/v1/session";
    EXPECT_EQ(send(by_cookie).status, 204);
    by_cookie.method = "GET";
    EXPECT_EQ(send(by_cookie).status, 401);

    const std::string code = api_.auth().make_login_code();
    const Reply first = send("GET", "/login?code=" + code);
    EXPECT_EQ(first.headers.get("Location"), "/");
    EXPECT_FALSE(first.headers.get("Set-Cookie").empty());
    EXPECT_EQ(send("GET", "/login?code=" + code).headers.get("Set-Cookie"), "");
}

TEST_F(Faces, tokens_of_a_file_have_roles_and_are_read_again) {
    const auto path = std::filesystem::temp_directory_path() / ("tokens-" + base::hex(base::random_bytes(8)));
    std::ofstream(path) << "# comment\nvera viewer " << base::sha256_hex("v") << "\n";
    AuthSettings settings;
    settings.token_file = path;
    Auth auth(world_.clock, settings);
    http::Request asked;
    asked.headers.set("Authorization", "Bearer v");
    auto known = auth.authenticate(asked);
    ASSERT_TRUE(known);
    EXPECT_EQ(known->caller.principal, "vera");
    EXPECT_EQ(known->caller.role, app::Role::viewer);
    std::filesystem::remove(path);
    EXPECT_FALSE(auth.authenticate(asked));
}

TEST_F(Faces, rest_answers_with_the_status_that_belongs_to_the_case) {
    const Reply started = send("POST", "/api/v1/clusters/demo/things", R"({"name": "one"})");
    EXPECT_EQ(started.status, 202) << started.text;
    EXPECT_EQ(started.headers.get("Location"),
              "/api/v1/operations/" + base::get_string(started.body, "operation.id"));
    EXPECT_EQ(send("POST", "/api/v1/clusters/demo/things", R"({"name": "there"})").status, 200);
    struct Case {
        const char *method, *target, *body;
        int status;
        const char* code;
    };
    const Case cases[] = {
        {"GET", "/api/v1/nowhere", "", 404, "not_found"},
        {"PUT", "/api/v1/operations", "", 405, "method_not_allowed"},
        {"GET", "/api/v1/operations/op_nope", "", 404, "not_found"},
        {"POST", "/api/v1/clusters/demo/things", "{not json", 400, "invalid_json"},
        {"POST", "/api/v1/clusters/demo/things", "[]", 400, "invalid_body"},
        {"POST", "/api/v1/clusters/demo/things", "{\"name\": \"\xff\"}", 400, "invalid_json"},
        {"POST", "/api/v1/clusters/demo/things", R"({"nmae": "one"})", 422, "invalid_field"},
        {"POST", "/api/v1/clusters/demo/things", R"({"name": "two", "cluster": "other"})", 422,
         "invalid_field"},
        {"POST", "/api/v1/clusters/demo/things?name=two", "{}", 400, "unexpected_query"},
        {"GET", "/api/v1/clusters/%ff/thing", "", 400, "invalid_utf8"},
        {"GET", "/api/v1/clusters/demo/thing?size=two", "", 422, "invalid_field"},
        {"GET", "/api/v1/operations?cursor=x", "", 422, "invalid_cursor"},
        {"DELETE", "/api/v1/clusters/demo/things/two", "", 409, "confirmation_required"},
        {"POST", "/api/v1/operations/op_nope/retry", "", 404, "not_found"},
    };
    for (const auto& entry : cases) {
        const Reply reply = send(entry.method, entry.target, entry.body);
        EXPECT_EQ(reply.status, entry.status) << entry.target << " " << reply.text;
        EXPECT_EQ(code(reply), entry.code) << entry.target;
        EXPECT_EQ(reply.headers.get("Content-Type"), "application/problem+json");
        EXPECT_FALSE(base::get_string(reply.body, "detail").empty());
    }
    http::Request text = request("POST", "/api/v1/clusters/demo/things", "{}");
    text.headers.set("Content-Type", "text/plain");
    EXPECT_EQ(send(text).status, 415);
    EXPECT_EQ(send("DELETE", "/api/v1/clusters/other/things/one?confirm=one").status, 202);
}

TEST_F(Faces, openapi_names_every_operation_and_metrics_count) {
    const Reply document = send("GET", "/api/v1/openapi.json");
    EXPECT_EQ(base::get_string(document.body, "openapi"), "3.1.0");
    for (const auto& operation : world_.catalogue->operations()) {
        EXPECT_THAT(document.text, ::testing::HasSubstr("\"" + app::tool_name(operation->meta()) + "\""));
    }
    EXPECT_THAT(send("GET", "/metrics").text,
                ::testing::HasSubstr("instantstart_requests_total{face=\"rest\",status=\"2xx\"}"));
}

TEST_F(Faces, the_console_is_served_with_a_strict_policy) {
    const Reply page = send("GET", "/clusters/demo");
    EXPECT_EQ(page.status, 200);
    EXPECT_THAT(page.headers.get("Content-Security-Policy"), ::testing::HasSubstr("default-src 'none'"));
    EXPECT_EQ(page.headers.get("X-Frame-Options"), "DENY");
    EXPECT_EQ(send("GET", "/assets/none.js").status, 404);
    EXPECT_EQ(send("POST", "/", "{}").status, 405);
}

TEST_F(Faces, modern_era_answers_discover_and_lists_with_cache_hints) {
    const Reply discover = send(modern("server/discover"));
    EXPECT_EQ(discover.status, 200);
    EXPECT_EQ(base::find_path(discover.body, "result.supportedVersions.0")->as_string(), "2026-07-28");
    EXPECT_EQ(base::get_string(discover.body, "result.resultType"), "complete");
    EXPECT_LE(base::get_string(discover.body, "result.instructions").size(), 1536U);
    const Reply list = send(modern("tools/list"));
    EXPECT_EQ(base::get_string(list.body, "result.cacheScope"), "private");
    EXPECT_GT(base::get_int(list.body, "result.ttlMs"), 0);
}

TEST_F(Faces, modern_era_checks_what_headers_and_meta_say) {
    http::Request contradicting = modern("tools/list");
    contradicting.headers.set("Mcp-Method", "tools/call");
    Reply reply = send(contradicting);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(base::get_int(reply.body, "error.code"), -32020);
    EXPECT_EQ(base::get_int(reply.body, "id"), 7);
    http::Request nameless = modern("tools/call", {{"name", "thing_get"}});
    nameless.headers.remove("Mcp-Name");
    EXPECT_EQ(base::get_int(send(nameless).body, "error.code"), -32020);
    http::Request bare =
        request("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}})");
    bare.headers.set("MCP-Protocol-Version", "2026-07-28");
    EXPECT_EQ(base::get_int(send(bare).body, "error.code"), -32602);
    http::Request future = request(
        "POST", "/mcp",
        R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})");
    reply = send(future);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(base::get_int(reply.body, "error.code"), -32022);
    EXPECT_EQ(base::get_string(reply.body, "error.data.requested"), "2030-01-01");
    for (const char* gone : {"ping", "initialize", "logging/setLevel", "no/such"}) {
        reply = send(modern(gone));
        EXPECT_EQ(reply.status, 404) << gone;
        EXPECT_EQ(base::get_int(reply.body, "error.code"), -32601) << gone;
    }
}

TEST_F(Faces, legacy_era_is_served_without_sessions) {
    Reply reply = legacy("initialize", {{"protocolVersion", "2025-06-18"}});
    EXPECT_EQ(base::get_string(reply.body, "result.protocolVersion"), "2025-06-18");
    EXPECT_FALSE(reply.headers.has("Mcp-Session-Id"));
    reply = legacy("initialize", {{"protocolVersion", "2024-01-01"}});
    EXPECT_EQ(base::get_string(reply.body, "result.protocolVersion"), "2025-11-25");
    EXPECT_EQ(legacy("ping").status, 200);
    EXPECT_EQ(send("GET", "/mcp").status, 405);
    EXPECT_EQ(send("POST", "/mcp", R"({"jsonrpc":"2.0","method":"notifications/initialized"})").status, 202);
    EXPECT_EQ(send("POST", "/mcp", "[]").status, 400);
    EXPECT_EQ(send("POST", "/mcp/nowhere", "{}").status, 404);
    http::Request odd = request("POST", "/mcp", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
    odd.headers.set("MCP-Protocol-Version", "1999-01-01");
    EXPECT_EQ(send(odd).status, 400);
    EXPECT_EQ(base::get_int(legacy("no/such").body, "error.code"), -32601);
    EXPECT_EQ(base::get_int(legacy("resources/read", {{"uri", "x://y"}}).body, "error.code"), -32602);
}

TEST_F(Faces, tools_answer_in_both_shapes_and_errors_are_results) {
    Reply reply = tool("thing_get", {{"cluster", "demo"}});
    const std::string text = base::get_string(reply.body, "result.content.0.text");
    EXPECT_TRUE(text.starts_with("One thing.\n{"));
    EXPECT_EQ(base::get_string(reply.body, "result.structuredContent.thing.cluster"), "demo");
    reply = tool("thing_make", {{"cluster", "demo"}, {"name", "Bad"}});
    EXPECT_TRUE(base::get_bool(reply.body, "result.isError"));
    EXPECT_EQ(base::get_string(reply.body, "result.structuredContent.errors.0.pointer"), "/name");
    reply = tool("thing_mak", {});
    EXPECT_EQ(base::get_int(reply.body, "error.code"), -32602);
    reply = tool("thing_touch", {{"cluster", "demo"}}, "/mcp/readonly");
    EXPECT_EQ(base::get_string(reply.body, "result.structuredContent.code"), "read_only");
    reply = tool("operation_get", {{"operation_id", "op_nope"}});
    EXPECT_FALSE(base::get_string(reply.body, "result.structuredContent.hint").empty());
}

TEST_F(Faces, waiting_is_an_event_stream_that_ends_with_the_result) {
    Reply started = tool("thing_make", {{"cluster", "demo"}, {"name", "one"}, {"idempotency_key", "k"}});
    const std::string id = base::get_string(started.body, "result.structuredContent.operation.id");
    http::Request wait = modern(
        "tools/call",
        {{"name", "operation_get"}, {"arguments", JsonObject{{"operation_id", id}, {"wait_seconds", 50}}}});
    wait.headers.set("Accept", "application/json, text/event-stream");
    const Reply reply = send(wait);
    EXPECT_EQ(reply.headers.get("Content-Type"), "text/event-stream");
    EXPECT_THAT(reply.text, ::testing::HasSubstr("\"state\":\"succeeded\""));
    EXPECT_THAT(reply.text, ::testing::HasSubstr("\"resultType\":\"complete\""));
}

TEST_F(Faces, tool_lists_follow_the_role_and_the_toolset) {
    const Reply all = legacy("tools/list", {}, "/mcp/all");
    EXPECT_THAT(all.text, ::testing::HasSubstr("thing_make"));
    EXPECT_THAT(all.text, ::testing::HasSubstr("operation_get"));
    const Reply readonly = legacy("tools/list", {}, "/mcp/readonly");
    EXPECT_THAT(readonly.text, ::testing::Not(::testing::HasSubstr("\"thing_make\"")));
}

}  // namespace
}  // namespace instantstart::api
