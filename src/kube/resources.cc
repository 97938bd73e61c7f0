#include <array>

#include "base/text.h"
#include "kube/client.h"
#include "kube/impl/resources.h"

namespace instantstart::kube {

namespace {

struct Row {
    std::string_view group, version, plural, kind;
    bool namespaced;
};

// Kinds that every API server of the supported versions has.
constexpr std::array kRows = {
    Row{"", "v1", "namespaces", "Namespace", false},
    Row{"", "v1", "nodes", "Node", false},
    Row{"", "v1", "pods", "Pod", true},
    Row{"", "v1", "services", "Service", true},
    Row{"", "v1", "endpoints", "Endpoints", true},
    Row{"", "v1", "configmaps", "ConfigMap", true},
    Row{"", "v1", "secrets", "Secret", true},
    Row{"", "v1", "serviceaccounts", "ServiceAccount", true},
    Row{"", "v1", "events", "Event", true},
    Row{"", "v1", "persistentvolumes", "PersistentVolume", false},
    Row{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true},
    Row{"", "v1", "resourcequotas", "ResourceQuota", true},
    Row{"", "v1", "limitranges", "LimitRange", true},
    Row{"", "v1", "replicationcontrollers", "ReplicationController", true},
    Row{"", "v1", "podtemplates", "PodTemplate", true},
    Row{"apps", "v1", "deployments", "Deployment", true},
    Row{"apps", "v1", "daemonsets", "DaemonSet", true},
    Row{"apps", "v1", "statefulsets", "StatefulSet", true},
    Row{"apps", "v1", "replicasets", "ReplicaSet", true},
    Row{"apps", "v1", "controllerrevisions", "ControllerRevision", true},
    Row{"batch", "v1", "jobs", "Job", true},
    Row{"batch", "v1", "cronjobs", "CronJob", true},
    Row{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", true},
    Row{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true},
    Row{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", true},
    Row{"networking.k8s.io", "v1", "ingresses", "Ingress", true},
    Row{"networking.k8s.io", "v1", "ingressclasses", "IngressClass", false},
    Row{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true},
    Row{"rbac.authorization.k8s.io", "v1", "roles", "Role", true},
    Row{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", true},
    Row{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", false},
    Row{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", false},
    Row{"storage.k8s.io", "v1", "storageclasses", "StorageClass", false},
    Row{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false},
    Row{"storage.k8s.io", "v1", "csinodes", "CSINode", false},
    Row{"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false},
    Row{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false},
    Row{"apiregistration.k8s.io", "v1", "apiservices", "APIService", false},
    Row{"coordination.k8s.io", "v1", "leases", "Lease", true},
    Row{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false},
    Row{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false},
    Row{"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false},
    Row{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration",
        false},
    Row{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations",
        "ValidatingWebhookConfiguration", false},
};

Resource made(const Row& row) {
    return {std::string(row.group), std::string(row.version), std::string(row.plural), std::string(row.kind),
            row.namespaced};
}

}  // namespace

std::string Resource::api_version() const {
    return group.empty() ? version : group + "/" + version;
}

std::string Resource::path(std::string_view ns, std::string_view name, std::string_view subresource) const {
    std::string text = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
    if (namespaced && !ns.empty()) text += "/namespaces/" + base::percent_encode(ns);
    text += "/" + plural;
    if (!name.empty()) text += "/" + base::percent_encode(name);
    if (!subresource.empty()) text += "/" + std::string(subresource);
    return text;
}

std::optional<Resource> known_resource(std::string_view plural_and_group) {
    const auto dot = plural_and_group.find('.');
    const auto plural = plural_and_group.substr(0, dot);
    const auto group = dot == std::string_view::npos ? std::string_view() : plural_and_group.substr(dot + 1);
    for (const auto& row : kRows) {
        if (row.plural == plural && row.group == group) return made(row);
    }
    return std::nullopt;
}

namespace impl {

std::optional<Resource> known_kind(std::string_view api_version, std::string_view kind) {
    for (const auto& row : kRows) {
        if (row.kind != kind) continue;
        auto resource = made(row);
        if (resource.api_version() == api_version) return resource;
    }
    return std::nullopt;
}

}  // namespace impl

}  // namespace instantstart::kube
