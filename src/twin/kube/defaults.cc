#include "twin/kube/defaults.h"

#include <map>
#include <set>

#include "base/text.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

namespace {

template <class T>
void fill(JsonObject& object, std::string_view key, T value) {
    if (!object.contains(key)) object[key] = std::move(value);
}

void default_ports(JsonObject& owner) {
    auto* ports = owner.if_contains("ports");
    if (ports == nullptr || !ports->is_array()) return;
    for (auto& port : ports->get_array()) {
        if (port.is_object()) fill(port.get_object(), "protocol", "TCP");
    }
}

// "image:latest" and "image" are pulled always, tagged and digested ones when absent.
std::string_view pull_policy(std::string_view image) {
    if (image.find('@') != std::string_view::npos) return "IfNotPresent";
    const auto slash = image.rfind('/');
    const auto last = slash == std::string_view::npos ? image : image.substr(slash + 1);
    const auto colon = last.find(':');
    return colon == std::string_view::npos || last.substr(colon) == ":latest" ? "Always" : "IfNotPresent";
}

void default_probe(JsonObject& container, std::string_view name) {
    auto* probe = container.if_contains(name);
    if (probe == nullptr || !probe->is_object()) return;
    auto& object = probe->get_object();
    fill(object, "timeoutSeconds", 1);
    fill(object, "periodSeconds", 10);
    fill(object, "successThreshold", 1);
    fill(object, "failureThreshold", 3);
    if (auto* http = object.if_contains("httpGet"); http != nullptr && http->is_object()) {
        fill(http->get_object(), "scheme", "HTTP");
    }
}

void default_resources(JsonObject& container) {
    auto& resources = object_at(container, "resources");
    const auto* limits = resources.if_contains("limits");
    if (limits == nullptr || !limits->is_object()) return;
    const JsonObject copy = limits->get_object();
    for (const auto& limit : copy) fill(object_at(resources, "requests"), limit.key(), limit.value());
}

// env by a field of the pod names the version of that field's path.
void default_environment(JsonObject& container) {
    auto* list = container.if_contains("env");
    if (list == nullptr || !list->is_array()) return;
    for (auto& variable : list->get_array()) {
        if (base::find_path(variable, "valueFrom.fieldRef") == nullptr) continue;
        auto& source = object_at(object_at(variable.get_object(), "valueFrom"), "fieldRef");
        fill(source, "apiVersion", "v1");
    }
}

void default_containers(JsonObject& spec, std::string_view member) {
    auto* list = spec.if_contains(member);
    if (list == nullptr || !list->is_array()) return;
    for (auto& value : list->get_array()) {
        if (!value.is_object()) continue;
        auto& container = value.get_object();
        fill(container, "imagePullPolicy", pull_policy(base::get_string(container, "image")));
        default_resources(container);
        default_environment(container);
        fill(container, "terminationMessagePath", "/dev/termination-log");
        fill(container, "terminationMessagePolicy", "File");
        default_ports(container);
        for (auto probe : {"livenessProbe", "readinessProbe", "startupProbe"})
            default_probe(container, probe);
    }
}

void default_volumes(JsonObject& spec) {
    auto* list = spec.if_contains("volumes");
    if (list == nullptr || !list->is_array()) return;
    for (auto& value : list->get_array()) {
        if (!value.is_object()) continue;
        for (auto source : {"configMap", "secret", "projected", "downwardAPI"}) {
            auto* inner = value.get_object().if_contains(source);
            if (inner != nullptr && inner->is_object()) fill(inner->get_object(), "defaultMode", 420);
        }
    }
}

void default_template(JsonObject& spec) {
    auto* pod = spec.if_contains("template");
    if (pod == nullptr || !pod->is_object()) return;
    default_pod_spec(object_at(pod->get_object(), "spec"));
}

std::string quality_of_service(const JsonObject& spec) {
    bool any = false;
    bool all_equal = true;
    for (auto list : {"containers", "initContainers"}) {
        for (const auto& container : base::get_array(spec, list)) {
            const auto& requests = base::get_object(container, "resources.requests");
            const auto& limits = base::get_object(container, "resources.limits");
            for (auto name : {"cpu", "memory"}) any = any || requests.contains(name) || limits.contains(name);
            for (auto name : {"cpu", "memory"}) {
                const auto* limit = limits.if_contains(name);
                const auto* request = requests.if_contains(name);
                all_equal = all_equal && limit != nullptr && request != nullptr && *limit == *request;
            }
        }
    }
    if (!any) return "BestEffort";
    return all_equal ? "Guaranteed" : "Burstable";
}

void default_pod(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    default_pod_spec(spec);
    fill(spec, "enableServiceLinks", true);
}

// What admission adds to a pod: its account, its priority, and the time it may stay on a broken node.
void admit_pod(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "serviceAccountName", "default");
    fill(spec, "serviceAccount", base::get_string(spec, "serviceAccountName"));
    fill(spec, "priority", 0);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    if (!spec.contains("tolerations")) spec["tolerations"] = JsonArray();
    auto& tolerations = spec["tolerations"].is_array() ? spec["tolerations"].get_array()
                                                       : spec["tolerations"].emplace_array();
    for (auto key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
        bool has = false;
        for (const auto& toleration : tolerations) {
            const auto named = base::get_string(toleration, "key");
            has = has || named == key ||
                  (named.empty() && base::get_string(toleration, "operator") == "Exists");
        }
        if (!has)
            tolerations.emplace_back(JsonObject{
                {"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
    }
    auto quality = quality_of_service(spec);  // before the status is made, which may move the specification
    auto& status = object_at(object, "status");
    fill(status, "phase", "Pending");
    fill(status, "qosClass", std::move(quality));
}

void default_deployment(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "replicas", 1);
    fill(spec, "progressDeadlineSeconds", 600);
    fill(spec, "revisionHistoryLimit", 10);
    auto& strategy = object_at(spec, "strategy");
    fill(strategy, "type", "RollingUpdate");
    if (base::get_string(strategy, "type") == "RollingUpdate") {
        auto& rolling = object_at(strategy, "rollingUpdate");
        fill(rolling, "maxSurge", "25%");
        fill(rolling, "maxUnavailable", "25%");
    }
    default_template(spec);
}

void default_daemon_set(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "revisionHistoryLimit", 10);
    auto& strategy = object_at(spec, "updateStrategy");
    fill(strategy, "type", "RollingUpdate");
    if (base::get_string(strategy, "type") == "RollingUpdate") {
        auto& rolling = object_at(strategy, "rollingUpdate");
        fill(rolling, "maxSurge", 0);
        fill(rolling, "maxUnavailable", 1);
    }
    default_template(spec);
}

void default_stateful_set(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "replicas", 1);
    fill(spec, "podManagementPolicy", "OrderedReady");
    fill(spec, "revisionHistoryLimit", 10);
    auto& strategy = object_at(spec, "updateStrategy");
    fill(strategy, "type", "RollingUpdate");
    if (base::get_string(strategy, "type") == "RollingUpdate")
        fill(object_at(strategy, "rollingUpdate"), "partition", 0);
    auto& retention = object_at(spec, "persistentVolumeClaimRetentionPolicy");
    fill(retention, "whenDeleted", "Retain");
    fill(retention, "whenScaled", "Retain");
    default_template(spec);
}

