// Broken hardware and reclaimed Spot capacity, as the health agent and HyperPod's recovery treat them. The
// agent writes labels on the Node, and HyperPod acts on them (watch.cc tells of a label, whoever wrote it):
// with automatic recovery only, and without replacing instances that have no accelerator.
#include "domain/instance_type.h"
#include "twin/aws/eks/node.h"
#include "twin/aws/sagemaker/kube_node.h"
#include "twin/aws/sagemaker/node_fit.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const kube::Kind kNodes("", "nodes");
const kube::Kind kDaemonSets("apps", "daemonsets");
constexpr const char* kSpotTaint = "sagemaker.amazonaws.com/spot-interruption";
constexpr const char* kPendingReboot = "UnschedulablePendingReboot";
constexpr const char* kPendingReplacement = "UnschedulablePendingReplacement";

struct Diagnosis {
    std::string type, reason;
    bool replace = true;
};

Diagnosis diagnose(const std::string& fault, std::optional<std::int64_t> code) {
    Diagnosis found;
    if (fault == "gpu_xid") {
        const std::int64_t xid = code.value_or(79);
        found.type = "NvidiaError";
        found.reason = "NvidiaXid" + std::to_string(xid);
        // Faults of the application or driver heal by a reboot, those of the board do not.
        found.replace = !(xid == 13 || xid == 31 || xid == 43 || xid == 45 || xid == 119 || xid == 120);
    } else if (fault == "efa") {
        found.type = "EfaError";
        found.reason = "EfaHardwareFault";
    } else if (fault == "disk") {
        found.type = "DiskError";
        found.reason = "NvmeFault";
    } else {
        found.type = "InstanceUnreachable";
        found.reason = "KubeletStoppedPosting";
        found.replace = false;
    }
    return found;
}

bool has_accelerator(const Record& node) {
    const domain::InstanceType* type =
        domain::find_instance_type(base::get_string(node.data, "InstanceType"));
    return type != nullptr && type->accelerators > 0;
}

// Why this node cannot have that fault; "" where it can.
std::string impossible(State& state, const Record& cluster, const Record& node, const std::string& fault) {
    const std::string name = base::get_string(node.data, "InstanceType");
    const domain::InstanceType* type = domain::find_instance_type(name);
    if (fault == "gpu_xid" && (type == nullptr || !type->is_gpu())) return name + " has no NVIDIA GPU";
    if (fault == "efa" && (type == nullptr || type->efa_interfaces == 0))
        return name + " has no EFA interface";
    const Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName"));
    if (fault == "spot_interruption" && (group == nullptr || !is_spot(*group)))
        return "the instance is no Spot instance";
    return "";
}

// Does one of the health agent's DaemonSets run on this node?
bool agent_watches(State& state, const Record& cluster, const Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    const kube::ObjectPtr object =
        live == nullptr ? nullptr : live->objects().get(kNodes, "", kube_name(node));
    if (object == nullptr) return false;
    for (const kube::ObjectPtr& set : live->objects().list(kDaemonSets)) {
        if (!base::get_string(*set, "metadata.name").starts_with("health-monitoring-agent")) continue;
        if (selects(base::get_object(*set, "spec.template.spec"),
                    base::get_object(*object, "metadata.labels")))
            return true;
    }
    return false;
}

void tell(State& state, const Record& cluster, const Record& node, const char* level,
          const std::string& description, const std::string& reason) {
    EventSpec event;
    event.resource = "Instance";
    event.level = level;
    event.group = base::get_string(node.data, "InstanceGroupName");
    event.instance = base::get_string(node.data, "InstanceId");
    event.description = description;
    event.metadata["Instance"] = {{"NodeLogicalId", node.id}, {"FailureMessage", reason}};
    add_event(state, cluster, std::move(event));
}

void mark(State& state, const Record& cluster, const Record& node) {
    const std::string type = base::get_string(node.hidden, "fault.type"),
                      reason = base::get_string(node.hidden, "fault.reason");
    const bool replace = base::get_bool(node.hidden, "fault.replace");
    const JsonObject details{
        {"timestamp", state.time()}, {"type", type}, {"reason", reason}, {"message", reason}};
    edit_node(state, cluster, node, [&](NodeEdit& edit) {
        edit.labels[kHealthLabel] = replace ? kPendingReplacement : kPendingReboot;
        edit.labels[kFaultTypesLabel] = type;
        edit.labels[kFaultReasonsLabel] = reason;
        edit.annotations[kFaultDetails] = base::to_text(details);
        put_taint(edit.taints, health_taint());
    });
}

void look_again(State& state, const Record& node) {
    state.world.after(seconds(60), "sagemaker", "fault_look",
                      {{"node", node.id}, {"instance", base::get_string(node.data, "InstanceId")}});
}

