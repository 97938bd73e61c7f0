#include "twin/kube/bootstrap.h"

#include <set>

#include "base/text.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

constexpr const char* kRbac = "rbac.authorization.k8s.io";

JsonObject object(const char* api_version, const char* kind, std::string_view name,
                  std::string_view ns = "") {
    JsonObject meta{{"name", name}};
    if (!ns.empty()) meta["namespace"] = ns;
    return JsonObject{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(meta)}};
}

void add(ClusterState& state, const Kind& kind, JsonObject made) {
    // An object that is already there, after a load, stays as it is.
    const auto stored = state.store.create(kind, std::move(made));
    CHECK(stored.has_value() || stored.error().code == "AlreadyExists");
}

JsonObject rule(JsonArray groups, JsonArray resources, JsonArray verbs) {
    return JsonObject{
        {"apiGroups", std::move(groups)}, {"resources", std::move(resources)}, {"verbs", std::move(verbs)}};
}

JsonObject path_rule(JsonArray paths, JsonArray verbs) {
    return JsonObject{{"nonResourceURLs", std::move(paths)}, {"verbs", std::move(verbs)}};
}

void add_role(ClusterState& state, const char* name, JsonArray rules) {
    auto made = object("rbac.authorization.k8s.io/v1", "ClusterRole", name);
    metadata_of(made)["labels"] = JsonObject{{"kubernetes.io/bootstrapping", "rbac-defaults"}};
    made["rules"] = std::move(rules);
    add(state, Kind(kRbac, "clusterroles"), std::move(made));
}