void default_replica_set(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "replicas", 1);
    default_template(spec);
}

// A job's pods are found by the job's uid, unless the user takes that on with manualSelector.
void default_job(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "parallelism", 1);
    if (base::get_int(spec, "parallelism") == 1 || spec.contains("completionMode"))
        fill(spec, "completions", 1);
    fill(spec, "backoffLimit", 6);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    fill(spec, "podReplacementPolicy", "TerminatingOrFailed");
    const auto uid = base::get_string(object, "metadata.uid");
    if (!base::get_bool(spec, "manualSelector") && !spec.contains("selector") && !uid.empty()) {
        spec["selector"] =
            JsonObject{{"matchLabels", JsonObject{{"batch.kubernetes.io/controller-uid", uid}}}};
        auto& labels = object_at(object_at(object_at(spec, "template"), "metadata"), "labels");
        for (auto prefix : {"batch.kubernetes.io/", ""}) {
            fill(labels, std::string(prefix) + "controller-uid", uid);
            fill(labels, std::string(prefix) + "job-name", name_of(object));
        }
        const JsonObject same = labels;
        auto& own = object_at(metadata_of(object), "labels");
        for (const auto& label : same) {
            if (std::string_view(label.key()).ends_with("controller-uid") ||
                std::string_view(label.key()).ends_with("job-name"))
                fill(own, label.key(), label.value());
        }
    }
    default_template(spec);
}

