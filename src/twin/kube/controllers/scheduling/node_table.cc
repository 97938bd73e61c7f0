#include "twin/kube/controllers/scheduling/node_table.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

Labels labels_of(const base::JsonObject& object) {
    Labels out;
    for (const auto& label : base::get_object(object, "metadata.labels")) {
        if (label.value().is_string()) out.emplace(label.key(), label.value().get_string());
    }
    return out;
}

HostPorts host_ports_of(const base::JsonObject& pod) {
    HostPorts out;
    const bool host_network = base::get_bool(pod, "spec.hostNetwork");
    for (const auto& container : base::get_array(pod, "spec.containers")) {
        for (const auto& port : base::get_array(container, "ports")) {
            const auto number =
                base::get_int(port, "hostPort", host_network ? base::get_int(port, "containerPort") : 0);
            if (number == 0) continue;
            out.insert(base::get_string(port, "protocol", "TCP") + "/" +
                       base::get_string(port, "hostIP", "0.0.0.0") + "/" + std::to_string(number));
        }
    }
    return out;
}

const std::string* NodeFacts::label(std::string_view key) const {
    const auto found = labels.find(key);
    return found == labels.end() ? nullptr : &found->second;
}

NodeFacts& NodeTable::entry(const std::string& name) {
    auto& node = nodes_[name];
    node.name = name;
    return node;
}

bool NodeTable::prefers_none(const NodeFacts& node) {
    return std::any_of(node.taints.begin(), node.taints.end(),
                       [](const Taint& taint) { return taint.effect == "PreferNoSchedule"; });
}

void NodeTable::put(const base::JsonObject& object) {
    auto& node = entry(name_of(object));
    if (node.present && prefers_none(node)) --prefer_none_;
    node.present = true;
    node.labels = labels_of(object);
    node.allocatable = amounts_of(base::get_object(object, "status.allocatable"));
    node.unschedulable = base::get_bool(object, "spec.unschedulable");
    node.taints.clear();
    for (const auto& value : base::get_array(object, "spec.taints")) {
        Taint taint;
        taint.key = base::get_string(value, "key");
        taint.value = base::get_string(value, "value");
        taint.effect = base::get_string(value, "effect");
        taint.added = base::get_string(value, "timeAdded");
        node.taints.push_back(std::move(taint));
    }
    node.ready = true;
    node.unreachable = false;
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        if (base::get_string(condition, "type") != "Ready") continue;
        const auto status = base::get_string(condition, "status");
        node.ready = status == "True";
        node.unreachable = status == "Unknown";
    }
    if (prefers_none(node)) ++prefer_none_;
    by_load_.emplace(node.pods, node.name);
}

void NodeTable::remove(std::string_view name) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end() || !found->second.present) return;
    NodeFacts& node = found->second;
    if (prefers_none(node)) --prefer_none_;
    node.present = false;
    by_load_.erase({node.pods, node.name});
    drop_if_unused(node.name);
}

void NodeTable::drop_if_unused(const std::string& name) {
    const auto found = nodes_.find(name);
    if (found != nodes_.end() && !found->second.present && found->second.pods == 0) nodes_.erase(found);
}

void NodeTable::use(const std::string& name, const Amounts& requests, const HostPorts& ports, int sign) {
    auto& node = entry(name);
    if (node.present) by_load_.erase({node.pods, name});
    for (const auto& [resource, amount] : requests) node.used[resource] += sign * amount;
    for (const auto& port : ports) {
        auto& count = node.ports[port];
        count += sign;
        if (count <= 0) node.ports.erase(port);
    }
    if (sign > 0) ++node.pods;
    if (sign < 0 && node.pods > 0) --node.pods;
    if (node.present) by_load_.emplace(node.pods, name);
    drop_if_unused(name);
}

const NodeFacts* NodeTable::find(std::string_view name) const {
    const auto found = nodes_.find(name);
    return found == nodes_.end() || !found->second.present ? nullptr : &found->second;
}

const Amounts& NodeTable::used_on(std::string_view name) const {
    static const Amounts kNone;
    const auto found = nodes_.find(name);
    return found == nodes_.end() ? kNone : found->second.used;
}

}  // namespace instantstart::twin::kube::controllers
