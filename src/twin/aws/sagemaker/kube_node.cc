#include "twin/aws/sagemaker/kube_node.h"

#include "domain/instance_type.h"
#include "twin/aws/eks/node.h"

namespace instantstart::twin::sagemaker {

namespace {

const kube::Kind kNodes("", "nodes");
const kube::Kind kPods("", "pods");
const kube::Kind kEvents("", "events");

JsonObject member_object(const JsonObject& object, std::string_view path) {
    return base::get_object(object, path);
}

bool of_daemon_set(const JsonObject& pod) {
    for (const JsonValue& owner : base::get_array(pod, "metadata.ownerReferences")) {
        if (base::get_string(owner, "kind") == "DaemonSet") return true;
    }
    return false;
}

eks::NodeSpec spec_of(State& state, const Record& cluster, const Record& group, const Record& node,
                      const domain::InstanceType& type, const std::string& kubernetes_version) {
    eks::NodeSpec spec;
    eks::set_size(spec, type);
    const bool both_threads =
        base::get_int(group.data, "ThreadsPerCore", 1) == 2 || spec.arch == "arm64" || type.vcpus < 4;
    if (!both_threads) spec.cpu_millis /= 2;
    spec.kept_percent = checkpoint_percent(cluster);
    spec.name = kube_name(node);
    spec.instance_type_label = type.name;
    spec.region = state.world.region();
    spec.zone = base::get_string(node.data, "Placement.AvailabilityZone");
    spec.zone_id = base::get_string(node.data, "Placement.AvailabilityZoneId");
    spec.address = base::get_string(node.data, "PrivatePrimaryIp");
    spec.kubernetes_version = kubernetes_version;
    spec.provider_id = "aws:///" + spec.zone_id + "/sagemaker/cluster/hyperpod-" + cluster_id(cluster) + "-" +
                       base::get_string(node.data, "InstanceId");
    for (const auto& [key, value] : base::get_object(group.data, "KubernetesConfig.DesiredLabels"))
        spec.labels[key] = value;
    for (const auto& [key, value] : base::get_object(node.hidden, "labels")) spec.labels[key] = value;
    spec.labels[kHealthLabel] = "Schedulable";
    spec.labels["sagemaker.amazonaws.com/instance-group-name"] =
        base::get_string(node.data, "InstanceGroupName");
    spec.labels["sagemaker.amazonaws.com/cluster-name"] = cluster.id;
    spec.labels["sagemaker.amazonaws.com/compute-type"] = "hyperpod";
    spec.taints = kube_taints(base::get_array(group.data, "KubernetesConfig.DesiredTaints"));
    for (const JsonValue& taint : base::get_array(node.hidden, "taints")) spec.taints.push_back(taint);
    return spec;
}

}  // namespace

kube::Cluster* kube_of(State& state, const Record& cluster) {
    return state.host.find(eks_name(state, cluster));
}

void join_kubernetes(State& state, const Record& cluster, const Record& group, const Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    const domain::InstanceType* type =
        domain::find_instance_type(base::get_string(node.data, "InstanceType"));
    if (live == nullptr || type == nullptr) return;
    eks::NodeSpec spec = spec_of(state, cluster, group, node, *type, live->config().version);
    if (node.hidden.contains("checked"))
        spec.labels[kDeepCheckLabel] = base::get_string(node.hidden, "checked");
    eks::register_node(*live, spec, base::format_time(state.world.now()));
}

std::string allocatable_memory(State& state, const Record& cluster, const Record& group, const Record& node) {
    const domain::InstanceType* type =
        domain::find_instance_type(base::get_string(node.data, "InstanceType"));
    if (type == nullptr) return "";
    const eks::NodeSpec spec = spec_of(state, cluster, group, node, *type, "");
    return base::get_string(eks::node_object(spec, base::format_time(state.world.now())),
                            "status.allocatable.memory");
}

void leave_kubernetes(State& state, const Record& cluster, const Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr || !node.data.contains("InstanceId")) return;
    static_cast<void>(live->objects().remove(kNodes, "", kube_name(node)));
}

void edit_node(State& state, const Record& cluster, const Record& node,
               const std::function<void(NodeEdit&)>& change) {
    kube::Cluster* live = kube_of(state, cluster);
    const kube::ObjectPtr present =
        live == nullptr ? nullptr : live->objects().get(kNodes, "", kube_name(node));
    if (present == nullptr) return;
    NodeEdit edit{member_object(*present, "metadata.labels"), member_object(*present, "metadata.annotations"),
                  base::get_array(*present, "spec.taints")};
    change(edit);
    JsonObject changed = *present;
    JsonObject metadata = member_object(changed, "metadata"), spec = member_object(changed, "spec");
    metadata["labels"] = std::move(edit.labels);
    metadata["annotations"] = std::move(edit.annotations);
    spec["taints"] = std::move(edit.taints);
    changed["metadata"] = std::move(metadata);
    changed["spec"] = std::move(spec);
    static_cast<void>(live->objects().update(kNodes, std::move(changed)));
}