void default_cron_job(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "failedJobsHistoryLimit", 1);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "suspend", false);
    default_template(object_at(object_at(spec, "jobTemplate"), "spec"));
}

void default_service(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    if (spec["type"] != JsonValue("ExternalName")) fill(spec, "internalTrafficPolicy", "Cluster");
    if (spec["type"] == JsonValue("LoadBalancer")) {
        fill(spec, "allocateLoadBalancerNodePorts", true);
        fill(spec, "externalTrafficPolicy", "Cluster");
    }
    default_ports(spec);
    if (auto* ports = spec.if_contains("ports"); ports != nullptr && ports->is_array()) {
        for (auto& port : ports->get_array()) {
            const auto* number = port.is_object() ? port.get_object().if_contains("port") : nullptr;
            if (number != nullptr) fill(port.get_object(), "targetPort", *number);
        }
    }
    fill(object_at(object, "status"), "loadBalancer", JsonObject());
}

void admit_service(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    if (spec["type"] == JsonValue("ExternalName")) return;
    fill(spec, "ipFamilies", JsonArray{"IPv4"});
    fill(spec, "ipFamilyPolicy", "SingleStack");
    if (spec.contains("clusterIP")) fill(spec, "clusterIPs", JsonArray{spec["clusterIP"]});
}

void default_event(JsonObject& object) {
    fill(object, "eventTime", nullptr);
    fill(object, "reportingComponent", "");
    fill(object, "reportingInstance", "");
}

void default_network_policy(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    JsonArray types{"Ingress"};
    if (!base::get_array(spec, "egress").empty()) types.emplace_back("Egress");
    fill(spec, "policyTypes", std::move(types));
}

void default_autoscaler(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    fill(spec, "minReplicas", 1);
    const JsonObject target{{"type", "Utilization"}, {"averageUtilization", 80}};
    fill(spec, "metrics",
         JsonArray{JsonObject{{"type", "Resource"},
                              {"resource", JsonObject{{"name", "cpu"}, {"target", target}}}}});
}

void default_binding(JsonObject& object) {
    auto* subjects = object.if_contains("subjects");
    if (subjects == nullptr || !subjects->is_array()) return;
    for (auto& subject : subjects->get_array()) {
        if (subject.is_object() && base::get_string(subject, "kind") != "ServiceAccount")
            fill(subject.get_object(), "apiGroup", "rbac.authorization.k8s.io");
    }
}

void default_secret(JsonObject& object) {
    fill(object, "type", "Opaque");
    const auto* found = object.if_contains("stringData");
    if (found == nullptr) return;
    const JsonValue plain = *found;  // a copy: where `data` is made, the members of the secret move
    if (plain.is_object()) {
        auto& data = object_at(object, "data");
        for (const auto& member : plain.get_object()) {
            if (member.value().is_string())
                data[member.key()] = base::base64_encode(member.value().get_string());
        }
    }
    object.erase("stringData");
}

void default_claim(JsonObject& object) {
    fill(object_at(object, "spec"), "volumeMode", "Filesystem");
    fill(object_at(object, "status"), "phase", "Pending");
}

void default_volume(JsonObject& object) {
    fill(object_at(object, "spec"), "volumeMode", "Filesystem");
    fill(object_at(object, "spec"), "persistentVolumeReclaimPolicy", "Retain");
    fill(object_at(object, "status"), "phase", "Pending");
}

void default_namespace(JsonObject& object) {
    object_at(metadata_of(object), "labels")["kubernetes.io/metadata.name"] = name_of(object);
    fill(object_at(object, "status"), "phase", "Active");
}

void admit_namespace(JsonObject& object) {
    if (!is_terminating(object)) fill(object_at(object, "spec"), "finalizers", JsonArray{"kubernetes"});
}

void default_storage_class(JsonObject& object) {
    fill(object, "reclaimPolicy", "Delete");
    fill(object, "volumeBindingMode", "Immediate");
}

