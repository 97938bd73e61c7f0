// delete, deletecollection and eviction.
#include <algorithm>

#include "twin/kube/admission.h"
#include "twin/kube/api_server.h"
#include "twin/kube/metadata.h"
#include "twin/kube/selectors.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

using base::Result;

struct DeleteOptions {
    DeleteOptions() = default;
    std::string propagation, uid, resource_version;
    std::int64_t grace = -1;
    bool dry_run = false;
};

Result<DeleteOptions> read_options(const ApiCall& call) {
    DeleteOptions out;
    JsonObject body;
    if (!call.request.body.empty()) {
        TRY(body, read_body(call));
        // An eviction wraps its options.
        if (base::get_string(body, "kind") == "Eviction")
            body = JsonObject(base::get_object(body, "deleteOptions"));
    }
    out.propagation = base::get_string(body, "propagationPolicy", call.parameter("propagationPolicy"));
    if (const auto* orphan = body.if_contains("orphanDependents"); orphan != nullptr) {
        if (!out.propagation.empty())
            return invalid_object(
                "DeleteOptions", "meta.k8s.io", "",
                {Cause("FieldValueInvalid",
                       "Invalid value: \"" + out.propagation +
                           "\": orphanDependents and deletionPropagation cannot be both set",
                       "propagationPolicy")});
        if (*orphan == JsonValue(true)) out.propagation = "Orphan";
    }
    out.uid = base::get_string(body, "preconditions.uid");
    out.resource_version = base::get_string(body, "preconditions.resourceVersion");
    const auto grace = call.parameter("gracePeriodSeconds");
    out.grace = base::get_int(body, "gracePeriodSeconds",
                              grace.empty() ? -1 : std::strtoll(grace.c_str(), nullptr, 10));
    out.dry_run = call.dry_run() || !base::get_array(body, "dryRun").empty();
    if (!out.propagation.empty() && out.propagation != "Background" && out.propagation != "Foreground" &&
        out.propagation != "Orphan") {
        return invalid_object(
            "DeleteOptions", "meta.k8s.io", "",
            {Cause("FieldValueNotSupported",
                   "Unsupported value: \"" + out.propagation +
                       "\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"",
                   "propagationPolicy")});
    }
    return out;
}

void add_finalizer(JsonObject& object, std::string_view name) {
    auto& meta = metadata_of(object);
    auto& list = meta["finalizers"];
    if (!list.is_array()) list.emplace_array();
    auto& names = list.get_array();
    if (std::find(names.begin(), names.end(), JsonValue(name)) == names.end()) names.emplace_back(name);
}

// A pod on a node ends in its own time: whoever plays the kubelet removes it.
std::int64_t pod_grace(const JsonObject& pod, const DeleteOptions& options) {
    const auto phase = base::get_string(pod, "status.phase");
    if (base::get_string(pod, "spec.nodeName").empty() || phase == "Succeeded" || phase == "Failed") return 0;
    return options.grace >= 0 ? options.grace : base::get_int(pod, "spec.terminationGracePeriodSeconds", 30);
}

struct Removed {
    Removed() = default;
    ObjectPtr object;
    bool gone = false;
};

Result<Removed> start_grace(const StatePtr& state, const Kind& kind, const ObjectPtr& current,
                            std::int64_t grace) {
    Removed out;
    out.object = current;
    if (is_terminating(*current)) return out;
    auto next = *current;
    metadata_of(next)["deletionTimestamp"] =
        base::format_time(state->clock.now() + std::chrono::seconds(grace));
    metadata_of(next)["deletionGracePeriodSeconds"] = grace;
    TRY(out.object, state->store.update(kind, std::move(next)));
    return out;
}

