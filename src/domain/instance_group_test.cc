#include "domain/instance_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

using testing::Contains;
using testing::IsEmpty;

InstanceGroup workers() {
    InstanceGroup group;
    group.name = "workers";
    group.instance_type = "ml.g5.12xlarge";
    group.count = 2;
    group.zone = "us-west-2a";
    return group;
}

std::vector<std::string> pointers(const InstanceGroup& group) {
    std::vector<std::string> list;
    for (const auto& fault : check_group(group, "/g")) list.push_back(fault.pointer);
    return list;
}

TEST(instance_group, a_plain_group_is_fine) {
    EXPECT_THAT(pointers(workers()), IsEmpty());
}

TEST(instance_group, exactly_one_of_type_and_types) {
    auto group = workers();
    group.instance_types = {"ml.g5.12xlarge"};
    EXPECT_THAT(pointers(group), Contains("/g/instance_type"));
    group.instance_type.reset();
    group.instance_types.reset();
    EXPECT_THAT(pointers(group), Contains("/g/instance_type"));
}

TEST(instance_group, unknown_type_names_the_nearest) {
    auto group = workers();
    group.instance_type = "ml.g5.12xlage";
    const auto faults = check_group(group, "");
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].did_you_mean, "ml.g5.12xlarge");
}

TEST(instance_group, impossible_combinations_are_named) {
    auto group = workers();
    group.min_count = 3;
    group.deep_health_checks = {"InstanceStress"};
    group.taints.emplace();
    group.taints->emplace_back();
    group.autoscaled = true;
    group.kms_key_arn = "arn";
    group.lifecycle_script = "s3://other/x.sh";
    const auto list = pointers(group);
    for (const char* pointer : {"/g/min_count", "/g/taints", "/g/autoscaled", "/g/count", "/g/kms_key_arn",
                                "/g/lifecycle_script"}) {
        EXPECT_THAT(list, Contains(pointer));
    }
}

TEST(instance_group, capacity_and_plan_go_together) {
    auto group = workers();
    group.capacity.emplace();
    group.capacity->type = "training_plan";
    EXPECT_THAT(pointers(group), Contains("/g/capacity/training_plan_arn"));
    group.capacity->type = "spot";
    group.capacity->training_plan_arn = "arn";
    EXPECT_THAT(pointers(group), Contains("/g/capacity/training_plan_arn"));
}

TEST(instance_group, names_occur_once) {
    const auto faults = check_groups({workers(), workers()}, "/instance_groups", {});
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].pointer, "/instance_groups/1/name");
}

TEST(instance_group, a_p5_node_can_take_81_addresses) {
    auto group = workers();
    group.instance_type = "ml.p5.48xlarge";
    EXPECT_EQ(addresses_per_node(group), 81);
}

}  // namespace
}  // namespace instantstart::domain
