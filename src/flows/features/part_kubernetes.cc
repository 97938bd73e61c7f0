// Parts in the cluster: objects of ours, and what others' webhooks and definitions must answer.
#include <algorithm>

#include "flows/components.h"
#include "flows/features/kinds.h"

namespace instantstart::flows {

namespace {

constexpr const char* kFeatureLabel = "instantstart.dev/feature";

base::Result<std::vector<JsonObject>> objects_of(const StepCall& call, const Part& part) {
    CHECK(part.objects != nullptr);
    TRY(auto list, part.objects(call));
    mark_objects(list, part.feature);
    return list;
}

Task<PartState> look_objects(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto wanted, objects_of(call, part));
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_TRY(auto row, co_await objects_state(client, call.context, std::move(wanted)));
    PartState state(base::get_string(row, "state"));
    state.detail = base::get_string(row, "detail");
    state.ours = base::get_int(row, "ours") > 0;
    state.maker = state.ours ? part.tag : "";
    // Some of them stand: that is less than was made.
    if (state.state == "absent" && base::get_int(row, "standing") > 0) state.state = "drifted";
    co_return state;
}

Task<JsonObject> make_objects(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto wanted, objects_of(call, part));
    co_return co_await apply_objects(env, call, std::move(wanted));
}

bool is_marked(const JsonObject& live) {
    const auto* labels = base::find_path(live, "metadata.labels");
    if (labels == nullptr || !labels->is_object()) return false;
    const auto* manager = labels->as_object().if_contains("app.kubernetes.io/managed-by");
    return manager != nullptr && *manager == "instantstart";
}

Task<void> drop_by_products(StepCall call, std::shared_ptr<kube::Client> client, Part part) {
    for (const auto& object : base::get_array(part.args, "by_products")) {
        CO_TRY(auto resource, co_await client->resolve(call.context, base::get_string(object, "apiVersion"),
                                                       base::get_string(object, "kind")));
        CO_CHECK_OK(co_await client->remove(call.context, resource,
                                            base::get_string(object, "metadata.namespace"),
                                            base::get_string(object, "metadata.name"), "Background"));
    }
    co_return base::ok();
}

Task<void> drop_object(StepCall call, std::shared_ptr<kube::Client> client, JsonObject object) {
    CO_TRY(auto live, co_await live_object(client, call.context, object));
    if (!is_marked(live) || base::find_path(live, "metadata.deletionTimestamp") != nullptr)
        co_return base::ok();
    CO_TRY(auto resource, co_await client->resolve(call.context, base::get_string(object, "apiVersion"),
                                                   base::get_string(object, "kind")));
    const auto ns = base::get_string(object, "metadata.namespace");
    const auto name = base::get_string(object, "metadata.name");
    CO_CHECK_OK(co_await client->remove(call.context, resource, ns, name, "Background"));
    co_return base::ok();
}

Task<JsonObject> drop_objects(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto list, objects_of(call, part));
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    std::reverse(list.begin(), list.end());
    for (const auto& object : list) {
        // One object stays until the by-products are gone: what ends here is begun again while it stands.
        if (&object == &list.back()) CO_CHECK_OK(co_await drop_by_products(call, client, part));
        CO_CHECK_OK(co_await drop_object(call, client, object));
    }
    co_return JsonObject{};
}

// --- answering

Task<bool> has_endpoint(std::shared_ptr<kube::Client> client, Context context, std::string ns,
                        std::string service) {
    const auto slices = kube::known_resource("endpointslices.discovery.k8s.io");
    CHECK(slices.has_value());
    kube::ListOptions options;
    options.ns = ns;
    options.label_selector = "kubernetes.io/service-name=" + service;
    CO_TRY(auto list, co_await client->list(context, *slices, options));
    for (const auto& slice : base::get_array(list, "items")) {
        for (const auto& endpoint : base::get_array(slice, "endpoints")) {
            const auto* ready = base::find_path(endpoint, "conditions.ready");
            if (ready == nullptr || ready->is_null() || *ready == true) co_return true;
        }
    }
    co_return false;
}

