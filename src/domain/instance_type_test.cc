#include "domain/instance_type.h"

#include <gtest/gtest.h>

namespace instantstart::domain {
namespace {

TEST(InstanceType, known_type_has_its_hardware) {
    const auto* type = find_instance_type("ml.g5.12xlarge");
    ASSERT_NE(type, nullptr);
    EXPECT_EQ(type->accelerators, 4);
    EXPECT_EQ(type->accelerator_resource, "nvidia.com/gpu");
    EXPECT_EQ(type->max_pods, 49);
    EXPECT_EQ(type->ec2_name(), "g5.12xlarge");
}

TEST(InstanceType, unknown_type_is_null) {
    EXPECT_EQ(find_instance_type("p5.48xlarge"), nullptr);
    EXPECT_EQ(find_instance_type(""), nullptr);
}

TEST(InstanceType, every_type_can_run_pods) {
    for (const auto& type : instance_types()) EXPECT_GT(type.max_pods, 0) << type.name;
}

}  // namespace
}  // namespace instantstart::domain
