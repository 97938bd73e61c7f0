#include "api/rest/rest.h"

#include "api/problem.h"
#include "app/schema.h"
#include "base/text.h"

namespace instantstart::api {

namespace {

using app::Catalogue;
using base::JsonObject;

bool is_json(const std::string& content_type) {
    const std::string type = base::to_lower(base::trim(content_type.substr(0, content_type.find(';'))));
    return type == "application/json" || (type.starts_with("application/") && type.ends_with("+json"));
}

base::Error no_such_path(const std::string& path) {
    return base::not_found_error("The path /api/v1" + path)
        .with_hint("/api/v1/openapi.json lists every path.");
}

http::Response method_not_allowed(const Catalogue::Route& route) {
    const std::string allowed = base::join(route.allowed_methods, ", ");
    http::Response response = problem_response(
        base::Error(base::ErrorKind::invalid, "method_not_allowed", "This path takes " + allowed));
    response.headers.set("Allow", allowed);
    return response;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

base::Result<void> check_utf8(const Pairs& pairs) {
    for (const auto& [name, value] : pairs) {
        if (!base::is_valid_utf8(name) || !base::is_valid_utf8(value)) {
            return unreadable("invalid_utf8", "The path or query is not valid UTF-8");
        }
    }
    return base::ok();
}

// Path parameters go over the body's: a body may repeat one, but not contradict it.
base::Result<void> add_path(const JsonObject& schema, const Pairs& parameters, JsonObject& arguments) {
    std::vector<base::FieldError> faults;
    const JsonObject coerced = app::coerce_text(schema, parameters);
    for (const auto& entry : coerced) {
        const base::JsonValue* given = arguments.if_contains(entry.key());
        if (given != nullptr && *given != entry.value()) {
            faults.push_back(app::fault("/" + std::string(entry.key()), "contradicts the path"));
        }
        arguments[entry.key()] = entry.value();
    }
    if (!faults.empty()) return app::faults_error(std::move(faults));
    return base::ok();
}

// Query, body and path together. A query says something only for GET, and for DELETE beside or instead of a
// body.
base::Result<JsonObject> gather(const http::Request& request, const Catalogue::Route& route) {
    const Pairs query = request.parameters();
    CHECK_OK(check_utf8(query));
    CHECK_OK(check_utf8(route.parameters));
    const JsonObject& schema = route.operation->input_schema();
    JsonObject arguments;
    if (request.method != "GET") {
        TRY(arguments, read_body(request));
    }
    if (request.method == "GET" || request.method == "DELETE") {
        const JsonObject coerced = app::coerce_text(schema, query);
        for (const auto& entry : coerced) {
            if (!arguments.contains(entry.key())) arguments[entry.key()] = entry.value();
        }
    } else if (!query.empty()) {
        return unreadable(
            "unexpected_query",
            "A " + request.method + " request takes no query parameters; put them into the body");
    }
    CHECK_OK(add_path(schema, route.parameters, arguments));
    return arguments;
}

}  // namespace

base::Result<JsonObject> read_body(const http::Request& request) {
    if (base::trim(request.body).empty()) return JsonObject();
    const std::string type = request.headers.get("Content-Type");
    if (!is_json(type)) {
        return unreadable("unsupported_media_type",
                          "The body must be JSON, sent as Content-Type: application/json");
    }
    auto parsed = base::parse_json(request.body);
    if (!parsed) return unreadable("invalid_json", parsed.error().message);
    if (!parsed->is_object()) return unreadable("invalid_body", "The body must be a JSON object");
    return std::move(parsed->get_object());
}

rt::Task<http::Response> Rest::answer(rt::Context context, http::Request request, std::string path,
                                      Auth::Asked asked) {
    Catalogue::Route route = executor_.catalogue().route(request.method, path);
    if (route.operation == nullptr) {
        if (!base::is_valid_utf8(base::percent_decode(path)))
            co_return unreadable("invalid_utf8", "The path is not valid UTF-8");
        if (route.allowed_methods.empty()) co_return no_such_path(path);
        co_return method_not_allowed(route);
    }
    app::Invocation invocation;
    invocation.operation = route.operation;
    CO_TRY(invocation.arguments, gather(request, route));
    invocation.idempotency_key = request.headers.get("Idempotency-Key");
    constexpr std::size_t kMaxKey = 128;
    if (invocation.idempotency_key.size() > kMaxKey || !base::is_valid_utf8(invocation.idempotency_key)) {
        co_return unreadable("invalid_header", "Idempotency-Key must be at most 128 characters of UTF-8");
    }
    invocation.caller = std::move(asked.caller);
    if (invocation.caller.face.empty()) invocation.caller.face = "rest";
    auto executed = co_await executor_.execute(std::move(context), std::move(invocation));
    CO_TRY(app::Outcome outcome, std::move(executed));
    constexpr int kAccepted = 202;
    http::Response response = json_response(outcome.started ? kAccepted : 200, outcome.body);
    const std::string id = base::get_string(outcome.body, "operation.id");
    if (outcome.started && !id.empty()) response.headers.set("Location", "/api/v1/operations/" + id);
    co_return response;
}

boost::asio::awaitable<http::Response> Rest::handle(rt::Context context, http::Request request,
                                                    std::string path, Auth::Asked asked) {
    auto answered = co_await answer(context, std::move(request), std::move(path), std::move(asked));
    if (answered) co_return std::move(answered).value();
    const base::Error& error = answered.error();
    if (error.kind == base::ErrorKind::internal) {
        context.log(base::LogLevel::error, "request_failed", {{"error", base::JsonValue(error.chain())}});
    }
    co_return problem_response(error);
}

}  // namespace instantstart::api
