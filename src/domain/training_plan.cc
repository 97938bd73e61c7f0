#include "domain/training_plan.h"

#include <algorithm>

#include "base/text.h"

namespace instantstart::domain {

namespace {

void add_once(std::vector<std::string>& list, const std::string& value) {
    if (!value.empty() && std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

base::FieldError fault(std::string pointer, std::string message, std::vector<std::string> allowed = {}) {
    base::FieldError made;
    made.pointer = std::move(pointer);
    made.message = std::move(message);
    made.allowed = std::move(allowed);
    return made;
}

std::string status_fault(const TrainingPlan& plan, base::TimePoint now) {
    if (plan.status == "Pending") return "is not paid for yet (Pending): wait until it is Scheduled";
    if (plan.status == "Failed") return "has failed: buy another one";
    if (plan.status == "Expired" || (plan.end && *plan.end <= now)) {
        return "has ended" + (plan.end ? " at " + base::format_time(*plan.end) : std::string()) +
               ": extend it, or choose another plan";
    }
    return "";
}

void check_fit(const TrainingPlan& plan, const InstanceGroup& group, const std::string& at,
               std::vector<base::FieldError>& faults) {
    for (const auto& type : group.types()) {
        if (std::find(plan.types.begin(), plan.types.end(), type) != plan.types.end()) continue;
        faults.push_back(fault(at + "/instance_type",
                               "training plan " + plan.name + " is for " + base::join(plan.types, ", ") +
                                   ": choose that type, or another plan",
                               plan.types));
    }
    const bool in_zone =
        plan.zones.empty() || std::find(plan.zones.begin(), plan.zones.end(), group.zone) != plan.zones.end();
    if (!in_zone) {
        faults.push_back(fault(at + "/zone",
                               "training plan " + plan.name + " gives capacity in " +
                                   base::join(plan.zones, ", ") + " only: choose that zone, or another plan",
                               plan.zones));
    }
}

}  // namespace

TrainingPlan training_plan_from(const base::JsonObject& described) {
    TrainingPlan plan;
    plan.arn = base::get_string(described, "TrainingPlanArn");
    plan.name = base::get_string(described, "TrainingPlanName");
    plan.status = base::get_string(described, "Status");
    plan.start = base::parse_time(base::get_string(described, "StartTime"));
    plan.end = base::parse_time(base::get_string(described, "EndTime"));
    plan.total = base::get_int(described, "TotalInstanceCount");
    plan.available = base::get_int(described, "AvailableInstanceCount");
    plan.in_use = base::get_int(described, "InUseInstanceCount");
    for (const auto& target : base::get_array(described, "TargetResources")) {
        if (target.is_string()) plan.targets.emplace_back(target.as_string());
    }
    for (const auto& block : base::get_array(described, "ReservedCapacitySummaries")) {
        add_once(plan.types, base::get_string(block, "InstanceType"));
        add_once(plan.zones, base::get_string(block, "AvailabilityZone"));
    }
    return plan;
}

PlanVerdict check_plan(const TrainingPlan& plan, const InstanceGroup& group, std::int64_t wanted,
                       base::TimePoint now, const std::string& at) {
    PlanVerdict verdict;
    const auto own = at + "/capacity/training_plan_arn";
    if (const auto why = status_fault(plan, now); !why.empty()) {
        verdict.faults.push_back(fault(own, "training plan " + plan.name + " " + why));
        return verdict;
    }
    const bool for_hyperpod =
        std::find(plan.targets.begin(), plan.targets.end(), "hyperpod-cluster") != plan.targets.end();
    if (!for_hyperpod) {
        verdict.faults.push_back(fault(own, "training plan " + plan.name + " was bought for " +
                                                base::join(plan.targets, ", ") +
                                                ": a group needs one for hyperpod-cluster"));
    }
    check_fit(plan, group, at, verdict.faults);
    const bool scheduled = plan.status == "Scheduled";
    // Before its start a plan has all of its instances to give.
    const auto free = scheduled ? std::max(plan.available, plan.total - plan.in_use) : plan.available;
    if (wanted > free) {
        verdict.faults.push_back(
            fault(at + "/count", "training plan " + plan.name + " has " + std::to_string(free) + " of " +
                                     std::to_string(plan.total) + " instances left: lower count"));
    }
    if (scheduled) {
        verdict.warnings.push_back("training plan " + plan.name + " starts" +
                                   (plan.start ? " at " + base::format_time(*plan.start) : " later") +
                                   ": the group is bound now and filled then");
    }
    if (plan.end && verdict.faults.empty()) {
        verdict.warnings.push_back("AWS takes the instances back when training plan " + plan.name +
                                   " ends, at " + base::format_time(*plan.end));
    }
    return verdict;
}

}  // namespace instantstart::domain
