// Preemption: which pods of lower priority must go so that a pod finds its place.
#pragma once

#include "twin/kube/controllers/scheduling/filters.h"

namespace instantstart::twin::kube::controllers {

struct Victims {
    Victims() = default;
    std::string node;
    std::vector<ObjectPtr> pods;
};

// The node where least is lost, of at most 100 that `candidates` names; no pods where there is none.
Victims find_victims(const Env& env, const Cycle& cycle, const std::vector<std::string>& candidates);
// Tells the victims and ends them.
void evict_victims(Env& env, const Cycle& cycle, const Victims& victims);

}  // namespace instantstart::twin::kube::controllers
