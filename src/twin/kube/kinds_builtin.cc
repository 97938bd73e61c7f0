#include "base/text.h"
#include "twin/kube/kinds.h"

namespace instantstart::twin::kube {

namespace {

// plural, kind, group/version, short names, scope (n: in a namespace, c: of the cluster), categories,
// subresources, verbs
// (* all, d: all but deletecollection, c: only create).
struct Row {
    const char *plural, *name, *api, *short_names, *scope, *categories, *subresources, *verbs;
};

constexpr Row kRows[] = {
    {"bindings", "Binding", "v1", "", "n", "", "", "c"},
    {"configmaps", "ConfigMap", "v1", "cm", "n", "", "", "*"},
    {"endpoints", "Endpoints", "v1", "ep", "n", "", "", "*"},
    {"events", "Event", "v1", "ev", "n", "", "", "*"},
    {"limitranges", "LimitRange", "v1", "limits", "n", "", "", "*"},
    {"namespaces", "Namespace", "v1", "ns", "c", "", "status,finalize", "d"},
    {"nodes", "Node", "v1", "no", "c", "", "status,proxy", "*"},
    {"persistentvolumeclaims", "PersistentVolumeClaim", "v1", "pvc", "n", "", "status", "*"},
    {"persistentvolumes", "PersistentVolume", "v1", "pv", "c", "", "status", "*"},
    {"pods", "Pod", "v1", "po", "n", "all",
     "status,log,eviction,binding,exec,attach,portforward,proxy,ephemeralcontainers", "*"},
    {"podtemplates", "PodTemplate", "v1", "", "n", "", "", "*"},
    {"replicationcontrollers", "ReplicationController", "v1", "rc", "n", "all", "status,scale", "*"},
    {"resourcequotas", "ResourceQuota", "v1", "quota", "n", "", "status", "*"},
    {"secrets", "Secret", "v1", "", "n", "", "", "*"},
    {"serviceaccounts", "ServiceAccount", "v1", "sa", "n", "", "token", "*"},
    {"services", "Service", "v1", "svc", "n", "all", "status,proxy", "*"},
    {"controllerrevisions", "ControllerRevision", "apps/v1", "", "n", "", "", "*"},
    {"daemonsets", "DaemonSet", "apps/v1", "ds", "n", "all", "status", "*"},
    {"deployments", "Deployment", "apps/v1", "deploy", "n", "all", "status,scale", "*"},
    {"replicasets", "ReplicaSet", "apps/v1", "rs", "n", "all", "status,scale", "*"},
    {"statefulsets", "StatefulSet", "apps/v1", "sts", "n", "all", "status,scale", "*"},
    {"tokenreviews", "TokenReview", "authentication.k8s.io/v1", "", "c", "", "", "c"},
    {"selfsubjectreviews", "SelfSubjectReview", "authentication.k8s.io/v1", "", "c", "", "", "c"},
    {"localsubjectaccessreviews", "LocalSubjectAccessReview", "authorization.k8s.io/v1", "", "n", "", "",
     "c"},
    {"selfsubjectaccessreviews", "SelfSubjectAccessReview", "authorization.k8s.io/v1", "", "c", "", "", "c"},
    {"selfsubjectrulesreviews", "SelfSubjectRulesReview", "authorization.k8s.io/v1", "", "c", "", "", "c"},
    {"subjectaccessreviews", "SubjectAccessReview", "authorization.k8s.io/v1", "", "c", "", "", "c"},
    {"horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling/v2", "hpa", "n", "all", "status",
     "*"},
    {"cronjobs", "CronJob", "batch/v1", "cj", "n", "all", "status", "*"},
    {"jobs", "Job", "batch/v1", "", "n", "all", "status", "*"},
    {"leases", "Lease", "coordination.k8s.io/v1", "", "n", "", "", "*"},
    {"endpointslices", "EndpointSlice", "discovery.k8s.io/v1", "", "n", "", "", "*"},
    {"ingressclasses", "IngressClass", "networking.k8s.io/v1", "", "c", "", "", "*"},
    {"ingresses", "Ingress", "networking.k8s.io/v1", "ing", "n", "", "status", "*"},
    {"networkpolicies", "NetworkPolicy", "networking.k8s.io/v1", "netpol", "n", "", "", "*"},
    {"runtimeclasses", "RuntimeClass", "node.k8s.io/v1", "", "c", "", "", "*"},
    {"poddisruptionbudgets", "PodDisruptionBudget", "policy/v1", "pdb", "n", "", "status", "*"},
    {"clusterrolebindings", "ClusterRoleBinding", "rbac.authorization.k8s.io/v1", "", "c", "", "", "*"},
    {"clusterroles", "ClusterRole", "rbac.authorization.k8s.io/v1", "", "c", "", "", "*"},
    {"rolebindings", "RoleBinding", "rbac.authorization.k8s.io/v1", "", "n", "", "", "*"},
    {"roles", "Role", "rbac.authorization.k8s.io/v1", "", "n", "", "", "*"},
    {"priorityclasses", "PriorityClass", "scheduling.k8s.io/v1", "pc", "c", "", "", "*"},
    {"csidrivers", "CSIDriver", "storage.k8s.io/v1", "", "c", "", "", "*"},
    {"csinodes", "CSINode", "storage.k8s.io/v1", "", "c", "", "", "*"},
    {"csistoragecapacities", "CSIStorageCapacity", "storage.k8s.io/v1", "", "n", "", "", "*"},
    {"storageclasses", "StorageClass", "storage.k8s.io/v1", "sc", "c", "", "", "*"},
    {"volumeattachments", "VolumeAttachment", "storage.k8s.io/v1", "", "c", "", "status", "*"},
    {"mutatingwebhookconfigurations", "MutatingWebhookConfiguration", "admissionregistration.k8s.io/v1", "",
     "c", "api-extensions", "", "*"},
    {"validatingwebhookconfigurations", "ValidatingWebhookConfiguration", "admissionregistration.k8s.io/v1",
     "", "c", "api-extensions", "", "*"},
    {"customresourcedefinitions", "CustomResourceDefinition", "apiextensions.k8s.io/v1", "crd,crds", "c",
     "api-extensions", "status", "*"},
    // The aggregation layer's: kept as plain objects, no request is forwarded.
    {"apiservices", "APIService", "apiregistration.k8s.io/v1", "", "c", "api-extensions", "status", "*"},
};

std::vector<std::string> words(std::string_view text) {
    return text.empty() ? std::vector<std::string>() : base::split(text, ',');
}

KindPtr make_kind(const Row& row) {
    auto info = std::make_shared<KindInfo>();
    const std::string api = row.api;
    const auto slash = api.find('/');
    info->kind = Kind(slash == std::string::npos ? "" : api.substr(0, slash), row.plural);
    info->version = slash == std::string::npos ? api : api.substr(slash + 1);
    info->name = row.name;
    info->singular = base::to_lower(row.name);
    info->short_names = words(row.short_names);
    info->categories = words(row.categories);
    info->subresources = words(row.subresources);
    info->namespaced = row.scope[0] == 'n';
    info->verbs = words(row.verbs[0] == '*'   ? "create,delete,deletecollection,get,list,patch,update,watch"
                        : row.verbs[0] == 'd' ? "create,delete,get,list,patch,update,watch"
                                              : "create");
    info->schema = builtin_schema_of(api, row.name);
    return info;
}

}  // namespace

const std::vector<KindPtr>& builtin_kinds() {
    static const std::vector<KindPtr> kKinds = [] {
        std::vector<KindPtr> kinds;
        for (const auto& row : kRows) kinds.push_back(make_kind(row));
        return kinds;
    }();
    return kKinds;
}

}  // namespace instantstart::twin::kube