void bind(ClusterState& state, const char* role, const char* group) {
    auto made = object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", role);
    metadata_of(made)["labels"] = JsonObject{{"kubernetes.io/bootstrapping", "rbac-defaults"}};
    made["roleRef"] = JsonObject{{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", role}};
    made["subjects"] = JsonArray{JsonObject{{"apiGroup", kRbac}, {"kind", "Group"}, {"name", group}}};
    add(state, Kind(kRbac, "clusterrolebindings"), std::move(made));
}

JsonArray workload_rules(const JsonArray& verbs, bool secrets) {
    JsonArray core{"pods",
                   "pods/log",
                   "pods/status",
                   "services",
                   "endpoints",
                   "configmaps",
                   "persistentvolumeclaims",
                   "serviceaccounts",
                   "replicationcontrollers",
                   "events",
                   "limitranges",
                   "resourcequotas"};
    if (secrets) core.emplace_back("secrets");
    return JsonArray{
        rule(JsonArray{""}, core, verbs),
        rule(JsonArray{""}, JsonArray{"namespaces"}, JsonArray{"get", "list", "watch"}),
        rule(JsonArray{"apps", "batch", "autoscaling", "policy", "networking.k8s.io", "discovery.k8s.io"},
             JsonArray{"*"}, verbs)};
}

void add_roles(ClusterState& state) {
    const JsonArray read{"get", "list", "watch"};
    const JsonArray write{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
    add_role(state, "cluster-admin",
             JsonArray{rule(JsonArray{"*"}, JsonArray{"*"}, JsonArray{"*"}),
                       path_rule(JsonArray{"*"}, JsonArray{"*"})});
    add_role(state, "view", workload_rules(read, false));
    add_role(state, "edit", workload_rules(write, true));
    auto admin = workload_rules(write, true);
    admin.emplace_back(rule(JsonArray{kRbac}, JsonArray{"roles", "rolebindings"}, write));
    add_role(state, "admin", std::move(admin));
    add_role(state, "system:discovery",
             JsonArray{path_rule(JsonArray{"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                           "/openapi", "/openapi/*", "/readyz", "/version", "/version/"},
                                 JsonArray{"get"})});
    add_role(
        state, "system:basic-user",
        JsonArray{
            rule(JsonArray{"authorization.k8s.io"},
                 JsonArray{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, JsonArray{"create"}),
            rule(JsonArray{"authentication.k8s.io"}, JsonArray{"selfsubjectreviews"}, JsonArray{"create"})});
    add_role(state, "system:node",
             JsonArray{rule(JsonArray{""}, JsonArray{"nodes", "pods", "services"}, read)});
    bind(state, "cluster-admin", "system:masters");
    bind(state, "system:discovery", "system:authenticated");
    bind(state, "system:basic-user", "system:authenticated");
}

// The address `offset` above the start of an IPv4 range.
std::string address_in(const std::string& cidr, std::uint32_t offset) {
    std::uint32_t value = 0;
    for (const auto& part : base::split(cidr.substr(0, cidr.find('/')), '.')) {
        value = value * 256U + static_cast<std::uint32_t>(std::strtoul(part.c_str(), nullptr, 10));
    }
    value += offset;
    return std::to_string(value >> 24U) + "." + std::to_string((value >> 16U) & 255U) + "." +
           std::to_string((value >> 8U) & 255U) + "." + std::to_string(value & 255U);
}

void add_kubernetes_service(ClusterState& state) {
    auto service = object("v1", "Service", "kubernetes", "default");
    metadata_of(service)["labels"] = JsonObject{{"component", "apiserver"}, {"provider", "kubernetes"}};
    const auto address = address_in(state.config.service_cidr, 1);
    service["spec"] = JsonObject{
        {"clusterIP", address},
        {"clusterIPs", JsonArray{JsonValue(address.c_str())}},
        {"ports",
         JsonArray{JsonObject{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", 443}}}}};
    add(state, Kind("", "services"), std::move(service));
    auto endpoints = object("v1", "Endpoints", "kubernetes", "default");
    endpoints["subsets"] = JsonArray{
        JsonObject{{"addresses", JsonArray{JsonObject{{"ip", address_in(state.config.cluster_cidr, 4)}}}},
                   {"ports", JsonArray{JsonObject{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}}}}}};
    add(state, Kind("", "endpoints"), std::move(endpoints));
}

void add_class(ClusterState& state) {
    auto storage = object("storage.k8s.io/v1", "StorageClass", "gp2");
    storage["provisioner"] = "kubernetes.io/aws-ebs";
    storage["parameters"] = JsonObject{{"fsType", "ext4"}, {"type", "gp2"}};
    storage["reclaimPolicy"] = "Delete";
    storage["volumeBindingMode"] = "WaitForFirstConsumer";
    add(state, Kind("storage.k8s.io", "storageclasses"), std::move(storage));
}

void add_priorities(ClusterState& state) {
    for (const auto& [name, value] : {std::pair("system-cluster-critical", 2'000'000'000),
                                      std::pair("system-node-critical", 2'000'001'000)}) {
        auto made = object("scheduling.k8s.io/v1", "PriorityClass", name);
        made["value"] = value;
        made["preemptionPolicy"] = "PreemptLowerPriority";
        add(state, Kind("scheduling.k8s.io", "priorityclasses"), std::move(made));
    }
}

void give_address(ClusterState& state, JsonObject& service) {
    auto& spec = object_at(service, "spec");
    if (base::get_string(spec, "type") == "ExternalName" || !base::get_string(spec, "clusterIP").empty())
        return;
    std::set<std::string> used;
    for (const auto& other : state.store.list(Kind("", "services")))
        used.insert(base::get_string(*other, "spec.clusterIP"));
    auto address = address_in(state.config.service_cidr, 10);
    for (int attempt = 0; attempt < 1000; ++attempt) {
        address = address_in(state.config.service_cidr,
                             16U + static_cast<std::uint32_t>(state.clock.random() % 65'000U));
        if (!used.contains(address)) break;
    }
    spec["clusterIP"] = address;
    spec["clusterIPs"] = JsonArray{JsonValue(address.c_str())};
}

void give_node_ports(ClusterState& state, JsonObject& service) {
    auto& spec = object_at(service, "spec");
    const auto type = base::get_string(spec, "type");
    auto* ports = spec.if_contains("ports");
    const bool wanted = type == "NodePort" || (type == "LoadBalancer" &&
                                               base::get_bool(spec, "allocateLoadBalancerNodePorts", true));
    if (!wanted || ports == nullptr || !ports->is_array()) return;
    for (auto& port : ports->get_array()) {
        if (port.is_object() && !port.get_object().contains("nodePort")) {
            port.get_object()["nodePort"] = 30'000 + static_cast<std::int64_t>(state.clock.random() % 2768U);
        }
    }
}

// The class that is marked as default is the one of a claim that names none.
void give_class(ClusterState& state, JsonObject& claim) {
    auto& spec = object_at(claim, "spec");
    if (spec.contains("storageClassName")) return;
    for (const auto& storage : state.store.list(Kind("storage.k8s.io", "storageclasses"))) {
        const auto& notes = base::get_object(*storage, "metadata.annotations");
        const auto* mark = notes.if_contains("storageclass.kubernetes.io/is-default-class");
        if (mark != nullptr && *mark == JsonValue("true")) spec["storageClassName"] = name_of(*storage);
    }
}

// The class that the pod names, or the one that stands for all pods that name none.
ObjectPtr priority_class_of(const ClusterState& state, const JsonObject& spec) {
    const Kind classes("scheduling.k8s.io", "priorityclasses");
    const auto name = base::get_string(spec, "priorityClassName");
    if (!name.empty()) return state.store.get(classes, "", name);
    for (const auto& one : state.store.list(classes)) {
        if (base::get_bool(*one, "globalDefault")) return one;
    }
    return nullptr;
}

void give_priority(ClusterState& state, JsonObject& pod) {
    auto& spec = object_at(pod, "spec");
    const auto found = priority_class_of(state, spec);
    if (found == nullptr) return;
    spec["priorityClassName"] = name_of(*found);
    spec["priority"] = base::get_int(*found, "value");
    spec["preemptionPolicy"] = base::get_string(*found, "preemptionPolicy", "PreemptLowerPriority");
}

}  // namespace

void fill_cluster_defaults(ClusterState& state, const Kind& kind, JsonObject& made) {
    if (!kind.group.empty()) return;
    if (kind.plural == "services") {
        give_address(state, made);
        give_node_ports(state, made);
    }
    if (kind.plural == "persistentvolumeclaims") give_class(state, made);
    if (kind.plural == "pods") give_priority(state, made);
}

void remove_orphaned_objects(ClusterState& state, const Change& change) {
    if (change.type != Change::Type::deleted ||
        change.kind != Kind("apiextensions.k8s.io", "customresourcedefinitions"))
        return;
    const Kind kind(base::get_string(*change.object, "spec.group"),
                    base::get_string(*change.object, "spec.names.plural"));
    for (const auto& orphan : state.store.list(kind)) {
        if (has_finalizers(kind, *orphan)) {
            auto freed = *orphan;
            metadata_of(freed).erase("finalizers");
            const auto stored = state.store.update(kind, std::move(freed));
            CHECK(stored.has_value());
        }
        if (state.store.get(kind, namespace_of(*orphan), name_of(*orphan)) == nullptr) continue;
        const auto gone = state.store.remove(kind, namespace_of(*orphan), name_of(*orphan));
        CHECK(gone.has_value());
    }
}

void add_system_objects(ClusterState& state) {
    for (auto name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
        add(state, Kind("", "namespaces"), object("v1", "Namespace", name));
        add(state, Kind("", "serviceaccounts"), object("v1", "ServiceAccount", "default", name));
        auto root = object("v1", "ConfigMap", "kube-root-ca.crt", name);
        root["data"] = JsonObject{{"ca.crt", state.config.ca_pem}};
        add(state, Kind("", "configmaps"), std::move(root));
    }
    add_roles(state);
    add_kubernetes_service(state);
    add_class(state);
    add_priorities(state);
}

}  // namespace instantstart::twin::kube
