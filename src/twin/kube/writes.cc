// create, update, patch and apply.
#include "base/text.h"
#include "twin/kube/admission.h"
#include "twin/kube/api_server.h"
#include "twin/kube/apply.h"
#include "twin/kube/defaults.h"
#include "twin/kube/metadata.h"
#include "twin/kube/patch.h"
#include "twin/kube/status.h"
#include "twin/kube/validate.h"
#include "twin/kube/write_options.h"

namespace instantstart::twin::kube {

namespace {

using base::Result;

ApplyOptions owner(const ClusterState& state, const ApiCall& call) {
    ApplyOptions options;
    options.manager = call.manager();
    options.subresource = call.subresource == "scale"    ? "scale"
                          : call.subresource == "status" ? "status"
                                                         : "";
    options.time = base::format_time(state.clock.now());
    options.force = call.flag("force") && !call.parameter("force").empty();
    options.schema = call.kind->schema;
    return options;
}

// Checks apiVersion, kind, namespace and name against the path and fills what is missing.
Result<void> fit_to_path(const ApiCall& call, JsonObject& object) {
    const auto& kind = *call.kind;
    const auto version = base::get_string(object, "apiVersion");
    const auto name = base::get_string(object, "kind");
    if ((!version.empty() && version != kind.api_version()) || (!name.empty() && name != kind.name)) {
        return bad_request("the object provided is unrecognized (must be of type " + kind.name +
                           "): " + version + " " + name);
    }
    if (kind.custom && (version.empty() || name.empty()))
        return bad_request("Object 'Kind' is missing in '" + base::to_text(object) + "'");
    object["apiVersion"] = kind.api_version();
    object["kind"] = kind.name;
    auto& meta = metadata_of(object);
    if (kind.namespaced) {
        const auto given = base::get_string(meta, "namespace");
        if (!given.empty() && given != call.ns) {
            return bad_request(
                "the namespace of the provided object does not match the namespace sent on the request");
        }
        meta["namespace"] = call.ns;
    } else {
        meta.erase("namespace");
    }
    if (call.name.empty()) return base::ok();
    const auto given = base::get_string(meta, "name");
    if (!given.empty() && given != call.name) {
        return bad_request("the name of the object (" + given + ") does not match the name on the URL (" +
                           call.name + ")");
    }
    meta["name"] = call.name;
    return base::ok();
}

// fieldValidation: Strict refuses unknown members, Warn (the default) tells of them, Ignore drops them
// silently.
Result<std::vector<std::string>> check_fields(const ApiCall& call, JsonObject& object,
                                              SchemaDefaults defaults = SchemaDefaults::filled) {
    std::vector<std::string> unknown;
    CHECK_OK(prune_object(*call.kind, object, unknown, defaults));
    if (unknown.empty() || call.parameter("fieldValidation") != "Strict") return unknown;
    std::string text;
    for (const auto& field : unknown)
        text += (text.empty() ? "" : ", ") + ("unknown field \"" + field + "\"");
    const auto& kind = *call.kind;
    return bad_request(kind.name + " in version \"" + kind.version + "\" cannot be handled as a " +
                       kind.name + ": strict decoding error: " + text);
}

void add_warnings(const ApiCall& call, const std::vector<std::string>& unknown, http::Response& response) {
    if (call.parameter("fieldValidation") == "Ignore") return;
    for (const auto& field : unknown)
        response.headers.add("Warning", "299 - \"unknown field \\\"" + field + "\\\"\"");
}

Result<void> check_namespace(const ClusterState& state, const ApiCall& call, const JsonObject& object) {
    if (!call.kind->namespaced) return base::ok();
    const auto ns = state.store.get(Kind("", "namespaces"), "", call.ns);
    if (ns == nullptr) return not_found(Kind("", "namespaces"), call.ns);
    if (!is_terminating(*ns)) return base::ok();
    const auto name = name_of(object);
    auto error = forbidden(qualified(call.kind->kind) + " \"" + name +
                               "\" is forbidden: unable to create new content in namespace " + call.ns +
                               " because it is being terminated",
                           call.kind->kind, name);
    const JsonObject cause{{"reason", "NamespaceTerminating"},
                           {"message", "namespace " + call.ns + " is being terminated"},
                           {"field", "metadata.namespace"}};
    object_at(error.extra, "details")["causes"] = JsonArray{cause};
    return error;
}

void generate_name(ClusterState& state, JsonObject& object) {
    auto& meta = metadata_of(object);
    const auto prefix = base::get_string(meta, "generateName");
    if (!base::get_string(meta, "name").empty() || prefix.empty()) return;
    // The alphabet of Kubernetes' own suffixes: no vowels, no look-alikes.
    constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    auto bits = state.clock.random();
    std::string suffix;
    for (int i = 0; i < 5; ++i) {
        suffix += kLetters[bits % kLetters.size()];
        bits /= kLetters.size();
    }
    meta["name"] = prefix.substr(0, 58) + suffix;
}

// What admission refuses: a pod that names an account or a priority that is not there.
Result<void> check_admission(const ClusterState& state, const ApiCall& call, const JsonObject& object) {
    if (!call.kind->is("", "pods")) return base::ok();
    const auto name = name_of(object);
    const auto refuse = [&](const std::string& why) {
        return forbidden("pods \"" + name + "\" is forbidden: " + why, call.kind->kind, name);
    };
    const auto account = base::get_string(object, "spec.serviceAccountName", "default");
    if (account != "default" && state.store.get(Kind("", "serviceaccounts"), call.ns, account) == nullptr)
        return refuse("error looking up service account " + call.ns + "/" + account + ": serviceaccount \"" +
                      account + "\" not found");
    const auto priority = base::get_string(object, "spec.priorityClassName");
    const Kind classes("scheduling.k8s.io", "priorityclasses");
    if (!priority.empty() && state.store.get(classes, "", priority) == nullptr)
        return refuse("no PriorityClass with name " + priority + " was found");
    return base::ok();
}

Result<ObjectPtr> store_new(const StatePtr& state, const ApiCall& call, JsonObject object) {
    CHECK_OK(check_namespace(*state, call, object));
    const auto existing = state->store.get(call.kind->kind, call.ns, name_of(object));
    if (existing != nullptr && is_terminating(*existing) && call.method == "POST") {
        auto error = already_exists(call.kind->kind, name_of(object));
        error.message = "object is being deleted: " + error.message;
        return error;
    }
    if (call.kind->has("status")) object.erase("status");
    CHECK_OK(admit_by_limits(state->store, call.kind->kind, object));
    // Validated as it will be stored; what is stored is prepared by the store itself.
    const auto prepared = state->store.prepared_for_create(call.kind->kind, object);
    CHECK_OK(validate_object(*call.kind, prepared));
    CHECK_OK(check_admission(*state, call, object));
    if (existing == nullptr) {
        CHECK_OK(admit_by_quotas(state->store, call.kind->kind, prepared,
                                 call.dry_run() ? QuotaUse::checked : QuotaUse::taken));
    }
    if (!call.dry_run()) return state->store.create(call.kind->kind, std::move(object));
    if (state->store.get(call.kind->kind, call.ns, name_of(object)) != nullptr)
        return already_exists(call.kind->kind, name_of(object));
    return ObjectPtr(std::make_shared<const JsonObject>(
        state->store.prepared_for_create(call.kind->kind, std::move(object))));
}

// The main resource keeps the stored status, the status subresource all but status and managed fields.
void keep_other_half(const ApiCall& call, const JsonObject& current, JsonObject& next) {
    if (!call.kind->has("status")) return;
    const auto copy = [&](std::string_view key) {
        if (const auto* value = current.if_contains(key)) {
            next[key] = *value;
        } else {
            next.erase(key);
        }
    };
    if (call.subresource != "status") {
        copy("status");
        return;
    }
    const auto managed = metadata_of(next)["managedFields"];
    const auto revision = metadata_of(next)["resourceVersion"];
    const auto status = next["status"];
    next = current;
    next["status"] = status;
    metadata_of(next)["managedFields"] = managed;
    metadata_of(next)["resourceVersion"] = revision;
}

Result<ObjectPtr> store_changed(const StatePtr& state, const ApiCall& call, const JsonObject& current,
                                JsonObject next) {
    keep_other_half(call, current, next);
    auto& meta = metadata_of(next);
    // A client cannot set or take back a deletion.
    for (auto key : {"deletionTimestamp", "deletionGracePeriodSeconds"}) {
        if (!base::get_object(current, "metadata").contains(key)) meta.erase(key);
    }
    const auto prepared = MemoryObjectStore::prepared_for_update(call.kind->kind, current, next);
    CHECK_OK(validate_object(*call.kind, prepared));
    CHECK_OK(validate_change(*call.kind, current, prepared));
    if (!call.dry_run()) return state->store.update(call.kind->kind, std::move(next));
    const auto wanted = revision_of(next);
    if (wanted != 0 && wanted != revision_of(current)) return conflict(call.kind->kind, call.name);
    auto shown = prepared;
    metadata_of(shown)["resourceVersion"] = base::get_string(current, "metadata.resourceVersion");
    return ObjectPtr(std::make_shared<const JsonObject>(std::move(shown)));
}

// A write that changed nothing else must not touch the times of managed fields either, or it would be a
// change.
bool same_content(JsonObject a, JsonObject b) {
    for (auto* object : {&a, &b}) {
        metadata_of(*object).erase("managedFields");
        metadata_of(*object).erase("resourceVersion");
    }
    return a == b;
}

http::Response finish(const StatePtr& state, const ApiCall& call, int status, const Result<ObjectPtr>& stored,
                      const std::vector<std::string>& unknown) {
    if (!stored.has_value()) return error_response(stored.error());
    auto response = object_response(*state, call, status, *stored);
    add_warnings(call, unknown, response);
    return response;
}

http::Response create(const StatePtr& state, const ApiCall& call) {
    auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    auto object = std::move(*body);
    if (auto fit = fit_to_path(call, object); !fit.has_value()) return error_response(fit.error());
    const auto unknown = check_fields(call, object);
    if (!unknown.has_value()) return error_response(unknown.error());
    if (!base::get_string(object, "metadata.resourceVersion").empty())
        return error_response(
            server_error(500, "", "resourceVersion should not be set on objects to be created"));
    generate_name(*state, object);
    metadata_of(object).erase("managedFields");
    if (name_of(object).empty()) {
        return error_response(
            invalid_object(call.kind->name, call.kind->kind.group, "",
                           {Cause("FieldValueRequired", "Required value: name or generateName is required",
                                  "metadata.name")}));
    }
    // Defaults are filled first: the creator owns them too.
    default_object(call.kind->kind, object);
    if (call.kind->has("status")) object.erase("status");
    track_update(nullptr, object, owner(*state, call));
    return finish(state, call, 201, store_new(state, call, std::move(object)), *unknown);
}

// An empty list, or one with an empty entry, means: forget who manages what. Takes it out.
bool resets_managers(JsonObject& object) {
    auto& meta = metadata_of(object);
    const auto* sent = meta.if_contains("managedFields");
    if (sent == nullptr || !sent->is_array()) return false;
    const auto& list = sent->get_array();
    const bool one_empty = list.size() == 1 && list[0].is_object() && list[0].get_object().empty();
    if (!list.empty() && !one_empty) return false;
    meta.erase("managedFields");
    return true;
}

// A custom resource is only updated from a known state; a revision is a number.
Result<void> check_update_revision(const ApiCall& call, const JsonObject& object) {
    const auto text = base::get_string(object, "metadata.resourceVersion");
    if (text.find_first_not_of("0123456789") != std::string::npos)
        return server_error(500, "",
                            "resourceVersion: Invalid value: \"" + text +
                                "\": strconv.ParseUint: parsing \"" + text + "\": invalid syntax");
    if (!call.kind->custom || !text.empty()) return base::ok();
    return invalid_object(call.kind->kind.plural, call.kind->kind.group, call.name,
                          {Cause("FieldValueInvalid", "Invalid value: 0: must be specified for an update",
                                 "metadata.resourceVersion")});
}

http::Response update(const StatePtr& state, const ApiCall& call) {
    auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    auto object = std::move(*body);
    if (auto fit = fit_to_path(call, object); !fit.has_value()) return error_response(fit.error());
    const auto unknown = check_fields(call, object);
    if (!unknown.has_value()) return error_response(unknown.error());
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    if (current == nullptr) return error_response(not_found(call.kind->kind, call.name));
    if (auto good = check_update_revision(call, object); !good.has_value())
        return error_response(good.error());
    keep_other_half(call, *current, object);
    if (same_content(*current, MemoryObjectStore::prepared_for_update(call.kind->kind, *current, object))) {
        if (const auto* kept = base::find_path(*current, "metadata.managedFields"))
            metadata_of(object)["managedFields"] = *kept;
    } else if (!resets_managers(object)) {
        track_update(current.get(), object, owner(*state, call));
    }
    return finish(state, call, 200, store_changed(state, call, *current, std::move(object)), *unknown);
}

Result<JsonObject> patched(const ApiCall& call, const JsonObject& current, std::string_view type) {
    TRY(const auto patch, base::parse_json(call.request.body, 100));
    JsonValue target = current;
    if (type == "application/json-patch+json") {
        if (!patch.is_array()) return bad_request("a JSON patch must be an array of operations");
        TRY(target, json_patch(target, patch.get_array()));
    } else if (type == "application/merge-patch+json") {
        base::merge_patch(target, patch);
    } else {
        if (call.kind->custom) {
            return server_error(
                415, "UnsupportedMediaType",
                "the body of the request was in an unknown format - accepted media types include: "
                "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
        }
        TRY(target, strategic_merge(std::move(target), patch, call.kind->schema));
    }
    if (!target.is_object()) return bad_request("the patch does not give an object");
    return std::move(target.get_object());
}

http::Response patch(const StatePtr& state, const ApiCall& call, std::string_view type) {
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    if (current == nullptr) return error_response(not_found(call.kind->kind, call.name));
    const auto shown = in_version(*call.kind, current);
    auto next = patched(call, *shown, type);
    if (!next.has_value()) {
        auto error = next.error();
        if (error.code == "invalid_json") error = bad_request(error.message);
        return error_response(error);
    }
    if (auto fit = fit_to_path(call, *next); !fit.has_value()) return error_response(fit.error());
    const auto unknown = check_fields(call, *next);
    if (!unknown.has_value()) return error_response(unknown.error());
    keep_other_half(call, *shown, *next);
    if (!resets_managers(*next) && !same_content(*shown, *next))
        track_update(shown.get(), *next, owner(*state, call));
    return finish(state, call, 200, store_changed(state, call, *shown, std::move(*next)), *unknown);
}

http::Response apply_new(const StatePtr& state, const ApiCall& call, JsonObject merged,
                         const std::vector<std::string>& unknown) {
    // A uid says that a certain object is meant, and it is not there.
    const auto uid = base::get_string(merged, "metadata.uid");
    if (!uid.empty()) return error_response(conflict_uid(call.kind->kind, call.name, uid, ""));
    metadata_of(merged).erase("resourceVersion");
    return finish(state, call, 201, store_new(state, call, std::move(merged)), unknown);
}

http::Response apply(const StatePtr& state, const ApiCall& call) {
    auto body = read_body(call);
    if (!body.has_value()) return error_response(body.error());
    auto object = std::move(*body);
    if (base::get_string(object, "apiVersion").empty() || base::get_string(object, "kind").empty()) {
        return error_response(bad_request("invalid object type: /, Kind="));
    }
    if (auto fit = fit_to_path(call, object); !fit.has_value()) return error_response(fit.error());
    if (!base::get_array(object, "metadata.managedFields").empty())
        return error_response(bad_request("metadata.managedFields must be nil"));
    const auto unknown = check_fields(call, object, SchemaDefaults::left_out);
    if (!unknown.has_value()) return error_response(unknown.error());
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    const auto shown = current == nullptr ? nullptr : in_version(*call.kind, current);
    if (current == nullptr && call.subresource == "status")
        return error_response(not_found(call.kind->kind, call.name));
    if (call.kind->has("status") && call.subresource != "status") object.erase("status");
    auto options = owner(*state, call);
    options.adopts_unmanaged = true;
    auto merged = apply_object(shown.get(), object, options);
    if (!merged.has_value()) return error_response(merged.error());
    std::vector<std::string> none;
    if (auto filled = prune_object(*call.kind, *merged, none); !filled.has_value())
        return error_response(filled.error());
    if (current == nullptr) return apply_new(state, call, std::move(*merged), *unknown);
    if (!base::get_string(object, "metadata.resourceVersion").empty()) {
        metadata_of(*merged)["resourceVersion"] = base::get_string(object, "metadata.resourceVersion");
    }
    return finish(state, call, 200, store_changed(state, call, *shown, std::move(*merged)), *unknown);
}

}  // namespace

http::Response answer_write(const StatePtr& state, const ApiCall& call) {
    if (auto good = check_write_options(call); !good.has_value()) return error_response(good.error());
    if (call.method == "POST") return create(state, call);
    if (call.method == "PUT") return update(state, call);
    auto type = call.request.headers.get("Content-Type");
    type = base::trim(std::string_view(type).substr(0, type.find(';')));
    if (type.starts_with("application/apply-patch")) return apply(state, call);
    if (type == "application/json-patch+json" || type == "application/merge-patch+json" ||
        type == "application/strategic-merge-patch+json") {
        return patch(state, call, type);
    }
    return error_response(
        server_error(415, "UnsupportedMediaType",
                     "the body of the request was in an unknown format - accepted media types include: "
                     "application/json-patch+json, application/merge-patch+json, "
                     "application/strategic-merge-patch+json, application/apply-patch+yaml"));
}

}  // namespace instantstart::twin::kube