void new_boot(State& state, const Record& cluster, const Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    const kube::ObjectPtr present =
        live == nullptr ? nullptr : live->objects().get(kNodes, "", kube_name(node));
    if (present == nullptr) return;
    JsonObject changed = *present;
    JsonObject status = member_object(changed, "status"), info = member_object(status, "nodeInfo");
    info["bootID"] = state.world.uuid();
    status["nodeInfo"] = std::move(info);
    changed["status"] = std::move(status);
    static_cast<void>(live->objects().update(kNodes, std::move(changed)));
}

void relabel_node(State& state, const Record& cluster, const Record& node, const JsonObject& config) {
    edit_node(state, cluster, node, [&config](NodeEdit& edit) {
        for (const auto& [key, value] : base::get_object(config, "CurrentLabels")) edit.labels.erase(key);
        for (const auto& [key, value] : base::get_object(config, "DesiredLabels")) edit.labels[key] = value;
        for (const JsonValue& taint : base::get_array(config, "CurrentTaints"))
            drop_taint(edit.taints, base::get_string(taint, "Key"));
        for (const JsonValue& taint : kube_taints(base::get_array(config, "DesiredTaints")))
            put_taint(edit.taints, taint.get_object());
    });
}

void heal(NodeEdit& edit) {
    edit.labels[kHealthLabel] = "Schedulable";
    for (const char* label : {kFaultTypesLabel, kFaultReasonsLabel}) edit.labels.erase(label);
    edit.annotations.erase(kFaultDetails);
    drop_taint(edit.taints, kHealthLabel);
}

void drop_taint(JsonArray& taints, std::string_view key) {
    JsonArray kept;
    for (const JsonValue& taint : taints) {
        if (base::get_string(taint, "key") != key) kept.push_back(taint);
    }
    taints = std::move(kept);
}

void put_taint(JsonArray& taints, JsonObject taint) {
    for (JsonValue& present : taints) {
        if (base::get_string(present, "key") != base::get_string(taint, "key") ||
            base::get_string(present, "effect") != base::get_string(taint, "effect"))
            continue;
        present = std::move(taint);
        return;
    }
    taints.push_back(std::move(taint));
}

JsonObject health_taint() {
    return {{"key", kHealthLabel}, {"value", "Unschedulable"}, {"effect", "NoSchedule"}};
}

void evict_pods(State& state, const Record& cluster, const Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr) return;
    const std::string name = kube_name(node);
    for (const kube::ObjectPtr& pod : live->objects().list(kPods)) {
        if (base::get_string(*pod, "spec.nodeName") != name || of_daemon_set(*pod)) continue;
        if (base::find_path(*pod, "metadata.deletionTimestamp") != nullptr) continue;
        const std::int64_t grace =
            std::max<std::int64_t>(1, base::get_int(*pod, "spec.terminationGracePeriodSeconds", 30));
        JsonObject changed = *pod;
        JsonObject metadata = member_object(changed, "metadata");
        metadata["deletionTimestamp"] = base::format_time(state.world.now() + std::chrono::seconds(grace));
        metadata["deletionGracePeriodSeconds"] = grace;
        changed["metadata"] = std::move(metadata);
        static_cast<void>(live->objects().update(kPods, std::move(changed)));
    }
}

void node_event(State& state, const Record& cluster, const Record& node, std::string_view reason,
                std::string_view message) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr) return;
    const std::string name = kube_name(node), time = base::format_time(state.world.now());
    const kube::ObjectPtr present = live->objects().get(kNodes, "", name);
    JsonObject event;
    event["apiVersion"] = "v1";
    event["kind"] = "Event";
    event["metadata"] = {{"name", name + "." + state.world.hex_id("", 16)}, {"namespace", "default"}};
    event["involvedObject"] = {
        {"kind", "Node"},
        {"name", name},
        {"uid", present == nullptr ? name : base::get_string(*present, "metadata.uid")}};
    event["type"] = "Warning";
    event["reason"] = reason;
    event["message"] = message;
    event["source"] = {{"component", "sagemaker-hyperpod"}};
    event["reportingComponent"] = "sagemaker-hyperpod";
    event["reportingInstance"] = "";
    event["firstTimestamp"] = time;
    event["lastTimestamp"] = time;
    event["count"] = 1;
    static_cast<void>(live->objects().create(kEvents, std::move(event)));
}

}  // namespace instantstart::twin::sagemaker
