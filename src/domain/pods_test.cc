#include "domain/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

InstanceGroup nodes(const std::string& type, std::int64_t count) {
    InstanceGroup group;
    group.name = "workers";
    group.instance_type = type;
    group.count = count;
    group.zone = "us-west-2a";
    return group;
}

PodNeeds needs(bool s3, bool inference) {
    PodNeeds made;
    made.s3 = s3;
    made.inference_operator = inference;
    made.whole_cluster = true;
    return made;
}

TEST(pods, fourteen_pods_are_enough_for_the_base_components_and_storage) {
    for (const char* type : {"ml.g5.xlarge", "ml.g5.2xlarge"})
        EXPECT_THAT(check_pods({nodes(type, 1)}, "/g", needs(true, false)), IsEmpty());
}

TEST(pods, the_inference_operator_counts_only_where_it_is_wanted) {
    const auto faults = check_pods({nodes("ml.g5.2xlarge", 1)}, "/g", needs(true, true));
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].pointer, "/g/0/instance_type");
    EXPECT_THAT(faults[0].message, HasSubstr("holds 14 pods a node"));
    EXPECT_THAT(faults[0].message, HasSubstr("13 of them of the inference operator"));
    EXPECT_THAT(faults[0].message, HasSubstr("choose a larger type or more nodes"));
}

TEST(pods, deployments_stand_on_all_nodes_together) {
    EXPECT_THAT(check_pods({nodes("ml.g5.2xlarge", 3)}, "/g", needs(true, true)), IsEmpty());
    EXPECT_THAT(check_pods({nodes("ml.g5.2xlarge", 1), nodes("ml.p5.48xlarge", 1)}, "/g", needs(true, true)),
                IsEmpty());
}

TEST(pods, the_smallest_type_is_the_one_that_is_named) {
    const auto faults =
        check_pods({nodes("ml.g5.xlarge", 1), nodes("ml.t3.medium", 1)}, "/g", needs(true, true));
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].pointer, "/g/1/instance_type");
}

TEST(pods, five_pods_leave_no_room_for_work) {
    EXPECT_EQ(check_pods({nodes("ml.t3.medium", 1)}, "/g", needs(false, false)).size(), 1U);
}

TEST(pods, other_nodes_may_hold_what_a_further_group_cannot) {
    auto further = needs(true, true);
    further.whole_cluster = false;
    EXPECT_THAT(check_pods({nodes("ml.g5.xlarge", 1)}, "", further), IsEmpty());
}

TEST(pods, a_group_without_nodes_needs_no_room) {
    EXPECT_THAT(check_pods({nodes("ml.t3.medium", 0)}, "/g", needs(true, true)), IsEmpty());
}

}  // namespace
}  // namespace instantstart::domain
