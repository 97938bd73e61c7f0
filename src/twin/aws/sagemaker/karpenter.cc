#include "twin/aws/sagemaker/karpenter.h"

#include <cmath>
#include <set>

namespace instantstart::twin::sagemaker {

namespace {

using std::chrono::seconds;

const kube::Kind kPods("", "pods");
// A fresh node is not judged before the scheduler has filled it.
constexpr seconds kGrace{30};

void set_status(Record& cluster, const char* status, const std::string& why = "") {
    JsonObject scaling = base::get_object(cluster.data, "AutoScaling");
    scaling["Status"] = status;
    if (!why.empty()) scaling["FailureMessage"] = why;
    cluster.data["AutoScaling"] = std::move(scaling);
}

// What the cluster's role lacks; "" where it may do what Karpenter does.
std::string missing_right(State& state, const Record& cluster) {
    Identity role;
    role.role_arn = base::get_string(cluster.data, "ClusterRole");
    role.arn = role.role_arn;
    role.account = state.world.account();
    for (const char* action : {"sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"}) {
        if (!state.world.iam().allows(role, action, base::get_string(cluster.data, "ClusterArn"), {}))
            return action;
    }
    return "";
}

void become_ready(State& state, Record& cluster) {
    kube::Cluster* live = kube_of(state, cluster);
    if (const std::string action = missing_right(state, cluster); !action.empty()) {
        return set_status(cluster, "Failed",
                          "The cluster role " + base::get_string(cluster.data, "ClusterRole") +
                              " is not authorized to perform " + action + ".");
    }
    if (live == nullptr || !put_karpenter_kinds(live->objects())) {
        return set_status(cluster, "Failed",
                          "The Karpenter custom resources in the cluster must serve version v1.");
    }
    set_status(cluster, "InService");
    plan_pass(state, cluster);
}

bool of_daemon_set(const JsonObject& pod) {
    return base::get_string(pod, "metadata.ownerReferences.0.kind") == "DaemonSet";
}

// Nodes with a pod that is not a DaemonSet's and has not ended.
std::set<std::string> busy_nodes(kube::ObjectStore& objects) {
    std::set<std::string> busy;
    for (const kube::ObjectPtr& pod : objects.list(kPods)) {
        const std::string node = base::get_string(*pod, "spec.nodeName"),
                          phase = base::get_string(*pod, "status.phase");
        if (!node.empty() && phase != "Succeeded" && phase != "Failed" && !of_daemon_set(*pod))
            busy.insert(node);
    }
    return busy;
}

bool is_ready(kube::ObjectStore& objects, const Record& node) {
    const kube::ObjectPtr object = objects.get(kube::Kind("", "nodes"), "", kube_name(node));
    if (object == nullptr) return false;
    for (const JsonValue& condition : base::get_array(*object, "status.conditions")) {
        if (base::get_string(condition, "type") == "Ready")
            return base::get_string(condition, "status") == "True";
    }
    return false;
}

// "30s", "5m", "1h"; nullopt for "Never" and what cannot be read.
std::optional<base::Duration> duration_of(const std::string& text) {
    base::Duration total{0};
    std::int64_t number = 0;
    for (const char letter : text) {
        if (letter >= '0' && letter <= '9') {
            number = number * 10 + (letter - '0');
            continue;
        }
        if (letter != 'h' && letter != 'm' && letter != 's') return std::nullopt;
        total += seconds(number * (letter == 'h' ? 3600 : letter == 'm' ? 60 : 1));
        number = 0;
    }
    return total;
}

// How many of the pool's nodes may go at once: the tightest of its budgets, a tenth without any.
std::size_t budget_of(const NodePool& pool, std::size_t nodes) {
    std::size_t most = static_cast<std::size_t>(std::ceil(static_cast<double>(nodes) * 0.1));
    bool first = true;
    for (const JsonValue& budget : base::get_array(pool.spec, "disruption.budgets")) {
        const std::string text = base::get_string(budget, "nodes", "10%");
        const double number = std::strtod(text.c_str(), nullptr);
        const double count =
            text.ends_with("%") ? std::ceil(static_cast<double>(nodes) * number / 100) : number;
        most = first ? static_cast<std::size_t>(count) : std::min(most, static_cast<std::size_t>(count));
        first = false;
    }
    return most;
}

std::vector<Record*> pool_nodes(State& state, const Record& cluster, const std::string& pool) {
    std::vector<Record*> found;
    for (Record* node : nodes_of(state, cluster)) {
        if (base::get_string(node->hidden, "pool") == pool && node_status(*node) != "ShuttingDown")
            found.push_back(node);
    }
    return found;
}

// A node that has just become empty gets a mark and a time; one that fills again loses the mark.
void mark_empty(State& state, Record& node, base::Duration after) {
    if (node.hidden.contains("empty")) return;
    const std::string mark = state.world.uuid();
    node.hidden["empty"] = mark;
    state.world.after(std::max<base::Duration>(after, kGrace), "sagemaker", "scaling_empty",
                      {{"node", node.id}, {"mark", mark}});
}

void consolidate(State& state, const Record& cluster, kube::ObjectStore& objects,
                 const std::vector<NodePool>& pools) {
    const std::set<std::string> busy = busy_nodes(objects);
    for (const NodePool& pool : pools) {
        const std::vector<Record*> nodes = pool_nodes(state, cluster, pool.name);
        std::size_t left = budget_of(pool, nodes.size());
        for (Record* node : nodes) {
            if (busy.contains(kube_name(*node)) || node_status(*node) != "Running" ||
                !is_ready(objects, *node)) {
                node->hidden.erase("empty");
                node->hidden.erase("surplus");
                continue;
            }
            if (base::get_bool(node->hidden, "surplus") && left > 0) {
                --left;
                release_node(state, cluster, *node);
                continue;
            }
            const auto after = duration_of(base::get_string(pool.spec, "disruption.consolidateAfter", "0s"));
            if (after) mark_empty(state, *node, *after);
        }
    }
}

// What Karpenter did not make does not stay in its groups, and what its pool or class lets go of leaves.
void drop_strangers(State& state, const Record& cluster, const std::vector<NodeClass>& classes,
                    const std::vector<NodePool>& pools) {
    std::set<std::string> managed, known;
    for (const NodeClass& each : classes) {
        for (const Record* group : each.groups)
            managed.insert(base::get_string(group->data, "InstanceGroupName"));
    }
    for (const NodePool& pool : pools) known.insert(pool.name);
    for (Record* node : nodes_of(state, cluster)) {
        const std::string group = base::get_string(node->data, "InstanceGroupName"),
                          pool = base::get_string(node->hidden, "pool");
        if (node_status(*node) == "ShuttingDown" || (pool.empty() && !managed.contains(group))) continue;
        if (!pool.empty() && managed.contains(group) && known.contains(pool)) continue;
        release_node(state, cluster, *node);
    }
}

void pass(State& state, Record& cluster) {
    kube::Cluster* live = kube_of(state, cluster);
    if (live == nullptr || !scales(cluster)) return;
    kube::ObjectStore& objects = live->objects();
    const std::vector<NodeClass> classes = read_classes(state, cluster, objects);
    const std::vector<NodePool> pools = read_pools(state, cluster, objects, classes);
    drop_strangers(state, cluster, classes, pools);
    const bool unsettled = place_pods(state, cluster, objects, pools);
    if (!unsettled) consolidate(state, cluster, objects, pools);
    write_claims(state, cluster, objects);
    settle(state, cluster);
    if (unsettled) plan_pass(state, cluster);
}

void surplus(State& state, const JsonObject& payload) {
    Record* node = state.nodes.find(base::get_string(payload, "node"));
    if (node == nullptr || base::get_string(node->hidden, "empty") != base::get_string(payload, "mark"))
        return;
    node->hidden["surplus"] = true;
    const Record* cluster = find_cluster_by_id(state, base::get_string(node->hidden, "cluster"));
    if (cluster != nullptr) plan_pass(state, *cluster);
}

}  // namespace

bool scales(const Record& cluster) {
    return base::get_string(cluster.data, "AutoScaling.Mode") == "Enable" &&
           base::get_string(cluster.data, "AutoScaling.Status") == "InService";
}

void set_scaling(State& state, Record& cluster, const JsonObject& wanted) {
    const bool on = base::get_string(wanted, "Mode") == "Enable";
    if (!on && !cluster.data.contains("AutoScaling")) return;
    const std::string before = base::get_string(cluster.data, "AutoScaling.Status");
    cluster.data["AutoScaling"] = wanted;
    if (on && before == "InService") return set_status(cluster, "InService");
    set_status(cluster, on ? "Creating" : "Deleting");
    state.world.after(state.world.about(seconds(on ? 150 : 60)), "sagemaker",
                      on ? "scaling_ready" : "scaling_gone", {{"cluster", cluster_id(cluster)}});
}

void plan_pass(State& state, const Record& cluster) {
    if (!state.passes.insert(cluster_id(cluster)).second) return;
    state.world.after(seconds(10), "sagemaker", "scaling_pass", {{"cluster", cluster_id(cluster)}});
}

void release_node(State& state, const Record& cluster, Record& node) {
    if (Record* group = find_group(state, cluster, base::get_string(node.data, "InstanceGroupName")))
        group->data["TargetCount"] = std::max<std::int64_t>(0, base::get_int(group->data, "TargetCount") - 1);
    stop_node(state, node);
}

void scaling_timer(State& state, const std::string& kind, const JsonObject& payload) {
    if (kind == "scaling_empty") return surplus(state, payload);
    const std::string id = base::get_string(payload, "cluster");
    if (kind == "scaling_pass") state.passes.erase(id);
    Record* cluster = find_cluster_by_id(state, id);
    if (cluster == nullptr || status_of(*cluster) == "Deleting") return;
    const std::string status = base::get_string(cluster->data, "AutoScaling.Status");
    if (kind == "scaling_pass") return pass(state, *cluster);
    if (kind == "scaling_ready" && status == "Creating") {
        if (base::get_bool(cluster->hidden, "prepared")) return become_ready(state, *cluster);
        state.world.after(seconds(60), "sagemaker", "scaling_ready", payload);
    }
    if (kind == "scaling_gone" && status == "Deleting") cluster->data.erase("AutoScaling");
}

}  // namespace instantstart::twin::sagemaker
