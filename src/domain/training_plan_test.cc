#include "domain/training_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/result.h"

namespace instantstart::domain {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

base::JsonObject described() {
    return base::parse_json(R"({
        "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june",
        "TrainingPlanName": "june", "Status": "Active", "StartTime": "2026-11-01T00:00:00Z",
        "EndTime": "2026-12-31T00:00:00Z", "TotalInstanceCount": 8, "AvailableInstanceCount": 4,
        "InUseInstanceCount": 4, "TargetResources": ["hyperpod-cluster"],
        "ReservedCapacitySummaries": [
            {"InstanceType": "ml.p5.48xlarge", "AvailabilityZone": "us-west-2a"},
            {"InstanceType": "ml.p5.48xlarge", "AvailabilityZone": "us-west-2a"}]})")
        ->as_object();
}

InstanceGroup group() {
    InstanceGroup made;
    made.name = "workers";
    made.instance_type = "ml.p5.48xlarge";
    made.count = 4;
    made.zone = "us-west-2a";
    return made;
}

const base::TimePoint kNow = *base::parse_time("2026-11-30T12:00:00Z");

struct Case {
    const char* what;
    void (*change)(base::JsonObject& plan, InstanceGroup& group);
    std::vector<std::string> refused;
};

const std::vector<Case>& cases() {
    using Json = base::JsonObject;
    static const std::vector<Case> kCases = {
        {"all of the free instances", [](Json&, InstanceGroup&) {}, {}},
        {"one more than are free", [](Json&, InstanceGroup& g) { g.count = 5; }, {"/g/count"}},
        {"another type",
         [](Json&, InstanceGroup& g) { g.instance_type = "ml.p4d.24xlarge"; },
         {"/g/instance_type"}},
        {"another zone", [](Json&, InstanceGroup& g) { g.zone = "us-west-2b"; }, {"/g/zone"}},
        {"a plan for training jobs",
         [](Json& p, InstanceGroup&) { p["TargetResources"] = base::JsonArray{"training-job"}; },
         {"/g/capacity/training_plan_arn"}},
        {"not paid for",
         [](Json& p, InstanceGroup&) { p["Status"] = "Pending"; },
         {"/g/capacity/training_plan_arn"}},
        {"failed",
         [](Json& p, InstanceGroup&) { p["Status"] = "Failed"; },
         {"/g/capacity/training_plan_arn"}},
        {"expired",
         [](Json& p, InstanceGroup&) { p["Status"] = "Expired"; },
         {"/g/capacity/training_plan_arn"}},
        {"ended, though still called Active",
         [](Json& p, InstanceGroup&) { p["EndTime"] = "2026-11-30T12:00:00Z"; },
         {"/g/capacity/training_plan_arn"}},
        {"scheduled, with all of its instances still to give",
         [](Json& p, InstanceGroup& g) {
             p["Status"] = "Scheduled";
             p["AvailableInstanceCount"] = 0;
             p["InUseInstanceCount"] = 0;
             g.count = 8;
         },
         {}},
    };
    return kCases;
}

TEST(training_plan, what_does_not_fit_is_named) {
    for (const auto& row : cases()) {
        auto plan = described();
        auto wanted = group();
        row.change(plan, wanted);
        const auto verdict = check_plan(training_plan_from(plan), wanted, wanted.count, kNow, "/g");
        std::vector<std::string> pointers;
        pointers.reserve(verdict.faults.size());
        for (const auto& fault : verdict.faults) pointers.push_back(fault.pointer);
        EXPECT_THAT(pointers, UnorderedElementsAreArray(row.refused)) << row.what;
    }
}

TEST(training_plan, a_scheduled_one_binds_and_waits) {
    auto plan = described();
    plan["Status"] = "Scheduled";
    plan["StartTime"] = "2026-12-02T00:00:00Z";
    const auto verdict = check_plan(training_plan_from(plan), group(), 4, kNow, "");
    EXPECT_THAT(verdict.faults, IsEmpty());
    ASSERT_FALSE(verdict.warnings.empty());
    EXPECT_THAT(verdict.warnings.front(), testing::HasSubstr("2026-12-02"));
}

TEST(training_plan, types_and_zones_stand_once) {
    const auto plan = training_plan_from(described());
    EXPECT_THAT(plan.types, ElementsAre("ml.p5.48xlarge"));
    EXPECT_THAT(plan.zones, ElementsAre("us-west-2a"));
}

}  // namespace
}  // namespace instantstart::domain
