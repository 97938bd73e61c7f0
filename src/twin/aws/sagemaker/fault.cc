// Broken hardware, as the health agent and HyperPod's recovery treat it.
#include "twin/aws/eks/node.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;

const kube::Kind kNodes("", "nodes");

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
    } else if (fault == "spot_interruption") {
        found.type = "SpotInterruption";
        found.reason = "SpotInstanceReclaimed";
    } else {
        found.type = "InstanceUnreachable";
        found.reason = "KubeletStoppedPosting";
        found.replace = false;
    }
    return found;
}

void mark(State& state, kube::Cluster& live, const Record& node, const std::string& fault,
          const Diagnosis& diagnosis) {
    if (fault == "unreachable") {
        return eks::set_ready(live, kube_name(node), "Unknown", "NodeStatusUnknown",
                              base::format_time(state.world.now()));
    }
    const kube::ObjectPtr present = live.objects().get(kNodes, "", kube_name(node));
    if (present == nullptr) return;
    JsonObject changed = *present;
    JsonObject& metadata = changed["metadata"].as_object();
    JsonObject& labels = metadata["labels"].as_object();
    labels["sagemaker.amazonaws.com/node-health-status"] =
        diagnosis.replace ? "UnschedulablePendingReplacement" : "UnschedulablePendingReboot";
    labels["sagemaker.amazonaws.com/fault-types"] = diagnosis.type;
    labels["sagemaker.amazonaws.com/fault-reasons"] = diagnosis.reason;
    JsonObject details{{"timestamp", state.time()},
                       {"type", diagnosis.type},
                       {"reason", diagnosis.reason},
                       {"message", diagnosis.reason}};
    if (!metadata["annotations"].is_object()) metadata["annotations"] = JsonObject();
    metadata["annotations"].as_object()["sagemaker.amazonaws.com/fault-details"] = base::to_text(details);
    JsonArray taints = base::get_array(changed, "spec.taints");
    taints.push_back({{"key", "sagemaker.amazonaws.com/node-health-status"},
                      {"value", "Unschedulable"},
                      {"effect", "NoSchedule"}});
    changed["spec"].as_object()["taints"] = std::move(taints);
    static_cast<void>(live.objects().update(kNodes, std::move(changed)));
}

}  // namespace

base::Result<void> break_node(State& state, const std::string& instance_id, const std::string& fault,
                              std::optional<std::int64_t> code) {
    for (auto& [logical, node] : state.nodes) {
        if (base::get_string(node.data, "InstanceId") != instance_id) continue;
        const Record* cluster = find_cluster_by_id(state, base::get_string(node.hidden, "cluster"));
        const Diagnosis diagnosis = diagnose(fault, code);
        kube::Cluster* live = cluster == nullptr ? nullptr : state.host.find(eks_name(state, *cluster));
        if (live != nullptr) mark(state, *live, node, fault, diagnosis);
        EventSpec event;
        event.resource = "Instance";
        event.level = "Error";
        event.group = base::get_string(node.data, "InstanceGroupName");
        event.instance = instance_id;
        event.description = diagnosis.type + ": " + diagnosis.reason;
        event.metadata["Instance"] = {{"NodeLogicalId", logical}, {"FailureMessage", diagnosis.reason}};
        if (cluster != nullptr) add_event(state, *cluster, std::move(event));
        const bool recovers =
            cluster != nullptr && base::get_string(cluster->data, "NodeRecovery") == "Automatic";
        if (recovers || fault == "spot_interruption") {
            state.world.after(state.world.about(minutes(2)), "sagemaker", "fault_recovery",
                              {{"node", logical}, {"instance", instance_id}, {"replace", diagnosis.replace}});
        }
        return base::ok();
    }
    return base::Error(base::ErrorKind::not_found, "instance_not_found",
                       "No HyperPod node has the instance id " + instance_id + ".");
}

void fault_timer(State& state, const std::string&, const JsonObject& payload) {
    Record* node = state.nodes.find(base::get_string(payload, "node"));
    if (node == nullptr ||
        base::get_string(node->data, "InstanceId") != base::get_string(payload, "instance"))
        return;
    if (node_status(*node) != "Running") return;
    if (base::get_bool(payload, "replace")) {
        replace_node(state, *node);
    } else {
        reboot_node(state, *node);
    }
}

}  // namespace instantstart::twin::sagemaker
