#include "twin/kube/controllers/scheduling/scores.h"

#include <algorithm>

namespace instantstart::twin::kube::controllers {

namespace {

std::int64_t untolerated_preferences(const Cycle& cycle, const NodeFacts& node) {
    const auto& tolerations = cycle.wish.tolerations();
    return std::count_if(node.taints.begin(), node.taints.end(), [&tolerations](const Taint& taint) {
        return taint.effect == "PreferNoSchedule" &&
               std::none_of(tolerations.begin(), tolerations.end(),
                            [&taint](const JsonValue& one) { return tolerates(one, taint); });
    });
}

std::int64_t node_preference(const Cycle& cycle, const NodeFacts& node) {
    std::int64_t sum = 0;
    for (const auto& weighted : base::get_array(
             *cycle.wish.pod, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution")) {
        const auto* term = base::find_path(weighted, "preference");
        if (term != nullptr && matches_node_term(*term, node)) sum += base::get_int(weighted, "weight", 1);
    }
    return sum;
}

std::int64_t pod_preference(const Cycle& cycle, const NodeFacts& node) {
    return cycle.topology.preference(cycle.wish, node);
}

std::int64_t crowd(const Cycle& cycle, const NodeFacts& node) {
    return cycle.spread.crowd(cycle.wish, node);
}

// Each is scaled to 0..100 over the possible nodes; fewer is better where `fewer`.
struct Score {
    std::int64_t (*of)(const Cycle&, const NodeFacts&);
    std::int64_t weight;
    bool fewer;
};
constexpr Score kScores[] = {{untolerated_preferences, 3, true},
                             {node_preference, 2, false},
                             {pod_preference, 2, false},
                             {crowd, 2, true}};

}  // namespace

const NodeFacts* best_of(const Cycle& cycle, const std::vector<const NodeFacts*>& possible) {
    std::vector<std::int64_t> total(possible.size(), 0);
    for (const auto& score : kScores) {
        std::vector<std::int64_t> values;
        values.reserve(possible.size());
        for (const auto* node : possible) values.push_back(score.of(cycle, *node));
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const std::int64_t low = *least;
        const std::int64_t range = *most - low;
        if (range == 0) continue;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::int64_t scaled = (values[i] - low) * 100 / range;
            total[i] += score.weight * (score.fewer ? 100 - scaled : scaled);
        }
    }
    return possible[static_cast<std::size_t>(std::max_element(total.begin(), total.end()) - total.begin())];
}

}  // namespace instantstart::twin::kube::controllers
