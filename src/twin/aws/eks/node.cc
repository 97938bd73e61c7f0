#include "twin/aws/eks/node.h"

#include <algorithm>

#include "twin/aws/resources/record.h"

namespace instantstart::twin::eks {

namespace {

const kube::Kind kNodes("", "nodes");
const kube::Kind kDaemonSets("apps", "daemonsets");

kube::JsonObject condition(std::string_view type, std::string_view status, std::string_view reason,
                           std::string_view message, const std::string& time) {
    kube::JsonObject made;
    made["type"] = type;
    made["status"] = status;
    made["reason"] = reason;
    made["message"] = message;
    made["lastHeartbeatTime"] = time;
    made["lastTransitionTime"] = time;
    return made;
}

kube::JsonObject resources(const NodeSpec& spec, bool allocatable) {
    // What kubelet and system keep for themselves.
    const std::int64_t cpu = allocatable ? spec.cpu_millis - 80 : spec.cpu_millis;
    const std::int64_t kept = 255 + 11 * spec.pods + 100 + spec.memory_mib * spec.kept_percent / 100;
    const std::int64_t memory = allocatable ? spec.memory_mib - kept : spec.memory_mib;
    kube::JsonObject list;
    list["cpu"] = allocatable ? std::to_string(cpu) + "m" : std::to_string(cpu / 1000);
    list["memory"] = std::to_string(memory * 1024) + "Ki";
    list["pods"] = std::to_string(spec.pods);
    list["ephemeral-storage"] =
        std::to_string((allocatable ? spec.storage_gib * 9 / 10 : spec.storage_gib) * 1024 * 1024) + "Ki";
    list["hugepages-1Gi"] = "0";
    list["hugepages-2Mi"] = "0";
    return list;
}

kube::JsonObject node_info(const NodeSpec& spec) {
    const std::string machine = kube::JsonValue(spec.name).as_string().c_str();
    kube::JsonObject info;
    info["architecture"] = spec.arch;
    info["bootID"] = "boot-" + std::to_string(stable_hash(machine + "boot"));
    info["containerRuntimeVersion"] = "containerd://2.1.5";
    info["kernelVersion"] =
        "6.1.158-178.288.amzn2023." + std::string(spec.arch == "arm64" ? "aarch64" : "x86_64");
    info["kubeProxyVersion"] = "v" + spec.kubernetes_version + ".5-eks-ecaa3a6";
    info["kubeletVersion"] = "v" + spec.kubernetes_version + ".5-eks-ecaa3a6";
    info["machineID"] = "ec2" + std::to_string(stable_hash(machine));
    info["operatingSystem"] = "linux";
    info["osImage"] = "Amazon Linux 2023.9.20251117";
    info["systemUUID"] = "ec2-" + std::to_string(stable_hash(machine + "uuid"));
    return info;
}

kube::JsonObject labels_of(const NodeSpec& spec) {
    kube::JsonObject labels = spec.labels;
    labels["beta.kubernetes.io/arch"] = spec.arch;
    labels["beta.kubernetes.io/instance-type"] = spec.instance_type_label;
    labels["beta.kubernetes.io/os"] = "linux";
    labels["failure-domain.beta.kubernetes.io/region"] = spec.region;
    labels["failure-domain.beta.kubernetes.io/zone"] = spec.zone;
    labels["kubernetes.io/arch"] = spec.arch;
    labels["kubernetes.io/hostname"] = spec.name;
    labels["kubernetes.io/os"] = "linux";
    labels["node.kubernetes.io/instance-type"] = spec.instance_type_label;
    labels["topology.k8s.aws/zone-id"] = spec.zone_id;
    labels["topology.kubernetes.io/region"] = spec.region;
    labels["topology.kubernetes.io/zone"] = spec.zone;
    return labels;
}

constexpr const char* kNotReadyTaint = "node.kubernetes.io/not-ready";

void put_ready(kube::JsonObject& node, const std::string& status, const std::string& reason,
               const std::string& time) {
    kube::JsonArray& conditions = node["status"].as_object()["conditions"].as_array();
    const std::string message = status == "True"
                                    ? "kubelet is posting ready status"
                                    : "container runtime network not ready: cni plugin not initialized";
    for (kube::JsonValue& entry : conditions) {
        if (base::get_string(entry, "type") == "Ready")
            entry = condition("Ready", status, reason, message, time);
    }
    kube::JsonObject& spec = node["spec"].as_object();
    kube::JsonArray taints;
    for (const kube::JsonValue& taint : base::get_array(spec, "taints")) {
        if (base::get_string(taint, "key") != kNotReadyTaint) taints.push_back(taint);
    }
    if (status != "True") taints.push_back({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}});
    spec["taints"] = std::move(taints);
}

}  // namespace

