#include "twin/kube/controllers/system.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

void Namespaces::Remaining::add(const Kind& kind, const JsonObject& object) {
    const auto& held = base::get_array(object, "metadata.finalizers");
    if (held.empty()) return;
    ++kinds[kind.plural + "." + kind.group];
    for (const auto& finalizer : held) {
        if (finalizer.is_string()) ++finalizers[std::string(finalizer.get_string())];
    }
}

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

// What finalizers hold is told in the namespace's conditions, as users of the real controller look for it.
void Namespaces::tell_remaining(const JsonObject& ns, const Remaining& remaining) {
    if (remaining.finalizers.empty()) return;
    std::string kinds;
    for (const auto& [kind, count] : remaining.kinds)
        kinds += (kinds.empty() ? "" : ", ") + kind + " has " + std::to_string(count) + " resource instances";
    std::string finalizers;
    for (const auto& [finalizer, count] : remaining.finalizers)
        finalizers += (finalizers.empty() ? "" : ", ") + finalizer + " in " + std::to_string(count) +
                      " resource instances";
    const auto since = base::get_string(ns, "metadata.deletionTimestamp");
    JsonArray conditions;
    const auto add = [&](const char* type, const char* status, const char* reason,
                         const std::string& message) {
        conditions.emplace_back(JsonObject{{"type", type},
                                           {"status", status},
                                           {"lastTransitionTime", since},
                                           {"reason", reason},
                                           {"message", message}});
    };
    add("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered",
        "All resources successfully discovered");
    add("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions",
        "All legacy kube types successfully parsed");
    add("NamespaceDeletionContentFailure", "False", "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization");
    add("NamespaceContentRemaining", "True", "SomeResourcesRemain", "Some resources are remaining: " + kinds);
    add("NamespaceFinalizersRemaining", "True", "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: " + finalizers);
    JsonObject next = ns;
    object_at(next, "status")["conditions"] = std::move(conditions);
    env_.write(kNamespaces, std::move(next));
}

void Namespaces::empty(const JsonObject& ns) {
    const auto name = name_of(ns);
    bool any = false;
    Remaining remaining;
    const auto kinds = env_.index.kinds();
    for (const auto& kind : kinds) {
        if (kind == Kind("", "events")) continue;
        for (const auto& object : env_.objects.list(kind, name)) {
            if (namespace_of(*object) != name) continue;
            any = true;
            remaining.add(kind, *object);
            if (!is_terminating(*object)) env_.remove(kind, Key(name, name_of(*object)));
        }
    }
    if (any) {
        tell_remaining(ns, remaining);
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