Result<Removed> remove_one(const StatePtr& state, const KindInfo& kind, const ObjectPtr& current,
                           const DeleteOptions& options) {
    const auto name = name_of(*current);
    const auto ns = namespace_of(*current);
    const auto uid = base::get_string(*current, "metadata.uid");
    if (!options.uid.empty() && options.uid != uid) return conflict_uid(kind.kind, name, options.uid, uid);
    if (!options.resource_version.empty() &&
        options.resource_version != base::get_string(*current, "metadata.resourceVersion")) {
        return conflict(kind.kind, name);
    }
    Removed out;
    out.object = current;
    out.gone = !has_finalizers(kind.kind, *current);
    if (options.dry_run) return out;
    const auto grace = kind.is("", "pods") ? pod_grace(*current, options) : 0;
    if (grace > 0) return start_grace(state, kind.kind, current, grace);
    const auto finalizer = options.propagation == "Foreground" ? "foregroundDeletion"
                           : options.propagation == "Orphan"   ? "orphan"
                                                               : "";
    if (finalizer[0] != '\0' && !is_terminating(*current) && state->controllers != nullptr) {
        auto next = *current;
        add_finalizer(next, finalizer);
        TRY(out.object, state->store.update(kind.kind, std::move(next)));
    }
    TRY(out.gone, state->store.remove(kind.kind, ns, name));
    if (const auto now = state->store.get(kind.kind, ns, name); now != nullptr) out.object = now;
    return out;
}

bool is_kept_namespace(std::string_view name) {
    return name == "default" || name == "kube-system" || name == "kube-public";
}

http::Response delete_collection(const StatePtr& state, const ApiCall& call, const DeleteOptions& options) {
    const auto selector =
        Selector::parse(call.parameter("labelSelector"), call.parameter("fieldSelector"), *call.kind);
    if (!selector.has_value()) return error_response(selector.error());
    JsonArray items;
    for (const auto& object : state->store.list(call.kind->kind, call.ns)) {
        if (!selector->matches(*object)) continue;
        const auto removed = remove_one(state, *call.kind, object, options);
        if (!removed.has_value() && removed.error().code != "NotFound")
            return error_response(removed.error());
        auto item = *in_version(*call.kind, object);
        if (!call.kind->custom) {  // as in any list of a built-in kind
            item.erase("kind");
            item.erase("apiVersion");
        }
        items.emplace_back(std::move(item));
    }
    JsonObject list;
    list["kind"] = call.kind->name + "List";
    list["apiVersion"] = call.kind->api_version();
    list["metadata"] = JsonObject{{"resourceVersion", std::to_string(state->store.revision())}};
    if (call.kind->custom) object_at(list, "metadata")["continue"] = "";
    list["items"] = std::move(items);
    return json_response(200, list);
}

}  // namespace

http::Response answer_delete(const StatePtr& state, const ApiCall& call) {
    const auto options = read_options(call);
    if (!options.has_value()) return error_response(options.error());
    if (call.name.empty() && !call.kind->may("deletecollection")) return error_response(method_not_allowed());
    if (call.name.empty()) return delete_collection(state, call, *options);
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    if (current == nullptr) return error_response(not_found(call.kind->kind, call.name));
    if (call.kind->is("", "namespaces") && is_kept_namespace(call.name))
        return error_response(
            forbidden("namespaces \"" + call.name + "\" is forbidden: this namespace may not be deleted",
                      call.kind->kind, call.name));
    const auto removed = remove_one(state, *call.kind, current, *options);
    if (!removed.has_value()) return error_response(removed.error());
    if (removed->gone && call.kind->is("", "pods")) {
        auto last = *removed->object;
        metadata_of(last)["deletionTimestamp"] = base::format_time(state->clock.now());
        metadata_of(last)["deletionGracePeriodSeconds"] = 0;
        return object_response(*state, call, 200, std::make_shared<const JsonObject>(std::move(last)));
    }
    if (removed->gone) return json_response(200, success_status(call.kind->kind, *removed->object));
    return object_response(*state, call, 200, removed->object);
}

http::Response answer_eviction(const StatePtr& state, const ApiCall& call) {
    const auto options = read_options(call);
    if (!options.has_value()) return error_response(options.error());
    const auto current = state->store.get(call.kind->kind, call.ns, call.name);
    if (current == nullptr) return error_response(not_found(call.kind->kind, call.name));
    const auto use = options->dry_run ? QuotaUse::checked : QuotaUse::taken;
    if (const auto may = admit_eviction(state->store, *current, use); !may.has_value())
        return error_response(may.error());
    const auto removed = remove_one(state, *call.kind, current, *options);
    if (!removed.has_value()) return error_response(removed.error());
    return json_response(201, JsonObject{{"kind", "Status"},
                                         {"apiVersion", "v1"},
                                         {"metadata", JsonObject()},
                                         {"status", "Success"},
                                         {"code", 201}});
}

}  // namespace instantstart::twin::kube
