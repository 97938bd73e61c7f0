// Spread: topologySpreadConstraints of a pod, with the pods of each domain counted once for a decision.
#pragma once

#include "twin/kube/controllers/scheduling/wish.h"

namespace instantstart::twin::kube::controllers {

class Spread {
public:
    enum class Verdict : std::uint8_t { fits, skewed, missing_label };

    Spread() = default;
    Spread(const Env& env, const Wish& wish, const std::set<Key>& without = {});

    Verdict check(const Wish& wish, const NodeFacts& node) const;
    // Matching pods in the node's domains under the rules that only prefer: fewer is better.
    std::int64_t crowd(const Wish& wish, const NodeFacts& node) const;

private:
    struct Domains {
        Domains() = default;
        std::map<std::string, std::int64_t> pods;  // by the topology key's value, over eligible nodes
        std::int64_t least = 0;
        bool counts_itself = false;
    };
    std::vector<Domains> domains_;  // as wish.spread
};

}  // namespace instantstart::twin::kube::controllers
