#include "twin/kube/api_server.h"

#include <set>

#include "base/text.h"
#include "twin/kube/protobuf.h"
#include "twin/kube/rbac.h"
#include "twin/kube/status.h"
#include "twin/kube/yaml_body.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::size_t kJsonDepth = 100;

std::string bearer(const http::Request& request) {
    const auto header = request.headers.get("Authorization");
    constexpr std::string_view kPrefix = "Bearer ";
    if (header.size() <= kPrefix.size() ||
        !base::iequals(std::string_view(header).substr(0, kPrefix.size()), kPrefix))
        return "";
    return std::string(base::trim(std::string_view(header).substr(kPrefix.size())));
}

bool is_health(std::string_view path) {
    return path == "/healthz" || path == "/livez" || path == "/readyz" || path.starts_with("/livez/") ||
           path.starts_with("/readyz/") || path == "/version";
}

std::optional<User> authenticate(const ClusterState& state, const http::Request& request,
                                 std::string_view path) {
    const auto token = bearer(request);
    auto user = token.empty() || !state.config.authenticate ? std::nullopt : state.config.authenticate(token);
    if (user) {
        user->groups.emplace_back("system:authenticated");
        return user;
    }
    if (!token.empty() || !is_health(path)) return std::nullopt;
    User anonymous;
    anonymous.name = "system:anonymous";
    anonymous.groups = {"system:unauthenticated"};
    return anonymous;
}

// Who the caller asks to be taken for, by the Impersonate headers; 403 where he may not.
base::Result<User> impersonated(const ClusterState& state, const http::Request& request, User caller) {
    const auto name = request.headers.get("Impersonate-User");
    const auto groups = request.headers.all("Impersonate-Group");
    if (name.empty()) {
        if (groups.empty()) return caller;
        return bad_request("requested [{Group    }] without impersonating a user");
    }
    constexpr std::string_view kAccount = "system:serviceaccount:";
    const auto account = name.starts_with(kAccount)
                             ? base::split(std::string_view(name).substr(kAccount.size()), ':')
                             : std::vector<std::string>();
    const auto check = [&](const char* resource, const std::string& whom,
                           const std::string& ns) -> base::Result<void> {
        Attributes asked;
        asked.verb = "impersonate";
        asked.resource = resource;
        asked.name = whom;
        asked.ns = ns;
        if (is_authorised(state.store, caller, asked)) return base::ok();
        const Kind kind("", resource);
        return forbidden(std::string(resource) + " \"" + whom + "\" is forbidden: " + refusal(caller, asked),
                         kind, whom);
    };
    User user;
    user.name = name;
    user.groups = groups;
    if (account.size() == 2) {
        CHECK_OK(check("serviceaccounts", account[1], account[0]));
        if (groups.empty()) user.groups = {"system:serviceaccounts", "system:serviceaccounts:" + account[0]};
    } else {
        CHECK_OK(check("users", name, ""));
    }
    for (const auto& group : groups) CHECK_OK(check("groups", group, ""));
    user.groups.emplace_back(name == "system:anonymous" ? "system:unauthenticated" : "system:authenticated");
    return user;
}

Attributes attributes_of(const ApiCall& call) {
    Attributes out;
    if (!call.is_resource()) {
        out.verb = base::to_lower(call.method);
        out.path = call.path;
        return out;
    }
    out.verb = call.verb();
    out.group = call.group;
    out.resource = call.plural;
    out.subresource = call.subresource;
    out.ns = call.ns;
    out.name = call.name;
    return out;
}

base::Error refused(const ApiCall& call, const Attributes& asked) {
    const Kind kind(call.group, call.plural);
    if (!call.is_resource()) {
        auto error = forbidden("forbidden: " + refusal(call.user, asked), kind, "");
        error.extra["details"] = JsonObject();
        return error;
    }
    auto subject = qualified(kind);
    if (!call.name.empty()) subject += " \"" + call.name + "\"";
    const auto text = subject + " is forbidden: " + refusal(call.user, asked);
    return forbidden(text, kind, call.name);
}

bool is_review(const KindInfo& kind) {
    return kind.kind.group == "authorization.k8s.io" || kind.kind.group == "authentication.k8s.io";
}

http::Response not_implemented(const ApiCall& call) {
    return error_response(
        server_error(501, "NotImplemented", "the simulated cluster does not offer " + call.subresource));
}

