// call and watch: the command line's face. `call` sends what REST takes; the server checks it.
#include <iostream>

#include "base/text.h"
#include "server/api_client.h"
#include "server/call_arguments.h"
#include "server/commands.h"
#include "server/follow.h"
#include "server/render.h"

namespace instantstart::server {

namespace {

using base::JsonObject;
using base::JsonValue;

constexpr int kUsage = 2;

std::string text_of(const JsonValue& value) {
    if (value.is_string()) return std::string(value.get_string());
    return base::to_text(value);
}

// The path with its parameters filled in; they leave `arguments`.
std::string take_path(const app::Meta& meta, JsonObject& arguments) {
    std::string path;
    for (const auto& part : base::split(meta.path, '/')) {
        if (part.empty()) continue;
        path += '/';
        if (part.front() != '{') {
            path += part;
            continue;
        }
        const std::string name = part.substr(1, part.size() - 2);
        const JsonValue* value = arguments.if_contains(name);
        // Queries and changes that remove nothing default to the active cluster, as the server does.
        path +=
            base::percent_encode(value == nullptr ? (name == "cluster" ? "active" : "-") : text_of(*value));
        arguments.erase(name);
    }
    return path;
}

std::string take_query(JsonObject& arguments) {
    std::string query;
    for (const auto& entry : arguments) {
        const auto add = [&query, &entry](const JsonValue& value) {
            query += (query.empty() ? "?" : "&") + base::percent_encode(entry.key()) + "=" +
                     base::percent_encode(text_of(value));
        };
        if (entry.value().is_array()) {
            for (const auto& value : entry.value().get_array()) add(value);
        } else {
            add(entry.value());
        }
    }
    arguments.clear();
    return query;
}

rt::Task<int> call_operation(ApiClient& client, const app::Operation& operation, CallArguments asked) {
    const app::Meta& meta = operation.meta();
    std::string path = take_path(meta, asked.arguments);
    if (meta.method == "GET") path += take_query(asked.arguments);
    auto answered =
        co_await client.send(meta.method, std::move(path), std::move(asked.arguments), asked.idempotency_key);
    CO_TRY(ApiClient::Reply reply, std::move(answered));
    constexpr int kRefused = 400;
    if (reply.status >= kRefused) {
        if (asked.json)
            std::cout << base::pretty_text(JsonValue(reply.body)) << "\n";
        else
            print_problem(reply.body);
        co_return 1;
    }
    const std::string id = base::get_string(reply.body, "operation.id");
    int code = 0;
    if (asked.wait && meta.kind == app::Kind::long_running && !id.empty()) {
        auto followed = co_await follow_operation(client, id);
        CO_TRY(JsonObject operation_end, std::move(followed));
        code = report_end(operation_end);
        operation_end.erase("plan");                    // known before; what counts now is the result
        if (!asked.json) operation_end.erase("steps");  // each was shown as it went
        reply.body["operation"] = std::move(operation_end);
    }
    if (asked.json)
        std::cout << base::pretty_text(JsonValue(reply.body)) << "\n";
    else
        std::cout << render(reply.body);
    co_return code;
}

rt::Task<int> watch_operation(ApiClient& client, std::string id) {
    auto followed = co_await follow_operation(client, std::move(id));
    CO_TRY(const JsonObject operation, std::move(followed));
    co_return report_end(operation);
}

}  // namespace

int run_call(const Flags& flags) {
    const auto catalogue = app::make_catalogue();
    auto asked = parse_call(*catalogue, flags.arguments);
    if (!asked) {
        std::cerr << "instantstart: " << asked.error().message << "\n" << asked.error().hint << "\n";
        return kUsage;
    }
    if (asked->operation.empty()) {
        (asked->help ? std::cout : std::cerr) << call_help(*catalogue);
        return asked->help ? 0 : kUsage;
    }
    const app::Operation& operation = *catalogue->find(asked->operation);
    if (asked->help) {
        std::cout << operation_help(operation);
        return 0;
    }
    Flags with = flags;
    const char* url = std::getenv("INSTANTSTART_URL");
    with.url = !asked->url.empty() ? asked->url : url != nullptr ? url : "";
    const char* data = std::getenv("INSTANTSTART_DATA");
    if (!asked->data_dir.empty())
        with.data_dir = asked->data_dir;
    else if (data != nullptr)
        with.data_dir = data;
    return with_client(
        with, [&operation, &asked](ApiClient& client) { return call_operation(client, operation, *asked); });
}

int run_watch(const Flags& flags) {
    return with_client(flags,
                       [&flags](ApiClient& client) { return watch_operation(client, flags.operation); });
}

}  // namespace instantstart::server
