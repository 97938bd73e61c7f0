#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

// Without a copy: fleets are walked often.
bool has_text(const JsonObject& object, std::string_view member, std::string_view text) {
    const JsonValue* value = object.if_contains(member);
    return value != nullptr && value->is_string() && std::string_view(value->get_string()) == text;
}

}  // namespace

ServiceError invalid(std::string message) {
    return failure("ValidationException", std::move(message));
}

Found require_cluster(State& state, const Call& call) {
    Found found;
    const std::string name = base::get_string(call.params, "ClusterName");
    for (auto& [key, cluster] : state.clusters) {
        const bool named = key == name || base::get_string(cluster.data, "ClusterArn") == name;
        if (named && call.shows(cluster.created)) found.record = &cluster;
    }
    if (found.record == nullptr)
        found.error = failure("ResourceNotFound", "Cluster with name " + name + " not found");
    return found;
}

Record* find_cluster_by_id(State& state, std::string_view id) {
    for (auto& [key, cluster] : state.clusters) {
        if (cluster_id(cluster) == id) return &cluster;
    }
    return nullptr;
}

std::string cluster_id(const Record& cluster) {
    return base::get_string(cluster.hidden, "id");
}

std::string eks_name(const State& state, const Record& cluster) {
    const Record* eks =
        state.eks().cluster_by_arn(base::get_string(cluster.data, "Orchestrator.Eks.ClusterArn"));
    return eks == nullptr ? "" : eks->id;
}

bool is_continuous(const Record& cluster) {
    return base::get_string(cluster.data, "NodeProvisioningMode") == "Continuous";
}

std::string status_of(const Record& record) {
    return record.data.contains("ClusterStatus") ? base::get_string(record.data, "ClusterStatus")
                                                 : base::get_string(record.data, "Status");
}

std::vector<Record*> groups_of(State& state, const Record& cluster) {
    std::vector<Record*> found;
    const std::string id = cluster_id(cluster);
    for (auto& [key, group] : state.groups) {
        if (base::get_string(group.hidden, "cluster") == id) found.push_back(&group);
    }
    return found;
}

Record* find_group(State& state, const Record& cluster, std::string_view name) {
    return state.groups.find(cluster_id(cluster) + "/" + std::string(name));
}

std::vector<Record*> nodes_of(State& state, const Record& cluster, std::string_view group) {
    std::vector<Record*> found;
    const std::string id = cluster_id(cluster);
    for (auto& [key, node] : state.nodes) {
        if (!has_text(node.hidden, "cluster", id)) continue;
        if (group.empty() || has_text(node.data, "InstanceGroupName", group)) found.push_back(&node);
    }
    return found;
}

std::string node_status(const Record& node) {
    return base::get_string(node.data, "InstanceStatus.Status");
}

bool has_instance(const Record& node) {
    return node.data.contains("InstanceId") && node_status(node) != "ShuttingDown";
}

std::int64_t running_count(State& state, const Record& cluster, std::string_view group) {
    std::int64_t count = 0;
    for (const Record* node : nodes_of(state, cluster, group)) {
        const std::string status = node_status(*node);
        if (status == "Running" || status == "SystemUpdating" || status == "DeepHealthCheckInProgress" ||
            base::get_bool(node->hidden, "was_running"))
            ++count;
    }
    return count;
}

std::string kube_name(const Record& node) {
    return "hyperpod-" + base::get_string(node.data, "InstanceId");
}

}  // namespace instantstart::twin::sagemaker
