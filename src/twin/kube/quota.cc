#include "twin/kube/quota.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

using controllers::Amounts;

const Kind kPods("", "pods"), kServices("", "services"), kClaims("", "persistentvolumeclaims");

bool is_over(const JsonObject& pod) {
    const auto phase = base::get_string(pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
}

// Requests or limits of a pod, as the scheduler counts them.
Amounts pod_amounts(const JsonObject& pod, const char* which) {
    JsonObject as_requests;
    JsonObject spec;
    for (const char* list : {"containers", "initContainers"}) {
        JsonArray containers;
        for (const auto& container : base::get_array(pod, std::string("spec.") + list)) {
            JsonObject one;
            one["restartPolicy"] = base::get_string(container, "restartPolicy");
            one["resources"] =
                JsonObject{{"requests", base::get_object(container, std::string("resources.") + which)}};
            containers.push_back(std::move(one));
        }
        spec[list] = std::move(containers);
    }
    as_requests["spec"] = std::move(spec);
    auto out = controllers::pod_requests(as_requests);
    out.erase("pods");
    return out;
}

void add_pod(const JsonObject& pod, Amounts& out) {
    if (is_over(pod)) return;
    out["pods"] += 1000;
    for (const auto& [name, amount] : pod_amounts(pod, "requests")) {
        out["requests." + name] += amount;
        if (name == "cpu" || name == "memory" || name == "ephemeral-storage") out[name] += amount;
    }
    for (const auto& [name, amount] : pod_amounts(pod, "limits")) out["limits." + name] += amount;
}

void add_service(const JsonObject& service, Amounts& out) {
    out["services"] += 1000;
    const auto type = base::get_string(service, "spec.type");
    const auto ports = static_cast<std::int64_t>(base::get_array(service, "spec.ports").size());
    if (type == "LoadBalancer") out["services.loadbalancers"] += 1000;
    if (type == "LoadBalancer" || type == "NodePort") out["services.nodeports"] += 1000 * ports;
}

void add_claim(const JsonObject& claim, Amounts& out) {
    const auto size = controllers::parse_milli(base::get_string(claim, "spec.resources.requests.storage"));
    out["persistentvolumeclaims"] += 1000;
    out["requests.storage"] += size;
    const auto storage = base::get_string(claim, "spec.storageClassName");
    if (storage.empty()) return;
    out[storage + ".storageclass.storage.k8s.io/requests.storage"] += size;
    out[storage + ".storageclass.storage.k8s.io/persistentvolumeclaims"] += 1000;
}

bool is_best_effort(const JsonObject& pod) {
    return base::get_string(pod, "status.qosClass") == "BestEffort";
}

bool scope_holds(std::string_view scope, const JsonValue& selector, const JsonObject& pod) {
    const bool ends = base::find_path(pod, "spec.activeDeadlineSeconds") != nullptr;
    if (scope == "Terminating") return ends;
    if (scope == "NotTerminating") return !ends;
    if (scope == "BestEffort") return is_best_effort(pod);
    if (scope == "NotBestEffort") return !is_best_effort(pod);
    if (scope != "PriorityClass") return true;
    const auto name = base::get_string(pod, "spec.priorityClassName");
    const auto& values = base::get_array(selector, "values");
    const bool in = std::find(values.begin(), values.end(), JsonValue(name)) != values.end();
    const auto op = base::get_string(selector, "operator", "Exists");
    if (op == "In") return in;
    if (op == "NotIn") return !in;
    return op == "Exists" ? !name.empty() : name.empty();
}

}  // namespace

Amounts quota_use(const Kind& kind, const JsonObject& object) {
    Amounts out;
    out["count/" + kind.plural + (kind.group.empty() ? "" : "." + kind.group)] = 1000;
    if (kind == kPods) {
        add_pod(object, out);
    } else if (kind == kServices) {
        add_service(object, out);
    } else if (kind == kClaims) {
        add_claim(object, out);
    } else if (kind.group.empty()) {
        out[kind.plural] = 1000;
    }
    return out;
}

bool quota_concerns(const JsonObject& quota, const Kind& kind, const JsonObject& object) {
    const auto& scopes = base::get_array(quota, "spec.scopes");
    const auto& selectors = base::get_array(quota, "spec.scopeSelector.matchExpressions");
    if (scopes.empty() && selectors.empty()) return true;
    if (kind != kPods) return false;
    const bool plain = std::all_of(scopes.begin(), scopes.end(), [&object](const JsonValue& scope) {
        return scope.is_string() && scope_holds(scope.get_string(), JsonValue(), object);
    });
    return plain && std::all_of(selectors.begin(), selectors.end(), [&object](const JsonValue& one) {
               return scope_holds(base::get_string(one, "scopeName"), one, object);
           });
}

std::set<Kind> quota_kinds(const JsonObject& quota) {
    static const std::set<std::string, std::less<>> kPlain = {"configmaps", "secrets", "services",
                                                              "replicationcontrollers", "resourcequotas"};
    std::set<Kind> out;
    for (const auto& hard : base::get_object(quota, "spec.hard")) {
        const std::string name(hard.key());
        if (name.starts_with("count/")) {
            const auto dot = name.find('.');
            out.insert(Kind(dot == std::string::npos ? "" : name.substr(dot + 1),
                            name.substr(6, dot == std::string::npos ? dot : dot - 6)));
        } else if (kPlain.contains(name)) {
            out.insert(Kind("", name));
        } else if (name.starts_with("services.")) {
            out.insert(kServices);
        } else if (name == "requests.storage" || name == "persistentvolumeclaims" ||
                   name.find(".storageclass.storage.k8s.io/") != std::string::npos) {
            out.insert(kClaims);
        } else {
            out.insert(kPods);
        }
    }
    return out;
}

Amounts quota_total(const ObjectStore& objects, const JsonObject& quota) {
    Amounts sum;
    for (const auto& kind : quota_kinds(quota)) {
        for (const auto& object : objects.list(kind, namespace_of(quota))) {
            if (!quota_concerns(quota, kind, *object)) continue;
            for (const auto& [name, amount] : quota_use(kind, *object)) sum[name] += amount;
        }
    }
    Amounts out;
    for (const auto& hard : base::get_object(quota, "spec.hard")) {
        const std::string name(hard.key());
        out[name] = sum[name];
    }
    return out;
}

std::string amount_text(std::string_view name, std::int64_t milli) {
    if (milli % 1000 != 0) return std::to_string(milli) + "m";
    std::int64_t whole = milli / 1000;
    const bool binary =
        name.find("memory") != std::string_view::npos || name.find("storage") != std::string_view::npos;
    if (!binary || whole == 0 || name.find("persistentvolumeclaims") != std::string_view::npos)
        return std::to_string(whole);
    std::size_t unit = 0;
    constexpr const char* kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    for (; unit < 5 && whole % 1024 == 0; ++unit) whole /= 1024;
    return std::to_string(whole) + kUnits[unit];
}

}  // namespace instantstart::twin::kube
