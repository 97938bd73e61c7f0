// Disruption: budgets of pods that may be missing at once, and the mark on a pod that is made to go.
#pragma once

#include "twin/kube/controllers/env.h"

namespace instantstart::twin::kube::controllers {

inline const Kind kBudgets("policy", "poddisruptionbudgets");

// Keeps the status of every budget.
class Disruption final : public Controller {
public:
    explicit Disruption(Env& env) : env_(env) {}
    void changed(const Change& change) override;
    void sync(const Key& key) override;

private:
    std::int64_t expected_pods(const std::vector<ObjectPtr>& pods) const;
    Env& env_;
};

// The going of the pod would break a budget. `spent` counts, by budget, those that were asked before.
bool violates_budget(const Env& env, const JsonObject& pod, std::map<std::string, std::int64_t>& spent);
// The condition DisruptionTarget, by which a Job's policy knows that the pod is not to blame.
void mark_disruption(Env& env, const JsonObject& pod, std::string_view reason, std::string_view message);

}  // namespace instantstart::twin::kube::controllers
