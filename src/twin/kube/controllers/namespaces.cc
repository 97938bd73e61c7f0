#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {
const Kind kServiceAccounts("", "serviceaccounts");
const Kind kConfigMaps("", "configmaps");
}  // namespace

void Namespaces::changed(const Change& change) {
    if (change.kind == kNamespaces) {
        if (change.type != Change::Type::deleted) env_.queue.add(this, Key("", name_of(*change.object)));
        return;
    }
    const auto ns = namespace_of(*change.object);
    if (change.type != Change::Type::deleted || ns.empty()) return;
    const bool kept = change.kind == kServiceAccounts || change.kind == kConfigMaps;
    const auto object = env_.objects.get(kNamespaces, "", ns);
    if (object && (kept || is_terminating(*object))) env_.queue.add(this, Key("", ns));
}

void Namespaces::sync(const Key& key) {
    const auto ns = env_.objects.get(kNamespaces, "", key.name);
    if (!ns) return;
    if (is_terminating(*ns)) return empty(*ns);
    if (!env_.objects.get(kServiceAccounts, key.name, "default")) {
        env_.create(kServiceAccounts,
                    {{"apiVersion", "v1"},
                     {"kind", "ServiceAccount"},
                     {"metadata", JsonObject{{"name", "default"}, {"namespace", key.name}}}});
    }
    if (!env_.objects.get(kConfigMaps, key.name, "kube-root-ca.crt")) {
        // Its content is the cluster's authority; kube-system's copy, where the cluster's maker put it, is
        // the model.
        const auto model = env_.objects.get(kConfigMaps, "kube-system", "kube-root-ca.crt");
        JsonObject data{
            {"ca.crt", model ? base::get_string(base::get_object(*model, "data"), "ca.crt") : std::string()}};
        if (model) data = base::get_object(*model, "data");
        env_.create(kConfigMaps,
                    {{"apiVersion", "v1"},
                     {"kind", "ConfigMap"},
                     {"metadata", JsonObject{{"name", "kube-root-ca.crt"}, {"namespace", key.name}}},
                     {"data", data}});
    }
}

void Namespaces::empty(const JsonObject& ns) {
    const auto name = name_of(ns);
    bool any = false;
    const auto kinds = env_.index.kinds();
    for (const auto& kind : kinds) {
        if (kind == Kind("", "events")) continue;
        for (const auto& object : env_.objects.list(kind, name)) {
            if (namespace_of(*object) != name) continue;
            any = true;
            if (!is_terminating(*object)) env_.remove(kind, Key(name, name_of(*object)));
        }
    }
    if (any) {
        // What is gone already has told; what waits for its end will.
        env_.queue.add_after(this, Key("", name), env_.scaled(5));
        return;
    }
    for (const auto& event : env_.objects.list(Kind("", "events"), name))
        env_.remove(Kind("", "events"), Key(name, name_of(*event)));
    JsonObject next = ns;
    object_at(next, "spec")["finalizers"] = JsonArray();
    env_.write(kNamespaces, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
