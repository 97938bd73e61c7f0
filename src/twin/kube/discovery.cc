// What the server offers: aggregated discovery, the older lists, version and health.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "twin/kube/api_server.h"
#include "twin/kube/status.h"

namespace instantstart::twin::kube {

namespace {

constexpr std::string_view kAggregated = "g=apidiscovery.k8s.io";

JsonArray strings(const std::vector<std::string>& values) {
    JsonArray out;
    for (const auto& value : values) out.emplace_back(value);
    return out;
}

// group → its kinds, in the order of the registry.
std::vector<std::pair<std::string, std::vector<KindPtr>>> by_group(const ClusterState& state, bool core) {
    std::vector<std::pair<std::string, std::vector<KindPtr>>> out;
    for (const auto& kind : state.kinds.all()) {
        if (kind->kind.group.empty() != core) continue;
        auto found = std::find_if(out.begin(), out.end(),
                                  [&](const auto& entry) { return entry.first == kind->kind.group; });
        if (found == out.end()) found = out.insert(out.end(), {kind->kind.group, {}});
        found->second.push_back(kind);
    }
    return out;
}

// Newer and more stable versions first: v2, v1, v1beta1, v1alpha1.
bool is_before(const std::string& a, const std::string& b) {
    const auto rank = [](const std::string& text) {
        const int stage = text.find("alpha") != std::string::npos  ? 0
                          : text.find("beta") != std::string::npos ? 1
                                                                   : 2;
        return std::pair(stage, std::strtol(text.c_str() + (text.empty() ? 0 : 1), nullptr, 10));
    };
    return rank(a) != rank(b) ? rank(a) > rank(b) : a > b;
}

std::vector<std::string> versions_of(const std::vector<KindPtr>& kinds) {
    std::vector<std::string> out;
    for (const auto& kind : kinds) {
        if (std::find(out.begin(), out.end(), kind->version) == out.end()) out.push_back(kind->version);
    }
    std::sort(out.begin(), out.end(), is_before);
    return out;
}

struct ResponseKind {
    std::string group, version, kind;
    std::vector<std::string> verbs;
};

ResponseKind subresource_kind(const KindInfo& kind, const std::string& name) {
    if (name == "scale") return {"autoscaling", "v1", "Scale", {"get", "patch", "update"}};
    if (name == "eviction") return {"policy", "v1", "Eviction", {"create"}};
    if (name == "binding") return {"", "v1", "Binding", {"create"}};
    if (name == "token") return {"authentication.k8s.io", "v1", "TokenRequest", {"create"}};
    if (name == "log") return {kind.kind.group, kind.version, kind.name, {"get"}};
    if (name == "exec" || name == "attach" || name == "portforward")
        return {"",
                "v1",
                name == "exec"     ? "PodExecOptions"
                : name == "attach" ? "PodAttachOptions"
                                   : "PodPortForwardOptions",
                {"create", "get"}};
    if (name == "proxy")
        return {"", "v1", kind.name + "ProxyOptions", {"create", "delete", "get", "patch", "update"}};
    if (name == "finalize") return {kind.kind.group, kind.version, kind.name, {"update"}};
    return {kind.kind.group, kind.version, kind.name, {"get", "patch", "update"}};
}

// Of a built-in kind the real server leaves out what is the resource's own.
JsonObject response_kind(const KindInfo& kind, const std::string& group, const std::string& version,
                         const std::string& name) {
    const bool own = !kind.custom && group == kind.kind.group && version == kind.version;
    return JsonObject{{"group", own ? "" : group}, {"version", own ? "" : version}, {"kind", name}};
}

JsonObject aggregated_resource(const KindInfo& kind) {
    JsonObject out;
    out["resource"] = kind.kind.plural;
    out["responseKind"] = response_kind(kind, kind.kind.group, kind.version, kind.name);
    out["scope"] = kind.namespaced ? "Namespaced" : "Cluster";
    out["singularResource"] = kind.singular;
    out["verbs"] = strings(kind.verbs);
    if (!kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
    if (!kind.categories.empty()) out["categories"] = strings(kind.categories);
    JsonArray subresources;
    for (const auto& name : kind.subresources) {
        const auto response = subresource_kind(kind, name);
        subresources.emplace_back(
            JsonObject{{"subresource", name},
                       {"responseKind", response_kind(kind, response.group, response.version, response.kind)},
                       {"verbs", strings(response.verbs)}});
    }
    if (!subresources.empty()) out["subresources"] = std::move(subresources);
    return out;
}

http::Response aggregated(const ClusterState& state, bool core, const std::string& version) {
    JsonArray items;
    for (const auto& [group, kinds] : by_group(state, core)) {
        JsonArray versions;
        for (const auto& name : versions_of(kinds)) {
            JsonArray resources;
            for (const auto& kind : kinds) {
                if (kind->version == name) resources.emplace_back(aggregated_resource(*kind));
            }
            versions.emplace_back(
                JsonObject{{"version", name}, {"resources", std::move(resources)}, {"freshness", "Current"}});
        }
        JsonObject meta{{"creationTimestamp", nullptr}};
        if (!core) meta["name"] = group;
        items.emplace_back(JsonObject{{"metadata", std::move(meta)}, {"versions", std::move(versions)}});
    }
    const JsonObject body{{"kind", "APIGroupDiscoveryList"},
                          {"apiVersion", "apidiscovery.k8s.io/" + version},
                          {"metadata", JsonObject()},
                          {"items", std::move(items)}};
    auto response = json_response(200, body);
    response.headers.set("Content-Type",
                         "application/json;g=apidiscovery.k8s.io;v=" + version + ";as=APIGroupDiscoveryList");
    return response;
}

JsonObject group_entry(const std::string& group, const std::vector<KindPtr>& kinds) {
    JsonArray versions;
    for (const auto& version : versions_of(kinds)) {
        versions.emplace_back(JsonObject{{"groupVersion", group + "/" + version}, {"version", version}});
    }
    const JsonValue preferred = versions.front();
    return JsonObject{{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", preferred}};
}

JsonObject resource_entry(const KindInfo& kind, const std::string& subresource) {
    JsonObject out;
    const auto response = subresource.empty() ? ResponseKind{"", "", kind.name, kind.verbs}
                                              : subresource_kind(kind, subresource);
    out["name"] = kind.kind.plural + (subresource.empty() ? "" : "/" + subresource);
    out["singularName"] = subresource.empty() ? kind.singular : "";
    out["namespaced"] = kind.namespaced;
    if (!subresource.empty() && (response.group != kind.kind.group || response.version != kind.version)) {
        out["group"] = response.group;
        out["version"] = response.version;
    }
    out["kind"] = response.kind;
    out["verbs"] = strings(response.verbs);
    if (subresource.empty() && !kind.short_names.empty()) out["shortNames"] = strings(kind.short_names);
    if (subresource.empty() && !kind.categories.empty()) out["categories"] = strings(kind.categories);
    return out;
}

http::Response resource_list(const ClusterState& state, const std::string& group,
                             const std::string& version) {
    JsonArray resources;
    for (const auto& kind : state.kinds.all()) {
        if (kind->kind.group != group || kind->version != version) continue;
        resources.emplace_back(resource_entry(*kind, ""));
        for (const auto& name : kind->subresources) resources.emplace_back(resource_entry(*kind, name));
    }
    if (resources.empty()) return error_response(no_such_path());
    return json_response(200, JsonObject{{"kind", "APIResourceList"},
                                         {"apiVersion", "v1"},
                                         {"groupVersion", group.empty() ? version : group + "/" + version},
                                         {"resources", std::move(resources)}});
}

http::Response group_list(const ClusterState& state) {
    JsonArray groups;
    for (const auto& [group, kinds] : by_group(state, false)) groups.emplace_back(group_entry(group, kinds));
    return json_response(
        200, JsonObject{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}});
}

http::Response one_group(const ClusterState& state, const std::string& wanted) {
    for (const auto& [group, kinds] : by_group(state, false)) {
        if (group != wanted) continue;
        auto body = group_entry(group, kinds);
        body["kind"] = "APIGroup";
        body["apiVersion"] = "v1";
        return json_response(200, body);
    }
    return error_response(no_such_path());
}

http::Response version(const ClusterState& state) {
    const auto dot = state.config.version.find('.');
    const auto major = state.config.version.substr(0, dot);
    const auto minor = dot == std::string::npos ? "0" : state.config.version.substr(dot + 1);
    return json_response(200, JsonObject{{"major", major},
                                         {"minor", minor},
                                         {"gitVersion", "v" + state.config.version + ".4-eks-twin"},
                                         {"gitCommit", "0000000000000000000000000000000000000000"},
                                         {"gitTreeState", "clean"},
                                         {"buildDate", "2026-01-01T00:00:00Z"},
                                         {"goVersion", "go1.24"},
                                         {"compiler", "gc"},
                                         {"platform", "linux/amd64"}});
}

std::string aggregated_version(const ApiCall& call) {
    for (const auto& part : base::split(call.request.headers.get("Accept"), ',')) {
        if (part.find(kAggregated) == std::string::npos) {
            if (part.find("application/json") != std::string::npos) return "";
            continue;
        }
        if (part.find("v=v2beta1") != std::string::npos) return "v2beta1";
        if (part.find("v=v2") != std::string::npos) return "v2";
    }
    return "";
}

}  // namespace

http::Response answer_discovery(const StatePtr& state, const ApiCall& call) {
    const auto& parts = call.segments;
    const auto& first = parts.empty() ? std::string() : parts[0];
    if (call.method != "GET" && call.method != "HEAD") return error_response(method_not_allowed());
    if (first == "version" && parts.size() == 1) return version(*state);
    if (first == "healthz" || first == "readyz" || first == "livez")
        return {200, "text/plain; charset=utf-8", "ok"};
    const auto aggregated_as = aggregated_version(call);
    if (first == "api" && parts.size() == 1) {
        if (!aggregated_as.empty()) return aggregated(*state, true, aggregated_as);
        return json_response(200, JsonObject{{"kind", "APIVersions"},
                                             {"versions", JsonArray{"v1"}},
                                             {"serverAddressByClientCIDRs", JsonArray()}});
    }
    if (first == "apis" && parts.size() == 1)
        return aggregated_as.empty() ? group_list(*state) : aggregated(*state, false, aggregated_as);
    if (first == "api" && parts.size() == 2) return resource_list(*state, "", parts[1]);
    if (first == "apis" && parts.size() == 2) return one_group(*state, parts[1]);
    if (first == "apis" && parts.size() == 3) return resource_list(*state, parts[1], parts[2]);
    if (parts.empty())
        return json_response(200, JsonObject{{"paths", JsonArray{"/api", "/apis", "/healthz", "/livez",
                                                                 "/openapi/v3", "/readyz", "/version"}}});
    return error_response(no_such_path());
}

}  // namespace instantstart::twin::kube
