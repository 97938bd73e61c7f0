#include "twin/aws/eks/addon_objects.h"

#include <algorithm>

#include "twin/aws/eks/node.h"
#include "twin/aws/resource_tags.h"
#include "twin/aws/services.h"

namespace instantstart::twin::eks {

namespace {

using kube::Kind;

const Kind kDaemonSets("apps", "daemonsets"), kDeployments("apps", "deployments"),
    kAccounts("", "serviceaccounts"), kServices("", "services"), kNamespaces("", "namespaces"),
    kCsiDrivers("storage.k8s.io", "csidrivers"), kCrds("apiextensions.k8s.io", "customresourcedefinitions"),
    kApiServices("apiregistration.k8s.io", "apiservices"), kNodes("", "nodes"),
    kSlices("discovery.k8s.io", "endpointslices"),
    kValidating("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
    kMutating("admissionregistration.k8s.io", "mutatingwebhookconfigurations");

JsonObject head(std::string_view api_version, std::string_view kind, std::string_view ns,
                const std::string& name, const Addon& addon) {
    JsonObject object;
    object["apiVersion"] = api_version;
    object["kind"] = kind;
    JsonObject metadata;
    metadata["name"] = name;
    if (!ns.empty()) metadata["namespace"] = ns;
    metadata["labels"] = {{"app.kubernetes.io/name", addon.name}, {"app.kubernetes.io/managed-by", "EKS"}};
    object["metadata"] = std::move(metadata);
    return object;
}

// The first list of tolerations anywhere in the configuration: our stand-ins need no finer distinction.
const JsonArray* find_tolerations(const JsonObject& configuration) {
    if (const JsonValue* own = configuration.if_contains("tolerations"); own != nullptr && own->is_array())
        return &own->get_array();
    for (const auto& [key, value] : configuration) {
        if (const JsonObject* child = value.if_object()) {
            if (const JsonArray* found = find_tolerations(*child)) return found;
        }
    }
    return nullptr;
}

JsonObject requests(std::string_view cpu, std::string_view memory) {
    JsonObject resources;
    resources["requests"] = {{"cpu", cpu}, {"memory", memory}};
    return resources;
}

JsonObject pod_template(const Addon& addon, const std::string& name, const std::string& account,
                        JsonArray tolerations, bool host_network) {
    JsonObject container;
    container["name"] = name;
    container["image"] =
        "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/" + name + ":" + addon.default_version;
    container["resources"] = requests(host_network ? "10m" : "100m", host_network ? "40Mi" : "128Mi");
    JsonObject spec;
    spec["containers"] = JsonArray{std::move(container)};
    spec["tolerations"] = std::move(tolerations);
    if (host_network) spec["hostNetwork"] = true;
    spec["priorityClassName"] = host_network ? "system-node-critical" : "system-cluster-critical";
    if (!account.empty()) spec["serviceAccountName"] = account;
    JsonObject made;
    made["metadata"] = {{"labels", {{"app.kubernetes.io/name", addon.name}, {"k8s-app", name}}}};
    made["spec"] = std::move(spec);
    return made;
}

JsonArray controller_tolerations(const JsonObject& configuration) {
    if (const JsonArray* given = find_tolerations(configuration)) return *given;
    return JsonArray{JsonObject{{"key", "CriticalAddonsOnly"}, {"operator", "Exists"}}};
}

void put(kube::ObjectStore& objects, const Kind& kind, JsonObject object) {
    static_cast<void>(objects.apply(kind, std::move(object), "eks"));
}

std::string account_of(const Addon& addon, std::size_t index) {
    if (addon.service_accounts.empty()) return "default";
    return addon.service_accounts[std::min(index, addon.service_accounts.size() - 1)];
}

// Whether the configuration leaves this Deployment in.
bool is_wanted(const Addon& addon, const std::string& deployment, const JsonObject& configuration) {
    for (const auto& [name, member] : addon.optional_deployments) {
        if (name == deployment) return base::get_bool(configuration, member + ".enabled", true);
    }
    return true;
}

void drop(kube::ObjectStore& objects, const Kind& kind, std::string_view ns, const std::string& name) {
    static_cast<void>(objects.remove(kind, ns, name));
}

void put_workloads(kube::ObjectStore& objects, const Addon& addon, const JsonObject& configuration) {
    for (std::size_t i = 0; i < addon.daemon_sets.size(); ++i) {
        const std::string& name = addon.daemon_sets[i];
        JsonObject object = head("apps/v1", "DaemonSet", addon.ns, name, addon);
        JsonArray everything{JsonObject{{"operator", "Exists"}}};
        JsonObject spec;
        spec["selector"] = {{"matchLabels", {{"k8s-app", name}}}};
        spec["template"] = pod_template(addon, name, account_of(addon, i), std::move(everything), true);
        object["spec"] = std::move(spec);
        put(objects, kDaemonSets, std::move(object));
    }
    for (std::size_t i = 0; i < addon.deployments.size(); ++i) {
        const std::string& name = addon.deployments[i];
        if (!is_wanted(addon, name, configuration)) {
            drop(objects, kDeployments, addon.ns, name);
            continue;
        }
        JsonObject object = head("apps/v1", "Deployment", addon.ns, name, addon);
        JsonObject spec;
        spec["replicas"] = base::get_int(configuration, "replicaCount", addon.replicas);
        spec["selector"] = {{"matchLabels", {{"k8s-app", name}}}};
        spec["template"] =
            pod_template(addon, name, account_of(addon, i), controller_tolerations(configuration), false);
        object["spec"] = std::move(spec);
        put(objects, kDeployments, std::move(object));
    }
}

void put_crds(kube::ObjectStore& objects, const Addon& addon) {
    for (const Crd& crd : addon.crds) {
        JsonObject object = head("apiextensions.k8s.io/v1", "CustomResourceDefinition", "",
                                 crd.plural + "." + crd.group, addon);
        JsonArray versions;
        for (const std::string& name : crd.versions) {
            JsonObject schema;
            schema["openAPIV3Schema"] = {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
            JsonObject version;
            version["name"] = name;
            version["served"] = true;
            version["storage"] = name == crd.versions.back();
            version["schema"] = std::move(schema);
            version["subresources"] = {{"status", JsonObject()}};
            versions.push_back(std::move(version));
        }
        std::string singular = crd.kind;
        for (char& letter : singular)
            letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
        JsonObject spec;
        spec["group"] = crd.group;
        spec["names"] = {{"kind", crd.kind},
                         {"plural", crd.plural},
                         {"singular", singular},
                         {"listKind", crd.kind + "List"}};
        spec["scope"] = crd.cluster_scope ? "Cluster" : "Namespaced";
        spec["versions"] = std::move(versions);
        object["spec"] = std::move(spec);
        put(objects, kCrds, std::move(object));
    }
}

JsonObject service(const Addon& addon, const std::string& name, const std::string& target, std::int64_t port,
                   const std::string& protocol, const std::string& cluster_ip) {
    JsonObject object = head("v1", "Service", addon.ns, name, addon);
    JsonObject spec;
    spec["selector"] = {{"k8s-app", target}};
    spec["ports"] = JsonArray{JsonObject{{"name", protocol == "UDP" ? "dns" : "https"},
                                         {"port", port},
                                         {"targetPort", port == 443 ? 10250 : port},
                                         {"protocol", protocol}}};
    if (!cluster_ip.empty()) spec["clusterIP"] = cluster_ip;
    object["spec"] = std::move(spec);
    return object;
}

void put_extras(kube::Cluster& cluster, const Addon& addon) {
    kube::ObjectStore& objects = cluster.objects();
    if (!addon.csi_driver.empty()) {
        JsonObject driver = head("storage.k8s.io/v1", "CSIDriver", "", addon.csi_driver, addon);
        driver["spec"] = {{"attachRequired", addon.csi_driver == "ebs.csi.aws.com"},
                          {"podInfoOnMount", addon.csi_driver == "s3.csi.aws.com"},
                          {"requiresRepublish", addon.csi_driver == "s3.csi.aws.com"},
                          {"volumeLifecycleModes", JsonArray{"Persistent"}}};
        put(objects, kCsiDrivers, std::move(driver));
    }
    if (addon.name == "coredns") {
        const std::string range = cluster.config().service_cidr;
        const std::optional<ec2::Cidr> cidr = ec2::parse_cidr(range);
        put(objects, kServices,
            service(addon, "kube-dns", "coredns", 53, "UDP", cidr ? ec2::address_text(cidr->base + 10) : ""));
    }
    if (addon.name == "metrics-server") {
        put(objects, kServices, service(addon, "metrics-server", "metrics-server", 443, "TCP", ""));
        JsonObject api = head("apiregistration.k8s.io/v1", "APIService", "", "v1beta1.metrics.k8s.io", addon);
        api["spec"] = {{"group", "metrics.k8s.io"},
                       {"version", "v1beta1"},
                       {"groupPriorityMinimum", 100},
                       {"versionPriority", 100},
                       {"insecureSkipTLSVerify", true},
                       {"service", {{"name", "metrics-server"}, {"namespace", "kube-system"}}}};
        put(objects, kApiServices, std::move(api));
    }
}

bool contains_text(const JsonArray& list, std::string_view text) {
    return std::any_of(list.begin(), list.end(), [text](const JsonValue& item) {
        return item.is_string() && std::string_view(item.get_string()) == text;
    });
}

bool any_schedulable(kube::Cluster& cluster) {
    for (const kube::ObjectPtr& node : cluster.objects().list(kNodes)) {
        if (base::get_bool(*node, "spec.unschedulable")) continue;
        for (const JsonValue& condition : base::get_array(*node, "status.conditions")) {
            if (base::get_string(condition, "type") == "Ready" &&
                base::get_string(condition, "status") == "True")
                return true;
        }
    }
    return false;
}

// Configurations of one kind and name hold all the webhooks that the catalogue gives them.
void put_webhooks(kube::ObjectStore& objects, const Addon& addon) {
    for (const Webhook& webhook : addon.webhooks) {
        JsonObject object =
            head("admissionregistration.k8s.io/v1",
                 webhook.mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration", "",
                 webhook.configuration, addon);
        const JsonObject rule{{"apiGroups", JsonArray{JsonValue(webhook.group)}},
                              {"apiVersions", JsonArray{"*"}},
                              {"operations", JsonArray{"CREATE", "UPDATE"}},
                              {"resources", JsonArray{JsonValue(webhook.resource)}}};
        object["webhooks"] = JsonArray{JsonObject{
            {"name", webhook.name},
            {"admissionReviewVersions", JsonArray{"v1"}},
            {"sideEffects", "None"},
            {"failurePolicy", "Fail"},
            {"rules", JsonArray{rule}},
            {"clientConfig",
             {{"service", {{"name", webhook.service}, {"namespace", addon.ns}, {"path", "/admit"}}}}}}};
        put(objects, kServices, service(addon, webhook.service, webhook.deployment, 443, "TCP", ""));
        put(objects, webhook.mutating ? kMutating : kValidating, std::move(object));
    }
}

void drop_webhooks(kube::ObjectStore& objects, const Addon& addon) {
    for (const Webhook& webhook : addon.webhooks) {
        drop(objects, webhook.mutating ? kMutating : kValidating, "", webhook.configuration);
        drop(objects, kServices, addon.ns, webhook.service);
    }
}

void put_api_service(kube::ObjectStore& objects, const Addon& addon, const JsonObject& configuration) {
    if (addon.api_service.empty()) return;
    if (!is_wanted(addon, addon.api_service_by, configuration)) {
        drop(objects, kApiServices, "", addon.api_service);
        return;
    }
    const std::size_t dot = addon.api_service.find('.');
    put(objects, kServices, service(addon, addon.api_service_by, addon.api_service_by, 443, "TCP", ""));
    JsonObject api = head("apiregistration.k8s.io/v1", "APIService", "", addon.api_service, addon);
    api["spec"] = {{"group", addon.api_service.substr(dot + 1)},
                   {"version", addon.api_service.substr(0, dot)},
                   {"groupPriorityMinimum", 100},
                   {"versionPriority", 100},
                   {"insecureSkipTLSVerify", true},
                   {"service", {{"name", addon.api_service_by}, {"namespace", addon.ns}}}};
    put(objects, kApiServices, std::move(api));
}

bool has_ready_endpoint(kube::Cluster& cluster, std::string_view ns, const std::string& service) {
    for (const kube::ObjectPtr& slice : cluster.objects().list(kSlices, ns)) {
        const JsonObject& labels = base::get_object(*slice, "metadata.labels");
        const JsonValue* name = labels.if_contains("kubernetes.io/service-name");
        if (name == nullptr || !name->is_string() || name->as_string() != service) continue;
        for (const JsonValue& endpoint : base::get_array(*slice, "endpoints")) {
            if (base::get_bool(endpoint, "conditions.ready", true)) return true;
        }
    }
    return false;
}

// The role that the add-on's pods get; "" where no association gives them one.
std::string associated_role(const State& state, const std::string& cluster, const Addon& addon) {
    for (const auto& [id, association] : state.associations) {
        if (base::get_string(association.data, "clusterName") == cluster &&
            base::get_string(association.data, "namespace") == addon.ns &&
            base::get_string(association.data, "serviceAccount") == addon.needs_association)
            return base::get_string(association.data, "roleArn");
    }
    return "";
}

// Pods without credentials, or whose role may not do what they begin with, never become ready.
bool is_starved(const State& state, const std::string& cluster, const Addon& addon) {
    if (addon.needs_association.empty()) return false;
    Identity role;
    role.role_arn = associated_role(state, cluster, addon);
    role.arn = role.role_arn;
    role.account = state.world.account();
    if (role.role_arn.empty()) return true;
    const Record* eks = state.clusters.find(cluster);
    const auto* hyperpod = dynamic_cast<const HyperPodView*>(state.world.service("sagemaker"));
    if (addon.needs_action.empty() || eks == nullptr || hyperpod == nullptr) return false;
    const std::string arn = hyperpod->cluster_on(base::get_string(eks->data, "arn"));
    if (arn.empty()) return false;  // nothing to ask about yet
    const JsonArray tags = state.world.get<ResourceTags>("sagemaker").resource_tags(arn);
    return tag_value(tags, "SageMaker") != "true" ||
           !state.world.iam().allows(role, addon.needs_action, arn, {{"aws:ResourceTag/SageMaker", "true"}});
}

}  // namespace

std::optional<Obstacle> addon_obstacle(State& state, const std::string& cluster, std::string_view name) {
    const Addon* addon = find_addon(name);
    kube::Cluster* live = state.host.find(cluster);
    if (addon == nullptr || live == nullptr) return std::nullopt;
    for (const std::string& definition : addon->needs_crds) {
        if (live->objects().get(kCrds, "", definition) == nullptr)
            return Obstacle{"K8sResourceNotFound",
                            "the server could not find the requested resource: " + definition};
    }
    if (addon->deployments.empty()) return std::nullopt;
    for (const kube::ObjectPtr& configuration : live->objects().list(kMutating)) {
        for (const JsonValue& webhook : base::get_array(*configuration, "webhooks")) {
            const JsonArray& rules = base::get_array(webhook, "rules");
            if (rules.empty() || !contains_text(base::get_array(rules.front(), "resources"), "deployments"))
                continue;
            if (base::get_string(webhook, "failurePolicy", "Fail") != "Fail") continue;
            const std::string ns = base::get_string(webhook, "clientConfig.service.namespace"),
                              service = base::get_string(webhook, "clientConfig.service.name");
            if (ns == addon->ns || has_ready_endpoint(*live, ns, service)) continue;
            return Obstacle{"AdmissionRequestDenied",
                            "Internal error occurred: failed calling webhook \"" +
                                base::get_string(webhook, "name") +
                                "\": failed to call webhook: Post \"https://" + service + "." + ns +
                                ".svc:443\": no endpoints available for service \"" + service + "\""};
        }
    }
    return std::nullopt;
}

void apply_addon(State& state, const Record& cluster, std::string_view name, const std::string& role,
                 const JsonObject& configuration) {
    const Addon* addon = find_addon(name);
    kube::Cluster* live = state.host.find(cluster.id);
    if (addon == nullptr || live == nullptr) return;
    kube::ObjectStore& objects = live->objects();
    if (objects.get(kNamespaces, "", addon->ns) == nullptr)
        put(objects, kNamespaces, head("v1", "Namespace", "", addon->ns, *addon));
    for (const std::string& account : addon->service_accounts) {
        JsonObject object = head("v1", "ServiceAccount", addon->ns, account, *addon);
        if (!role.empty())
            object["metadata"].as_object()["annotations"] = {{"eks.amazonaws.com/role-arn", role}};
        put(objects, kAccounts, std::move(object));
    }
    put_crds(objects, *addon);
    put_webhooks(objects, *addon);
    put_workloads(objects, *addon, configuration);
    put_api_service(objects, *addon, configuration);
    put_extras(*live, *addon);
    if (addon->name == "vpc-cni") mark_ready_nodes(*live, base::format_time(state.world.now()));
}

void remove_addon_objects(State& state, const std::string& cluster, std::string_view name) {
    const Addon* addon = find_addon(name);
    kube::Cluster* live = state.host.find(cluster);
    if (addon == nullptr || live == nullptr) return;
    kube::ObjectStore& objects = live->objects();
    for (const std::string& set : addon->daemon_sets) drop(objects, kDaemonSets, addon->ns, set);
    for (const std::string& deployment : addon->deployments)
        drop(objects, kDeployments, addon->ns, deployment);
    for (const std::string& account : addon->service_accounts) drop(objects, kAccounts, addon->ns, account);
    if (!addon->csi_driver.empty()) drop(objects, kCsiDrivers, "", addon->csi_driver);
    for (const Crd& crd : addon->crds) drop(objects, kCrds, "", crd.plural + "." + crd.group);
    if (addon->name == "coredns") drop(objects, kServices, addon->ns, "kube-dns");
    drop_webhooks(objects, *addon);
    if (!addon->api_service.empty()) {
        drop(objects, kApiServices, "", addon->api_service);
        drop(objects, kServices, addon->ns, addon->api_service_by);
    }
    if (addon->name == "metrics-server") {
        drop(objects, kServices, addon->ns, "metrics-server");
        drop(objects, kApiServices, "", "v1beta1.metrics.k8s.io");
    }
    if (addon->ns != "kube-system" && addon->ns != "aws-hyperpod") drop(objects, kNamespaces, "", addon->ns);
}

Health addon_health(State& state, const std::string& cluster, std::string_view name) {
    const Addon* addon = find_addon(name);
    kube::Cluster* live = state.host.find(cluster);
    if (addon == nullptr || live == nullptr) return Health::waiting;
    // Nor do those whose init container waits for a driver.
    const bool starved = is_starved(state, cluster, *addon);
    bool driverless = false;
    for (const std::string& driver : addon->needs_csi_drivers)
        driverless = driverless || live->objects().get(kCsiDrivers, "", driver) == nullptr;
    if (starved || driverless) return any_schedulable(*live) ? Health::waiting : Health::no_nodes;
    for (const std::string& deployment : addon->deployments) {
        const kube::ObjectPtr object = live->objects().get(kDeployments, addon->ns, deployment);
        const bool left_out =
            object == nullptr &&
            std::any_of(addon->optional_deployments.begin(), addon->optional_deployments.end(),
                        [&deployment](const auto& optional) { return optional.first == deployment; });
        if (left_out) continue;
        const std::int64_t wanted = object == nullptr ? 1 : base::get_int(*object, "spec.replicas", 1);
        const std::int64_t available =
            object == nullptr ? 0 : base::get_int(*object, "status.availableReplicas");
        if (available < wanted) return any_schedulable(*live) ? Health::waiting : Health::no_nodes;
    }
    return Health::ready;
}

}  // namespace instantstart::twin::eks
