#include "twin/kube/call.h"

#include "base/text.h"

namespace instantstart::twin::kube {

namespace {

// Splits ["namespaces", ns, plural, name, sub…] or [plural, name, sub…].
void parse_resource(ApiCall& call, const std::vector<std::string>& rest) {
    std::size_t at = 0;
    const bool below_namespace =
        rest.size() >= 3 && rest[0] == "namespaces" && rest[2] != "status" && rest[2] != "finalize";
    if (below_namespace) {
        call.ns = rest[1];
        at = 2;
    }
    if (at >= rest.size()) return;
    call.plural = rest[at];
    if (at + 1 < rest.size()) call.name = rest[at + 1];
    if (at + 2 < rest.size()) call.subresource = rest[at + 2];
    if (call.plural == "namespaces") call.ns = "";
}

}  // namespace

bool ApiCall::flag(std::string_view key) const {
    const auto value = request.parameter(key);
    // As the real server reads them: whatever is not a way to say no says yes ("True" of the Python client).
    return value && *value != "0" && !base::iequals(*value, "false");
}

bool ApiCall::dry_run() const {
    if (parameter("dryRun") == "All") return true;
    return method == "DELETE" && request.body.find("\"dryRun\":[\"All\"]") != std::string::npos;
}

std::string ApiCall::verb() const {
    if (method == "POST") return "create";
    if (method == "PUT") return "update";
    if (method == "PATCH") return "patch";
    if (method == "DELETE") return name.empty() ? "deletecollection" : "delete";
    if (is_watch()) return "watch";
    return name.empty() ? "list" : "get";
}

std::string ApiCall::manager() const {
    auto given = parameter("fieldManager");
    if (!given.empty()) return given;
    const auto agent = request.headers.get("User-Agent");
    return agent.empty() ? "unknown" : agent.substr(0, agent.find('/'));
}

ApiCall parse_call(http::Request request, std::string_view path_below, const KindRegistry& kinds) {
    ApiCall call;
    call.method = request.method;
    call.path = path_below.empty() ? "/" : path_below;
    call.request = std::move(request);
    for (const auto& part : base::split(call.path, '/')) {
        if (!part.empty()) call.segments.push_back(base::percent_decode(part));
    }
    const auto& parts = call.segments;
    std::size_t at = 0;
    if (parts.size() >= 3 && parts[0] == "api") {
        call.version = parts[1];
        at = 2;
    } else if (parts.size() >= 4 && parts[0] == "apis") {
        call.group = parts[1];
        call.version = parts[2];
        at = 3;
    }
    if (at == 0) return call;
    std::vector<std::string> rest(parts.begin() + static_cast<std::ptrdiff_t>(at), parts.end());
    if (rest.size() > 1 && rest[0] == "watch") {
        call.watch_path = true;
        rest.erase(rest.begin());
    }
    parse_resource(call, rest);
    call.kind = kinds.find(call.group, call.version, call.plural);
    return call;
}

}  // namespace instantstart::twin::kube