Task<bool> is_served(std::shared_ptr<kube::Client> client, Context context, std::string name) {
    const auto definitions = kube::known_resource("customresourcedefinitions.apiextensions.k8s.io");
    CHECK(definitions.has_value());
    auto live = co_await client->get(context, *definitions, "", name);
    if (!live) {
        if (live.error().kind == base::ErrorKind::not_found) co_return false;
        co_return std::move(live).error();
    }
    for (const auto& condition : base::get_array(*live, "status.conditions")) {
        if (base::get_string(condition, "type") == "Established")
            co_return base::get_string(condition, "status") == "True";
    }
    co_return false;
}

// Names of the services in a namespace that the API server asks before it takes an object.
Task<std::vector<std::string>> webhook_services(std::shared_ptr<kube::Client> client, Context context,
                                                std::string ns) {
    std::vector<std::string> names;
    for (const char* kind : {"validatingwebhookconfigurations.admissionregistration.k8s.io",
                             "mutatingwebhookconfigurations.admissionregistration.k8s.io"}) {
        const auto resource = kube::known_resource(kind);
        CHECK(resource.has_value());
        CO_TRY(auto list, co_await client->list(context, *resource, kube::ListOptions()));
        for (const auto& configuration : base::get_array(list, "items")) {
            for (const auto& webhook : base::get_array(configuration, "webhooks")) {
                const auto& service = base::get_object(webhook, "clientConfig.service");
                if (base::get_string(service, "namespace") != ns) continue;
                names.push_back(base::get_string(service, "name"));
            }
        }
    }
    co_return names;
}

Task<PartState> look_answering(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    for (const auto& name : base::get_array(part.args, "crds")) {
        const std::string definition(name.as_string());
        CO_TRY(const bool served, co_await is_served(client, call.context, definition));
        if (!served) co_return of_state("starting", definition + " is not served yet");
    }
    const auto ns = base::get_string(part.args, "webhooks_of");
    std::vector<std::pair<std::string, std::string>> services;
    for (const auto& service : base::get_array(part.args, "services"))
        services.emplace_back(base::get_string(service, "namespace"), base::get_string(service, "name"));
    if (!ns.empty()) {
        CO_TRY(const auto names, co_await webhook_services(client, call.context, ns));
        for (const auto& name : names) services.emplace_back(ns, name);
    }
    for (const auto& [space, name] : services) {
        CO_TRY(const bool answers, co_await has_endpoint(client, call.context, space, name));
        if (!answers)
            co_return of_state("starting", "service " + space + "/" + name + " has no ready endpoint");
    }
    co_return of_state("ready");
}

PartKind objects_row() {
    PartKind kind;
    kind.noun = "kubernetes_objects";
    kind.look = &look_objects;
    kind.make = &make_objects;
    kind.remove = &drop_objects;
    kind.minutes = 0.3;
    return kind;
}

PartKind answering_row() {
    PartKind kind;
    kind.noun = "readiness";
    kind.look = &look_answering;
    kind.minutes = 0.3;
    return kind;
}

}  // namespace

const PartKind& objects_kind() {
    static const auto kKind = objects_row();
    return kKind;
}

const PartKind& answering_kind() {
    static const auto kKind = answering_row();
    return kKind;
}

Part answering_part(std::string id, std::string name, JsonObject args) {
    return {std::move(id), answering_kind(), std::move(name), std::move(args)};
}

Part cert_manager_answers() {
    return answering_part("cert_manager_answers", "cert-manager's webhook",
                          {{"crds", JsonArray{"certificates.cert-manager.io", "issuers.cert-manager.io"}},
                           {"webhooks_of", "cert-manager"}});
}

void mark_objects(std::vector<JsonObject>& objects, const std::string& feature) {
    for (auto& object : objects) {
        JsonObject metadata = base::get_object(object, "metadata");
        JsonObject labels = base::get_object(metadata, "labels");
        labels["app.kubernetes.io/managed-by"] = "instantstart";
        labels[kFeatureLabel] = feature;
        metadata["labels"] = std::move(labels);
        object["metadata"] = std::move(metadata);
    }
}

}  // namespace instantstart::flows
