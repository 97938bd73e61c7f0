#include "twin/aws/sagemaker/deep_check.h"

#include "domain/instance_type.h"
#include "twin/aws/sagemaker/kube_node.h"

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::minutes;

std::string listed(const JsonArray& names) {
    std::string text;
    for (const JsonValue& name : names) {
        if (!text.empty()) text += ", ";
        text += name.is_string() ? std::string(name.get_string()) : std::string();
    }
    return text;
}

void tell(State& state, const Record& cluster, const Record& node, const char* level,
          const std::string& text) {
    EventSpec event;
    event.resource = "Instance";
    event.level = level;
    event.group = base::get_string(node.data, "InstanceGroupName");
    event.instance = base::get_string(node.data, "InstanceId");
    event.description = text;
    event.metadata["Instance"] = {{"NodeLogicalId", node.id}};
    if (std::string_view(level) == "Error") event.metadata["Instance"].as_object()["FailureMessage"] = text;
    add_event(state, cluster, std::move(event));
}

void pass(State& state, Record& cluster, Record& node) {
    node.data["InstanceStatus"] = {{"Status", "Running"}};
    node.hidden["checked"] = "Passed";
    edit_node(state, cluster, node, [](NodeEdit& edit) {
        heal(edit);
        edit.labels[kDeepCheckLabel] = "Passed";
    });
    tell(state, cluster, node, "Info", "Deep health checks have passed");
    settle(state, cluster);
}

void fail(State& state, Record& cluster, Record& node) {
    edit_node(state, cluster, node, [](NodeEdit& edit) {
        edit.labels[kDeepCheckLabel] = "Failed";
        edit.labels[kHealthLabel] = "UnschedulablePendingReplacement";
    });
    tell(state, cluster, node, "Error",
         "Deep health checks have failed: " + base::get_string(node.hidden, "fault.reason") +
             ". The instance will be replaced");
    replace_node(state, node);
}

std::optional<ServiceError> check_configuration(State& state, const Record& cluster,
                                                const JsonValue& configuration) {
    const std::string name = base::get_string(configuration, "InstanceGroupName");
    const Record* group = find_group(state, cluster, name);
    if (group == nullptr)
        return invalid("Instance group " + name + " does not exist in the cluster " + cluster.id + ".");
    for (const std::string& type : types_of(*group)) {
        if (!supports_deep_checks(type))
            return invalid("Deep health checks are not supported on " + type + " of the instance group " +
                           name + ".");
    }
    for (const std::string& id : strings(configuration.get_object(), "InstanceIds")) {
        const Record* found = nullptr;
        for (const Record* node : nodes_of(state, cluster, name)) {
            if (base::get_string(node->data, "InstanceId") == id) found = node;
        }
        if (found == nullptr)
            return invalid("Instance " + id + " does not exist in the instance group " + name + ".");
        if (node_status(*found) != "Running") {
            return invalid("Instance " + id + " is " + node_status(*found) +
                           "; deep health checks need it to be Running.");
        }
    }
    return std::nullopt;
}

Reply start_health_check(State& state, const Call& call) {
    const Found found = require_cluster(state, call);
    if (found.record == nullptr) return found.error;
    const Record& cluster = *found.record;
    if (status_of(cluster) != "InService")
        return invalid("Cluster " + cluster.id + " must be InService, but is " + status_of(cluster) + ".");
    const JsonArray& wanted = base::get_array(call.params, "DeepHealthCheckConfigurations");
    for (const JsonValue& configuration : wanted) {
        if (auto bad = check_configuration(state, cluster, configuration)) return *bad;
    }
    for (const JsonValue& configuration : wanted) {
        const std::vector<std::string> ids = strings(configuration.get_object(), "InstanceIds");
        for (Record* node : nodes_of(state, cluster, base::get_string(configuration, "InstanceGroupName"))) {
            const bool named = ids.empty() || contains(ids, base::get_string(node->data, "InstanceId"));
            if (named && node_status(*node) == "Running")
                start_deep_checks(state, cluster, *node, base::get_array(configuration, "DeepHealthChecks"));
        }
    }
    JsonObject answer;
    answer["ClusterArn"] = base::get_string(cluster.data, "ClusterArn");
    return answer;
}

}  // namespace

bool supports_deep_checks(std::string_view instance_type) {
    const domain::InstanceType* type = domain::find_instance_type(instance_type);
    return type != nullptr && type->accelerators > 0;
}

void start_deep_checks(State& state, const Record& cluster, Record& node, const JsonArray& checks) {
    node.data["InstanceStatus"] = {{"Status", "DeepHealthCheckInProgress"}};
    edit_node(state, cluster, node, [](NodeEdit& edit) {
        edit.labels[kHealthLabel] = "Unschedulable";
        edit.labels[kDeepCheckLabel] = "InProgress";
        put_taint(edit.taints, health_taint());
    });
    tell(state, cluster, node, "Info", "Deep health checks have started: " + listed(checks));
    set_timer(state, node, "check_done", minutes(120));
}

void deep_check_timer(State& state, const std::string&, const JsonObject& payload) {
    Record* node = state.nodes.find(base::get_string(payload, "node"));
    if (node == nullptr ||
        base::get_string(node->data, "InstanceId") != base::get_string(payload, "instance") ||
        node_status(*node) != "DeepHealthCheckInProgress")
        return;
    Record* cluster = find_cluster_by_id(state, base::get_string(node->hidden, "cluster"));
    if (cluster == nullptr || status_of(*cluster) == "Deleting") return;
    if (node->hidden.contains("fault")) return fail(state, *cluster, *node);
    pass(state, *cluster, *node);
}

void add_deep_check_operations(Operations& operations) {
    operations["StartClusterHealthCheck"] = start_health_check;
}

}  // namespace instantstart::twin::sagemaker
