// Mcp: the agent face, on /mcp and /mcp/<toolset>. Stateless: what one request needs is in it.
#pragma once

#include <map>
#include <string>

#include "api/auth.h"
#include "api/mcp/protocol.h"
#include "app/execute.h"
#include "http/message.h"

namespace instantstart::api::mcp {

class Mcp {
public:
    Mcp(app::Executor& executor, rt::Clock& clock, std::string version)
        : executor_(executor), clock_(clock), version_(std::move(version)) {}

    // `toolset` is what follows /mcp/ ("" for /mcp itself).
    boost::asio::awaitable<http::Response> handle(rt::Context context, http::Request request,
                                                  std::string toolset, Auth::Asked asked);

private:
    struct Turn {  // one request on its way
        Turn() = default;
        Message message;
        std::string toolset;
        app::Caller caller;
        bool accepts_stream = false;
    };
    boost::asio::awaitable<http::Response> answer(rt::Context context, Turn turn);
    boost::asio::awaitable<http::Response> call_tool(rt::Context context, Turn turn);
    http::Response initialize(const Turn& turn) const;
    http::Response discover(const Turn& turn) const;
    http::Response list_tools(const Turn& turn);
    http::Response listen(const Turn& turn) const;
    http::Response reply(const Turn& turn, JsonObject result) const;
    http::Response cached(const Turn& turn, JsonObject result, bool is_public) const;
    http::Response wait_stream(rt::Context context, Turn turn, app::Invocation invocation);

    app::Executor& executor_;
    rt::Clock& clock_;
    std::string version_;
    std::map<std::string, std::string> lists_;  // toolset and role -> the tools as JSON text
};

// What a tool's result is made of, for both shapes of answer.
JsonObject tool_result(const app::Outcome& outcome);
JsonObject tool_error(const base::Error& error);
// Puts resultType and serverInfo into a result of the modern era.
void complete_result(JsonObject& result, const std::string& version);
const char* instructions();

}  // namespace instantstart::api::mcp