void detect(State& state, const Record& cluster, Record& node) {
    if (!node.hidden.contains("fault") || base::get_bool(node.hidden, "fault.detected")) return;
    if (node_status(node) != "Running") return look_again(state, node);
    const bool unreachable = base::get_string(node.hidden, "fault.type") == "InstanceUnreachable";
    // Where no agent runs nobody sees the fault, until one comes.
    if (!unreachable && !agent_watches(state, cluster, node)) return look_again(state, node);
    node.hidden["fault"].as_object()["detected"] = true;
    tell(state, cluster, node, "Error",
         base::get_string(node.hidden, "fault.type") + ": " + base::get_string(node.hidden, "fault.reason"),
         base::get_string(node.hidden, "fault.reason"));
    if (!unreachable) return mark(state, cluster, node);
    if (kube::Cluster* live = kube_of(state, cluster)) {
        eks::set_ready(*live, kube_name(node), "Unknown", "NodeStatusUnknown",
                       base::format_time(state.world.now()));
    }
    if (base::get_string(cluster.data, "NodeRecovery") == "Automatic")
        set_timer(state, node, "fault_reboot", minutes(2));
}

// What a label asks for. A person's label counts as the agent's does.
void act_on_label(State& state, const Record& cluster, Record& node) {
    kube::Cluster* live = kube_of(state, cluster);
    const kube::ObjectPtr object =
        live == nullptr ? nullptr : live->objects().get(kNodes, "", kube_name(node));
    if (object == nullptr || base::get_string(cluster.data, "NodeRecovery") != "Automatic") return;
    const JsonValue* label = base::get_object(*object, "metadata.labels").if_contains(kHealthLabel);
    if (label == nullptr) return;
    if (*label == JsonValue(kPendingReboot)) {
        tell(state, cluster, node, "Info", "Automatic recovery reboots the instance", "");
        reboot_node(state, node);
    } else if (*label == JsonValue(kPendingReplacement) && has_accelerator(node)) {
        tell(state, cluster, node, "Info", "Automatic recovery replaces the instance", "");
        replace_node(state, node);
    }
}

void give_notice(State& state, const Record& cluster, Record& node) {
    node.hidden["reclaimed"] = true;
    const std::string notice = "Spot interruption notice: the instance will be reclaimed in two minutes";
    tell(state, cluster, node, "Warn", notice, "SpotInterruption");
    edit_node(state, cluster, node, [](NodeEdit& edit) {
        put_taint(edit.taints, {{"key", kSpotTaint}, {"value", "true"}, {"effect", "NoSchedule"}});
    });
    node_event(state, cluster, node, "SpotInterruption", notice);
    evict_pods(state, cluster, node);
    state.world.after(minutes(2), "sagemaker", "fault_reclaim",
                      {{"node", node.id}, {"instance", base::get_string(node.data, "InstanceId")}});
}

void reclaim(State& state, const Record& cluster, Record& node) {
    tell(state, cluster, node, "Warn", "Spot instance has been reclaimed", "SpotInterruption");
    replace_node(state, node);
    node.hidden["was_running"] = false;  // the group has one less until another can be had
}

}  // namespace

base::Result<void> break_node(State& state, const std::string& instance_id, const std::string& fault,
                              std::optional<std::int64_t> code) {
    for (auto& [logical, node] : state.nodes) {
        if (base::get_string(node.data, "InstanceId") != instance_id || !has_instance(node)) continue;
        const Record* cluster = find_cluster_by_id(state, base::get_string(node.hidden, "cluster"));
        if (cluster == nullptr) break;
        if (const std::string why = impossible(state, *cluster, node, fault); !why.empty())
            return base::invalid_field("/fault", fault + " cannot happen to " + instance_id + ": " + why);
        if (fault == "spot_interruption") {
            give_notice(state, *cluster, node);
            return base::ok();
        }
        const Diagnosis diagnosis = diagnose(fault, code);
        node.hidden["fault"] = {{"type", diagnosis.type},
                                {"reason", diagnosis.reason},
                                {"replace", diagnosis.replace},
                                {"detected", false}};
        set_timer(state, node, "fault_look", seconds(30));
        return base::ok();
    }
    return base::Error(base::ErrorKind::not_found, "instance_not_found",
                       "No HyperPod node has the instance id " + instance_id + ".");
}

void fault_timer(State& state, const std::string& kind, const JsonObject& payload) {
    Record* node = state.nodes.find(base::get_string(payload, "node"));
    if (node == nullptr ||
        base::get_string(node->data, "InstanceId") != base::get_string(payload, "instance"))
        return;
    const Record* cluster = find_cluster_by_id(state, base::get_string(node->hidden, "cluster"));
    if (cluster == nullptr || status_of(*cluster) == "Deleting" || node_status(*node) == "ShuttingDown")
        return;
    if (kind == "fault_look") return detect(state, *cluster, *node);
    if (kind == "fault_reclaim") return reclaim(state, *cluster, *node);
    if (node_status(*node) != "Running") return;
    if (kind == "fault_label") act_on_label(state, *cluster, *node);
    if (kind == "fault_reboot") reboot_node(state, *node);
}

void after_reboot(State& state, Record& cluster, Record& node) {
    // What is broken stays broken; the agent finds it again.
    const bool broken = base::get_bool(node.hidden, "fault.replace");
    if (broken) {
        node.hidden["fault"].as_object()["detected"] = false;
        set_timer(state, node, "fault_look", seconds(30));
    } else {
        node.hidden.erase("fault");
    }
    edit_node(state, cluster, node, heal);
    new_boot(state, cluster, node);
    if (kube::Cluster* live = kube_of(state, cluster)) {
        eks::set_ready(*live, kube_name(node), "False", "KubeletNotReady",
                       base::format_time(state.world.now()));
    }
}

}  // namespace instantstart::twin::sagemaker
