#include "domain/group_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

constexpr const char* kPlan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june";

InstanceGroup group() {
    InstanceGroup made;
    made.name = "workers";
    made.instance_type = "ml.p5.48xlarge";
    made.count = 2;
    made.zone = "us-west-2a";
    made.interface_type = "efa";
    made.subnet_id = "subnet-0123456789abcdef0";
    made.threads_per_core = 1;
    return made;
}

struct Case {
    const char* pointer;
    void (*same)(GroupChange&);
    void (*other)(GroupChange&);
};

const std::vector<Case>& cases() {
    using Change = GroupChange;
    static const std::vector<Case> kCases = {
        {"/instance_type", [](Change& c) { c.instance_type = "ml.p5.48xlarge"; },
         [](Change& c) { c.instance_type = "ml.p4d.24xlarge"; }},
        {"/instance_types", [](Change&) {},
         [](Change& c) { c.instance_types = std::vector<std::string>{"ml.p5.48xlarge"}; }},
        {"/zone", [](Change& c) { c.zone = "us-west-2a"; }, [](Change& c) { c.zone = "us-west-2b"; }},
        {"/interface_type", [](Change& c) { c.interface_type = "efa"; },
         [](Change& c) { c.interface_type = "efa-only"; }},
        {"/subnet_id", [](Change& c) { c.subnet_id = "subnet-0123456789abcdef0"; },
         [](Change& c) { c.subnet_id = "subnet-0123456789abcdef1"; }},
        {"/volume_size_gib", [](Change&) {}, [](Change& c) { c.volume_size_gib = 500; }},
        {"/threads_per_core", [](Change& c) { c.threads_per_core = 1; },
         [](Change& c) { c.threads_per_core = 2; }},
        {"/capacity/type",
         [](Change& c) {
             c.capacity.emplace();
             c.capacity->type = "on_demand";
         },
         [](Change& c) {
             c.capacity.emplace();
             c.capacity->type = "spot";
         }},
    };
    return kCases;
}

TEST(group_change, fixed_fields_may_be_named_as_they_are_only) {
    for (const auto& row : cases()) {
        GroupChange same, other;
        row.same(same);
        row.other(other);
        EXPECT_TRUE(fixed_fields(group(), same).empty()) << row.pointer;
        const auto faults = fixed_fields(group(), other);
        ASSERT_EQ(faults.size(), 1U) << row.pointer;
        EXPECT_EQ(faults[0].pointer, row.pointer);
    }
}

TEST(group_change, a_training_plan_may_be_set_changed_and_removed) {
    GroupChange set;
    set.training_plan_arn = kPlan;
    const auto bound = changed(group(), set);
    EXPECT_EQ(bound.capacity->type, "training_plan");
    EXPECT_TRUE(check_group(bound, "").empty());
    GroupChange remove;
    remove.training_plan_arn = "";
    const auto free = changed(bound, remove);
    EXPECT_EQ(free.capacity->type, "on_demand");
    EXPECT_FALSE(free.capacity->training_plan_arn.has_value());
}

TEST(group_change, a_plan_for_a_spot_group_is_refused) {
    auto spot = group();
    spot.capacity.emplace();
    spot.capacity->type = "spot";
    GroupChange set;
    set.training_plan_arn = kPlan;
    const auto faults = check_group(changed(spot, set), "");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].pointer, "/capacity/training_plan_arn");
}

TEST(group_change, only_what_is_named_changes) {
    GroupChange change;
    change.count = 5;
    const auto made = changed(group(), change);
    EXPECT_EQ(made.count, 5);
    EXPECT_EQ(made.zone, "us-west-2a");
    EXPECT_EQ(made.interface_type, "efa");
}

}  // namespace
}  // namespace instantstart::domain