http::Response answer_subresource(const StatePtr& state, const ApiCall& call) {
    const auto& name = call.subresource;
    if (!call.kind->has(name) || call.name.empty()) return error_response(no_such_path());
    if (name == "log")
        return call.method == "GET" ? answer_log(state, call) : error_response(method_not_allowed());
    if (name == "scale") return answer_scale(state, call);
    if (name == "exec" || name == "attach" || name == "portforward" || name == "proxy")
        return not_implemented(call);
    if (call.method == "POST") {
        if (name == "eviction") return answer_eviction(state, call);
        if (name == "binding") return answer_binding(state, call);
        if (name == "token") return answer_token(state, call);
        return error_response(method_not_allowed());
    }
    if (call.method == "GET") return answer_read(state, call);
    if (call.method == "PUT" || call.method == "PATCH") return answer_write(state, call);
    return error_response(method_not_allowed());
}

// What is asked for must be something that there is: JSON in one of its forms, or what counts as any.
bool is_acceptable(std::string_view accept) {
    if (accept.empty()) return true;
    for (auto word : {"json", "yaml", "protobuf", "*/*", "application/*", "cbor"}) {
        if (accept.find(word) != std::string_view::npos) return true;
    }
    return false;
}

http::Response answer_resource(const StatePtr& state, ApiCall& call) {
    if (call.subresource != "log" && !is_acceptable(call.request.headers.get("Accept")))
        return error_response(
            server_error(406, "NotAcceptable",
                         "only the following media types are accepted: application/json, application/yaml, "
                         "application/vnd.kubernetes.protobuf"));
    if (call.kind == nullptr) return error_response(no_such_path());
    if (!call.kind->namespaced && !call.ns.empty()) return error_response(no_such_path());
    if (!call.subresource.empty()) return answer_subresource(state, call);
    if (is_review(*call.kind))
        return call.method == "POST" ? answer_review(state, call) : error_response(method_not_allowed());
    const bool named = !call.name.empty();
    if (call.kind->namespaced && call.ns.empty() && (named || call.method != "GET")) {
        return error_response(named ? no_such_path() : method_not_allowed());
    }
    // A watch on one object, as older clients ask it, is a watch with a selector.
    if (call.is_watch()) return answer_watch(state, call);
    if (call.method == "GET") return answer_read(state, call);
    if (call.method == "DELETE") return answer_delete(state, call);
    if (call.method == "POST" && !named) return answer_write(state, call);
    if ((call.method == "PUT" || call.method == "PATCH") && named) return answer_write(state, call);
    return error_response(method_not_allowed());
}

}  // namespace

base::Result<JsonObject> read_body(const ApiCall& call) {
    const auto& body = call.request.body;
    if (is_protobuf(body)) return decode_protobuf(body);
    const auto type = call.request.headers.get("Content-Type");
    if (!type.empty() && type.find("json") == std::string::npos && type.find("yaml") == std::string::npos &&
        type.find("*/*") == std::string::npos) {
        return server_error(415, "UnsupportedMediaType",
                            "the body of the request was in an unknown format - accepted media types "
                            "include: application/json, "
                            "application/vnd.kubernetes.protobuf");
    }
    auto parsed = base::parse_json(body, kJsonDepth);
    if (!parsed.has_value() && type.find("yaml") != std::string::npos) {
        auto yaml = parse_yaml(body);
        if (!yaml.has_value()) return std::move(yaml).error();
        parsed = std::move(yaml);
    }
    if (!parsed.has_value())
        return bad_request("the object provided is unrecognized: " + parsed.error().message);
    if (!parsed->is_object())
        return bad_request("the object provided is unrecognized: it must be a JSON object");
    return std::move(parsed->get_object());
}

http::Response answer(StatePtr state, http::Request request, std::string_view path, ApiCall& call) {
    auto user = authenticate(*state, request, path);
    call = parse_call(std::move(request), path, state->kinds);
    if (!user) return error_response(server_error(401, "Unauthorized", "Unauthorized"));
    auto acting = impersonated(*state, call.request, std::move(*user));
    if (!acting.has_value()) return error_response(acting.error());
    call.user = std::move(*acting);
    const auto asked = attributes_of(call);
    const bool open = is_health(call.path);
    if (!open && !is_authorised(state->store, call.user, asked)) return error_response(refused(call, asked));
    if (call.is_resource()) return answer_resource(state, call);
    if (!call.segments.empty() && call.segments[0] == "openapi") return answer_open_api(state, call);
    return answer_discovery(state, call);
}

}  // namespace instantstart::twin::kube
