// NodeTable: every node as placement needs it, read once from its object, with what its pods use. Kept by
// changes, so that one decision reads no JSON of nodes.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "twin/kube/controllers/quantity.h"

namespace instantstart::twin::kube::controllers {

using Labels = std::map<std::string, std::string, std::less<>>;
Labels labels_of(const base::JsonObject& object);  // metadata.labels

struct Taint {
    Taint() = default;
    std::string key, value, effect, added;  // added: RFC 3339, "" where nobody wrote it
};

// A port of the host that a pod takes: protocol/address/number.
using HostPorts = std::set<std::string>;
HostPorts host_ports_of(const base::JsonObject& pod);

struct NodeFacts {
    NodeFacts() = default;
    std::string name;
    Labels labels;
    std::vector<Taint> taints;
    Amounts allocatable;
    bool unschedulable = false;
    bool ready = true;         // condition Ready, or none
    bool unreachable = false;  // condition Ready is Unknown
    bool present = false;      // false: only pods speak of it
    // Of the pods that have not ended.
    Amounts used;
    std::size_t pods = 0;
    std::map<std::string, int> ports;

    const std::string* label(std::string_view key) const;
};

class NodeTable {
public:
    void put(const base::JsonObject& node);
    void remove(std::string_view name);
    void use(const std::string& node, const Amounts& requests, const HostPorts& ports, int sign);

    // nullptr for a node that is not there.
    const NodeFacts* find(std::string_view name) const;
    const Amounts& used_on(std::string_view name) const;
    std::size_t size() const { return by_load_.size(); }
    // Those that are there, the emptiest first, by name where equal.
    const std::set<std::pair<std::size_t, std::string>>& by_load() const { return by_load_; }
    bool any_prefers_none() const { return prefer_none_ > 0; }

private:
    NodeFacts& entry(const std::string& name);
    void drop_if_unused(const std::string& name);
    static bool prefers_none(const NodeFacts& node);

    std::map<std::string, NodeFacts, std::less<>> nodes_;
    std::set<std::pair<std::size_t, std::string>> by_load_;
    std::size_t prefer_none_ = 0;  // nodes with a PreferNoSchedule taint
};

}  // namespace instantstart::twin::kube::controllers
