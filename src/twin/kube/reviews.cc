// Access and identity reviews: questions in the form of a create.
#include "twin/kube/api_server.h"
#include "twin/kube/metadata.h"
#include "twin/kube/rbac.h"
#include "twin/kube/status.h"
#include "twin/kube/validate_parts.h"

namespace instantstart::twin::kube {

namespace {

JsonArray strings(const std::vector<std::string>& values) {
    JsonArray out;
    for (const auto& value : values) out.emplace_back(value);
    return out;
}

JsonObject user_info(const User& user) {
    return JsonObject{{"username", user.name}, {"groups", strings(user.groups)}};
}

Attributes attributes_of(const JsonObject& spec) {
    Attributes out;
    const auto& resource = base::get_object(spec, "resourceAttributes");
    out.verb = base::get_string(resource, "verb");
    out.group = base::get_string(resource, "group");
    out.resource = base::get_string(resource, "resource");
    out.subresource = base::get_string(resource, "subresource");
    out.ns = base::get_string(resource, "namespace");
    out.name = base::get_string(resource, "name");
    const auto& other = base::get_object(spec, "nonResourceAttributes");
    if (!other.empty()) {
        out.path = base::get_string(other, "path");
        out.verb = base::get_string(other, "verb");
    }
    return out;
}

User user_of(const JsonObject& spec) {
    User user;
    user.name = base::get_string(spec, "user");
    for (const auto& group : base::get_array(spec, "groups")) {
        if (group.is_string()) user.groups.emplace_back(group.get_string());
    }
    return user;
}

JsonObject rules_status(const ClusterState& state, const User& user, const std::string& ns) {
    JsonArray resources;
    JsonArray others;
    JsonArray rules = rules_for(state.store, user, ns);
    const bool all = is_authorised(state.store, user, [] {
        Attributes any;
        any.verb = any.group = any.resource = "*";
        return any;
    }());
    if (all) {
        const JsonArray star{"*"};
        rules.emplace_back(JsonObject{{"verbs", star}, {"apiGroups", star}, {"resources", star}});
        rules.emplace_back(JsonObject{{"verbs", star}, {"nonResourceURLs", star}});
    }
    for (const auto& rule : rules)
        (base::find_path(rule, "nonResourceURLs") == nullptr ? resources : others).push_back(rule);
    return JsonObject{{"resourceRules", std::move(resources)},
                      {"nonResourceRules", std::move(others)},
                      {"incomplete", false}};
}

JsonObject token_status(const ClusterState& state, const std::string& token) {
    const auto user = state.config.authenticate ? state.config.authenticate(token) : std::nullopt;
    if (!user) return JsonObject{{"authenticated", false}, {"error", "token is not valid"}};
    return JsonObject{{"authenticated", true}, {"user", user_info(*user)}};
}

// What a review asks: one thing, of someone, and in its own namespace.
base::Result<void> check_review(const ApiCall& call, const JsonObject& spec) {
    const auto& plural = call.kind->kind.plural;
    if (!plural.ends_with("accessreviews")) return base::ok();
    Causes causes;
    const bool resource = base::get_object(spec, "resourceAttributes").empty();
    const bool other = base::get_object(spec, "nonResourceAttributes").empty();
    if (resource == other) {
        const auto& given = base::get_object(spec, resource ? "resourceAttributes" : "nonResourceAttributes");
        invalid(causes, "spec.resourceAttributes", given.empty() ? JsonValue() : JsonValue(given),
                "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    }
    if (plural != "selfsubjectaccessreviews" && base::get_string(spec, "user").empty() &&
        base::get_array(spec, "groups").empty())
        invalid(causes, "spec.user", "", "at least one of user or group must be specified");
    const auto asked = base::get_string(spec, "resourceAttributes.namespace");
    if (plural == "localsubjectaccessreviews" && asked != call.ns)
        invalid(causes, "spec.resourceAttributes.namespace", asked.c_str(),
                "must match metadata.namespace: " + call.ns);
    if (causes.empty()) return base::ok();
    return invalid_object(call.kind->name, call.kind->kind.group, "", causes);
}

}  // namespace

http::Response answer_review(const StatePtr& state, const ApiCall& call) {
    auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    auto review = std::move(*body);
    const auto& spec = base::get_object(review, "spec");
    if (auto good = check_review(call, spec); !good.has_value()) return error_response(good.error());
    const auto& plural = call.kind->kind.plural;
    JsonObject status;
    if (plural == "selfsubjectreviews") {
        status["userInfo"] = user_info(call.user);
    } else if (plural == "tokenreviews") {
        status = token_status(*state, base::get_string(spec, "token"));
    } else if (plural == "selfsubjectrulesreviews") {
        status = rules_status(*state, call.user, base::get_string(spec, "namespace"));
    } else {
        const auto user = plural == "selfsubjectaccessreviews" ? call.user : user_of(spec);
        const bool allowed = is_authorised(state->store, user, attributes_of(spec));
        status["allowed"] = allowed;
    }
    review["kind"] = call.kind->name;
    review["apiVersion"] = call.kind->api_version();
    metadata_of(review);
    review["status"] = std::move(status);
    return json_response(201, review);
}

}  // namespace instantstart::twin::kube
