// PodTopology: where the pods stand that a pod wants to be near or away from, counted once for a decision.
#pragma once

#include "twin/kube/controllers/scheduling/wish.h"

namespace instantstart::twin::kube::controllers {

class PodTopology {
public:
    PodTopology() = default;
    // `without`: pods that are thought away (victims of a preemption).
    PodTopology(const Env& env, const Wish& wish, const std::set<Key>& without = {});

    bool affinity_holds(const Wish& wish, const NodeFacts& node) const;
    bool anti_affinity_holds(const Wish& wish, const NodeFacts& node) const;
    // Required anti-affinity of pods that have their place already.
    bool others_allow(const NodeFacts& node) const;
    // Sum of the weights of the preferred terms that the node fulfils.
    std::int64_t preference(const Wish& wish, const NodeFacts& node) const;

private:
    using Place = std::pair<std::string, std::string>;  // topology key, value
    void count_own_terms(const Env& env, const Wish& wish, const std::set<Key>& without);
    void count_others(const Env& env, const Wish& wish, const std::set<Key>& without);
    void count(const Wish& wish, const JsonObject& pod, const NodeFacts& node);

    std::map<Place, int> near_, others_refuse_;
    std::vector<std::map<std::string, int>> away_, preferred_;  // by term: value of its topology key
    bool nobody_near_ = true, near_itself_ = false;
};

}  // namespace instantstart::twin::kube::controllers
