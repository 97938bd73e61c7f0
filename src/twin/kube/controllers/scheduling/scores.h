// Scores: which of the possible nodes is best, by kube-scheduler's plugins and their weights.
#pragma once

#include "twin/kube/controllers/scheduling/filters.h"

namespace instantstart::twin::kube::controllers {

// `possible` is not empty and in order of load; of equal ones the first wins.
const NodeFacts* best_of(const Cycle& cycle, const std::vector<const NodeFacts*>& possible);

}  // namespace instantstart::twin::kube::controllers
