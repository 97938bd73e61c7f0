// scale, binding and token.
#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/apply.h"
#include "twin/kube/metadata.h"
#include "twin/kube/patch.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

std::string replicas_path(const KindInfo& kind, std::string_view which) {
    const auto custom = base::get_string(kind.scale, which);
    if (!custom.empty()) return custom.substr(1);
    return which == "specReplicasPath" ? "spec.replicas" : "status.replicas";
}

void set_path(JsonObject& object, std::string_view dotted, JsonValue value) {
    const auto parts = base::split(dotted, '.');
    auto* at = &object;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) at = &object_at(*at, parts[i]);
    (*at)[parts.back()] = std::move(value);
}

std::string selector_of(const JsonObject& object) {
    std::vector<std::string> parts;
    for (const auto& label : base::get_object(object, "spec.selector.matchLabels")) {
        parts.push_back(std::string(label.key()) + "=" +
                        (label.value().is_string() ? std::string(label.value().get_string()) : ""));
    }
    return base::join(parts, ",");
}

JsonObject scale_of(const KindInfo& kind, const JsonObject& object) {
    JsonObject meta;
    for (auto key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
        if (const auto* value = base::get_object(object, "metadata").if_contains(key)) meta[key] = *value;
    }
    JsonObject status{{"replicas", base::get_int(object, replicas_path(kind, "statusReplicasPath"))}};
    const auto where = base::get_string(kind.scale, "labelSelectorPath");
    const auto selector =
        where.empty() ? selector_of(object) : base::get_string(object, std::string_view(where).substr(1));
    if (!selector.empty()) status["selector"] = selector;
    JsonObject spec;
    const auto replicas = base::get_int(object, replicas_path(kind, "specReplicasPath"));
    if (replicas != 0) spec["replicas"] = replicas;
    return JsonObject{{"kind", "Scale"},
                      {"apiVersion", "autoscaling/v1"},
                      {"metadata", std::move(meta)},
                      {"spec", std::move(spec)},
                      {"status", std::move(status)}};
}

base::Result<JsonObject> wanted_scale(const ApiCall& call, const JsonObject& scale) {
    if (call.method == "PUT") return read_body(call);
    TRY(const auto patch, base::parse_json(call.request.body));
    JsonValue target = scale;
    if (const auto* operations = patch.if_array()) {
        TRY(target, json_patch(target, *operations));
    } else {
        base::merge_patch(target, patch);
    }
    if (!target.is_object()) return bad_request("the patch does not give a Scale");
    return target.get_object();
}

}  // namespace

http::Response answer_scale(const StatePtr& state, const ApiCall& call) {
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    if (current == nullptr) return error_response(not_found(call.kind->kind, call.name));
    const auto scale = scale_of(*call.kind, *current);
    if (call.method == "GET") return json_response(200, scale);
    const auto wanted = wanted_scale(call, scale);
    if (!wanted.has_value()) return error_response(wanted.error());
    if (base::get_string(*wanted, "kind", "Scale") != "Scale")
        return error_response(bad_request("the object provided is unrecognized (must be of type Scale)"));
    const auto* count = base::find_path(*wanted, "spec.replicas");
    if (count != nullptr && !count->is_int64())
        return error_response(server_error(422, "Invalid", "spec.replicas: it must be a whole number"));
    const auto replicas = count == nullptr ? 0 : count->get_int64();
    if (replicas < 0) {
        return error_response(invalid_object(
            "Scale", "autoscaling", call.name,
            {Cause("FieldValueInvalid",
                   "Invalid value: " + std::to_string(replicas) + ": must be greater than or equal to 0",
                   "spec.replicas")}));
    }
    const auto revision = revision_of(*wanted);
    if (revision != 0 && revision != revision_of(*current))
        return error_response(conflict(call.kind->kind, call.name));
    auto next = *current;
    set_path(next, replicas_path(*call.kind, "specReplicasPath"), replicas);
    if (next == *current) return json_response(200, scale);
    ApplyOptions owner;
    owner.manager = call.manager();
    owner.subresource = "scale";
    owner.time = base::format_time(state->clock.now());
    owner.schema = call.kind->schema;
    track_update(current.get(), next, owner);
    if (call.dry_run()) return json_response(200, scale_of(*call.kind, next));
    const auto stored = state->store.update(call.kind->kind, std::move(next));
    if (!stored.has_value()) return error_response(stored.error());
    return json_response(200, scale_of(*call.kind, **stored));
}

http::Response answer_binding(const StatePtr& state, const ApiCall& call) {
    const auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    const auto pod = state->store.get(Kind("", "pods"), call.ns, call.name);
    if (pod == nullptr) return error_response(not_found(Kind("", "pods"), call.name));
    if (!base::get_string(*pod, "spec.nodeName").empty())
        return error_response(conflict(Kind("", "pods"), call.name));
    auto next = *pod;
    object_at(next, "spec")["nodeName"] = base::get_string(*body, "target.name");
    const auto stored = state->store.update(Kind("", "pods"), std::move(next));
    if (!stored.has_value()) return error_response(stored.error());
    return json_response(201, success_status(Kind("", "pods"), **stored));
}

// A token that looks like a service account's. Nothing here accepts it: pods of the simulation make no calls.
http::Response answer_token(const StatePtr& state, const ApiCall& call) {
    const auto account = state->store.get(Kind("", "serviceaccounts"), call.ns, call.name);
    if (account == nullptr) return error_response(not_found(Kind("", "serviceaccounts"), call.name));
    const auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    auto answer = *body;
    const auto seconds = base::get_int(answer, "spec.expirationSeconds", 3600);
    const auto now = state->clock.now();
    object_at(answer, "spec")["expirationSeconds"] = seconds;
    const JsonObject header{{"alg", "RS256"}, {"kid", "twin"}};
    const JsonObject claims{{"iss", "https://kubernetes.default.svc"},
                            {"sub", "system:serviceaccount:" + call.ns + ":" + call.name},
                            {"iat", static_cast<std::int64_t>(base::to_epoch(now))},
                            {"exp", static_cast<std::int64_t>(base::to_epoch(now)) + seconds}};
    const auto token = base::base64url_encode(base::to_text(header)) + "." +
                       base::base64url_encode(base::to_text(claims)) + "." +
                       base::base64url_encode(state->clock.random_id(32));
    answer["kind"] = "TokenRequest";
    answer["apiVersion"] = "authentication.k8s.io/v1";
    answer["status"] = JsonObject{
        {"token", token}, {"expirationTimestamp", base::format_time(now + std::chrono::seconds(seconds))}};
    return json_response(201, answer);
}

}  // namespace instantstart::twin::kube
