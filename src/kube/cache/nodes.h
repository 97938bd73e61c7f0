// NodeTable: the nodes of a cluster by name, with what the product shows and decides by.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kube/cache/symbols.h"
#include "kube/cache/table.h"

namespace instantstart::kube {

// Symbols are of the table's Symbols. A node's heartbeats change nothing here.
struct Node {
    Node() = default;
    Symbol name = 0;
    Symbol instance_type = 0, zone = 0;
    Symbol group = 0;   // HyperPod's instance group
    Symbol health = 0;  // HyperPod's node health status
    // HyperPod's deep health check, and the faults that its agents have found; 0 where there are none.
    Symbol deep_check = 0, fault_types = 0, fault_reasons = 0;
    Symbol version = 0;  // of the kubelet
    // Allocatable.
    std::int32_t gpus = 0, neurons = 0, neuron_devices = 0, efas = 0, pods = 0;
    std::int64_t created = 0;      // seconds since the epoch
    std::uint32_t generation = 0;  // of the list that told of it last; the table's own
    bool ready = false;
    bool cordoned = false;

    bool operator==(const Node&) const = default;
};

// Nodes of one instance type.
struct NodeTally {
    NodeTally() = default;
    std::int64_t nodes = 0, ready = 0;
    std::int64_t gpus = 0, neurons = 0, neuron_devices = 0;  // allocatable on those that are ready
};

class NodeTable final : public Table {
public:
    explicit NodeTable(Symbols& symbols);
    ~NodeTable() override;
    NodeTable(const NodeTable&) = delete;
    NodeTable& operator=(const NodeTable&) = delete;

    using Nodes = std::map<std::string, Node, std::less<>>;
    const Nodes& nodes() const { return nodes_; }
    const Node* find(std::string_view name) const;
    const Symbols& symbols() const { return symbols_; }
    std::uint64_t revision() const { return revision_; }
    // Grows where a node comes or goes, which is rarer.
    std::uint64_t membership() const { return membership_; }
    // By the symbol of the instance type, 0 for those that name none; kept up with each change.
    using Tallies = std::unordered_map<Symbol, NodeTally>;
    const Tallies& tallies() const { return tallies_; }

    std::vector<Wanted> wanted() const override;
    void begin() override;
    void open(int tag) override;
    void close(int tag) override;
    void text(int tag, std::string_view key, std::string_view value) override;
    void number(int tag, std::string_view key, std::int64_t value) override;
    void flag(int tag, std::string_view key, bool value) override;
    bool put(std::string_view ns, std::string_view name) override;
    bool remove(std::string_view ns, std::string_view name) override;
    void start_list() override { ++generation_; }
    bool finish_list() override;
    void clear() override;
    std::size_t size() const override { return nodes_.size(); }

private:
    struct Draft;
    Node make_node(std::string_view name);
    void release(const Node& node);
    void tally(const Node& node, int sign);

    Symbols& symbols_;
    Nodes nodes_;
    Tallies tallies_;
    std::uint32_t generation_ = 0;
    std::uint64_t revision_ = 0, membership_ = 0;
    std::unique_ptr<Draft> draft_;
};

}  // namespace instantstart::kube
