// Training plans: capacity that was bought ahead. Whether a group can be bound to one, from SageMaker's own
// description of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "domain/instance_group.h"

namespace instantstart::domain {

struct TrainingPlan {
    TrainingPlan() = default;
    std::string arn, name, status;  // Pending, Scheduled, Active, Expired, Failed
    std::optional<base::TimePoint> start, end;
    std::vector<std::string> types;    // "ml.p5.48xlarge", of its reserved capacities
    std::vector<std::string> zones;    // of its reserved capacities
    std::vector<std::string> targets;  // "hyperpod-cluster", "training-job"
    std::int64_t total = 0, available = 0, in_use = 0;
};
// From DescribeTrainingPlan, or from an item of ListTrainingPlans.
TrainingPlan training_plan_from(const base::JsonObject& described);

struct PlanVerdict {
    PlanVerdict() = default;
    std::vector<base::FieldError> faults;
    std::vector<std::string> warnings;  // a scheduled plan binds and waits; an active one may end soon
};
// `wanted` are the instances that the group takes beyond those that the plan already gives it.
PlanVerdict check_plan(const TrainingPlan& plan, const InstanceGroup& group, std::int64_t wanted,
                       base::TimePoint now, const std::string& at);

}  // namespace instantstart::domain