void set_size(NodeSpec& spec, const domain::InstanceType& type) {
    spec.cpu_millis = type.vcpus * 1000;
    spec.memory_mib =
        static_cast<std::int64_t>(type.memory_gib * 1024 * 0.97);  // the hypervisor and kernel keep some
    spec.pods = type.max_pods;
    spec.arch = type.arch.empty() ? "amd64" : type.arch;
}

kube::JsonObject node_object(const NodeSpec& spec, const std::string& time) {
    kube::JsonObject node;
    node["apiVersion"] = "v1";
    node["kind"] = "Node";
    node["metadata"] = {
        {"name", spec.name},
        {"labels", labels_of(spec)},
        {"annotations", {{"volumes.kubernetes.io/controller-managed-attach-detach", "true"}}}};
    node["spec"] = {{"providerID", spec.provider_id}, {"taints", spec.taints}};
    kube::JsonObject status;
    status["capacity"] = resources(spec, false);
    status["allocatable"] = resources(spec, true);
    status["addresses"] = {{{"type", "InternalIP"}, {"address", spec.address}},
                           {{"type", "Hostname"}, {"address", spec.name}}};
    status["nodeInfo"] = node_info(spec);
    status["daemonEndpoints"] = {{"kubeletEndpoint", {{"Port", 10250}}}};
    status["conditions"] = kube::JsonArray{
        condition("MemoryPressure", "False", "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available", time),
        condition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure", time),
        condition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available",
                  time),
        condition("Ready", "False", "KubeletNotReady", "", time)};
    node["status"] = std::move(status);
    put_ready(node, "False", "KubeletNotReady", time);
    return node;
}

void register_node(kube::Cluster& cluster, const NodeSpec& spec, const std::string& time) {
    kube::ObjectStore& objects = cluster.objects();
    kube::JsonObject node = node_object(spec, time);
    if (objects.get(kNodes, "", spec.name) != nullptr) {
        static_cast<void>(objects.update(kNodes, std::move(node)));
    } else {
        static_cast<void>(objects.create(kNodes, std::move(node)));
    }
}

void set_ready(kube::Cluster& cluster, const std::string& node, const std::string& status,
               const std::string& reason, const std::string& time) {
    const kube::ObjectPtr present = cluster.objects().get(kNodes, "", node);
    if (present == nullptr || !base::find_path(*present, "status.conditions") ||
        !base::find_path(*present, "spec"))
        return;
    kube::JsonObject changed = *present;
    put_ready(changed, status, reason, time);
    static_cast<void>(cluster.objects().update(kNodes, std::move(changed)));
}

namespace {

bool has_cni(kube::Cluster& cluster) {
    return cluster.objects().get(kDaemonSets, "kube-system", "aws-node") != nullptr;
}

void mark_if_waiting(kube::Cluster& cluster, const kube::JsonObject& node, const std::string& time) {
    const auto& conditions = base::get_array(node, "status.conditions");
    const bool waits = std::any_of(conditions.begin(), conditions.end(), [](const kube::JsonValue& entry) {
        return base::get_string(entry, "type") == "Ready" &&
               base::get_string(entry, "reason") == "KubeletNotReady";
    });
    if (waits) set_ready(cluster, base::get_string(node, "metadata.name"), "True", "KubeletReady", time);
}

}  // namespace

void mark_ready_node(kube::Cluster& cluster, const std::string& node, const std::string& time) {
    const auto present = cluster.objects().get(kNodes, "", node);
    if (present != nullptr && has_cni(cluster)) mark_if_waiting(cluster, *present, time);
}

void mark_ready_nodes(kube::Cluster& cluster, const std::string& time) {
    if (!has_cni(cluster)) return;
    for (const kube::ObjectPtr& node : cluster.objects().list(kNodes)) mark_if_waiting(cluster, *node, time);
}

}  // namespace instantstart::twin::eks