void default_definition(JsonObject& object) {
    auto& spec = object_at(object, "spec");
    auto& names = object_at(spec, "names");
    const auto kind = base::get_string(names, "kind");
    fill(names, "listKind", kind + "List");
    fill(names, "singular", base::to_lower(kind));
    // What the status says is collected before members are added that may move the names and the
    // specification.
    const JsonObject accepted = names;
    fill(spec, "conversion", JsonObject{{"strategy", "None"}});
    JsonArray stored;
    for (const auto& version : base::get_array(spec, "versions")) {
        if (base::get_bool(version, "storage")) stored.emplace_back(base::get_string(version, "name"));
    }
    auto& status = object_at(object, "status");
    if (status.contains("conditions")) return;
    const auto created = base::get_string(object, "metadata.creationTimestamp");
    const auto condition = [&created](const char* type, const char* reason, const char* message) {
        return JsonObject{{"type", type},
                          {"status", "True"},
                          {"lastTransitionTime", created},
                          {"reason", reason},
                          {"message", message}};
    };
    status["conditions"] =
        JsonArray{condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                  condition("Established", "InitialNamesAccepted", "the initial names have been accepted")};
    status["acceptedNames"] = accepted;
    status["storedVersions"] = std::move(stored);
}

}  // namespace

bool has_generation(const Kind& kind) {
    static const std::set<std::string, std::less<>> kWithout = {"nodes",
                                                                "namespaces",
                                                                "services",
                                                                "configmaps",
                                                                "secrets",
                                                                "serviceaccounts",
                                                                "events",
                                                                "endpoints",
                                                                "persistentvolumes",
                                                                "persistentvolumeclaims",
                                                                "limitranges",
                                                                "resourcequotas",
                                                                "leases",
                                                                "clusterroles",
                                                                "clusterrolebindings",
                                                                "roles",
                                                                "rolebindings",
                                                                "storageclasses",
                                                                "csidrivers",
                                                                "csinodes",
                                                                "controllerrevisions",
                                                                "horizontalpodautoscalers"};
    return !kWithout.contains(kind.plural);
}

void default_pod_spec(JsonObject& spec) {
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "schedulerName", "default-scheduler");
    fill(spec, "securityContext", JsonObject());
    if (spec.contains("serviceAccountName")) fill(spec, "serviceAccount", spec["serviceAccountName"]);
    default_containers(spec, "containers");
    default_containers(spec, "initContainers");
    default_volumes(spec);
}

void default_object(const Kind& kind, JsonObject& object) {
    using Filler = void (*)(JsonObject&);
    static const std::map<Kind, Filler> kFillers = {
        {Kind("", "pods"), default_pod},
        {Kind("apps", "deployments"), default_deployment},
        {Kind("apps", "daemonsets"), default_daemon_set},
        {Kind("apps", "statefulsets"), default_stateful_set},
        {Kind("apps", "replicasets"), default_replica_set},
        {Kind("batch", "jobs"), default_job},
        {Kind("batch", "cronjobs"), default_cron_job},
        {Kind("", "services"), default_service},
        {Kind("", "secrets"), default_secret},
        {Kind("", "persistentvolumeclaims"), default_claim},
        {Kind("", "persistentvolumes"), default_volume},
        {Kind("", "namespaces"), default_namespace},
        {Kind("", "events"), default_event},
        {Kind("networking.k8s.io", "networkpolicies"), default_network_policy},
        {Kind("autoscaling", "horizontalpodautoscalers"), default_autoscaler},
        {Kind("rbac.authorization.k8s.io", "rolebindings"), default_binding},
        {Kind("rbac.authorization.k8s.io", "clusterrolebindings"), default_binding},
        {Kind("storage.k8s.io", "storageclasses"), default_storage_class},
        {Kind("apiextensions.k8s.io", "customresourcedefinitions"), default_definition},
    };
    const auto found = kFillers.find(kind);
    if (found != kFillers.end()) found->second(object);
}

void admit_object(const Kind& kind, JsonObject& object) {
    if (kind == Kind("", "pods")) admit_pod(object);
    if (kind == Kind("", "services")) admit_service(object);
    if (kind == Kind("", "namespaces")) admit_namespace(object);
}

}  // namespace instantstart::twin::kube
