// Filters: may a pod stand on a node? One row each, in kube-scheduler's order; the first that refuses says
// why in kube-scheduler's words.
#pragma once

#include "twin/kube/controllers/scheduling/pod_topology.h"
#include "twin/kube/controllers/scheduling/spread.h"

namespace instantstart::twin::kube::controllers {

// Room that is kept on a node for pods that made room there by preemption.
class Nominations {
public:
    void set(const Key& pod, const std::string& node, std::int64_t priority, Amounts requests);
    void drop(const Key& pod);
    const std::string* node_of(const Key& pod) const;
    // What pods of at least this priority, but for `pod` itself, wait for on the node.
    Amounts reserved(const std::string& node, const Key& pod, std::int64_t priority) const;
    void clear() { pods_.clear(); }

private:
    struct Nominee {
        Nominee() = default;
        std::string node;
        std::int64_t priority = 0;
        Amounts requests;
    };
    std::map<Key, Nominee> pods_;
};

// Everything one decision looks at.
struct Cycle {
    Cycle(const Env& env, Wish made, const Nominations& kept);
    Wish wish;
    PodTopology topology;
    Spread spread;
    const Nominations& nominations;
};

struct Refusal {
    Refusal(std::string why, bool by_preemption) : reason(std::move(why)), helped(by_preemption) {}
    std::string reason;
    bool helped = false;  // other pods stand in the way: preemption may help
};

// Empty where the pod may stand there.
std::vector<Refusal> refusals(const Cycle& cycle, const NodeFacts& node);

// Why no node would do, counted: "0/5 nodes are available: 2 Insufficient nvidia.com/gpu, 3 node(s) had ...".
class Verdict {
public:
    void add(const std::vector<Refusal>& refused);
    // Nodes that were not even looked at, since the pod names others.
    void add_unnamed(std::size_t nodes);
    std::string text(std::size_t nodes) const;
    // "preemption: ..." where nothing could be done.
    std::string preemption_text(std::size_t nodes) const;

private:
    std::map<std::string, std::size_t> reasons_;
    std::size_t helped_ = 0;
};

}  // namespace instantstart::twin::kube::controllers
