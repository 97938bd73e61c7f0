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

struct Case {
    const char* what;
    void (*change)(InstanceGroup&);
    std::vector<std::string> refused;  // pointers, all of them and no others
};

void set_capacity(InstanceGroup& group, const char* type, bool plan) {
    group.capacity.emplace();
    group.capacity->type = type;
    if (plan) group.capacity->training_plan_arn = "arn:aws:sagemaker:us-west-2:1:training-plan/plan";
}

void add_taint(InstanceGroup& group) {
    group.taints.emplace();
    group.taints->emplace_back();
}

const std::vector<Case>& cases() {
    using Group = InstanceGroup;
    static const std::vector<Case> kCases = {
        {"a minimum above the count", [](Group& g) { g.min_count = 3; }, {"/g/min_count"}},
        {"a minimum equal to the count", [](Group& g) { g.min_count = 2; }, {}},
        {"a type twice",
         [](Group& g) {
             g.instance_type.reset();
             g.instance_types = {"ml.g5.xlarge", "ml.g5.xlarge"};
         },
         {"/g/instance_types/1"}},
        {"no type at all", [](Group& g) { g.instance_type.reset(); }, {"/g/instance_type"}},
        {"type and types", [](Group& g) { g.instance_types = {"ml.g5.xlarge"}; }, {"/g/instance_type"}},
        {"Spot", [](Group& g) { set_capacity(g, "spot", false); }, {}},
        {"Spot with a training plan",
         [](Group& g) { set_capacity(g, "spot", true); },
         {"/g/capacity/training_plan_arn"}},
        {"on demand with a training plan",
         [](Group& g) { set_capacity(g, "on_demand", true); },
         {"/g/capacity/training_plan_arn"}},
        {"a training plan of a type that has none",
         [](Group& g) { set_capacity(g, "training_plan", true); },
         {"/g/instance_type"}},
        {"a training plan without its ARN",
         [](Group& g) {
             g.instance_type = "ml.p5.48xlarge";
             set_capacity(g, "training_plan", false);
         },
         {"/g/capacity/training_plan_arn"}},
        {"a training plan for two types",
         [](Group& g) {
             g.instance_type.reset();
             g.instance_types = {"ml.p5.48xlarge", "ml.p5e.48xlarge"};
             set_capacity(g, "training_plan", true);
         },
         {"/g/instance_types"}},
        {"autoscaled with a training plan",
         [](Group& g) {
             g.instance_type = "ml.p5.48xlarge";
             g.count = 0;
             g.autoscaled = true;
             set_capacity(g, "training_plan", true);
         },
         {"/g/autoscaled"}},
        {"autoscaled with deep checks",
         [](Group& g) {
             g.count = 0;
             g.autoscaled = true;
             g.deep_health_checks = {"InstanceStress"};
         },
         {"/g/autoscaled"}},
        {"autoscaled with Arm processors",
         [](Group& g) {
             g.instance_type = "ml.p6e-gb200.36xlarge";
             g.count = 0;
             g.autoscaled = true;
         },
         {"/g/autoscaled"}},
        {"deep checks on Inferentia, which HyperPod does not have",
         [](Group& g) {
             g.instance_type = "ml.inf2.8xlarge";
             g.deep_health_checks = {"InstanceStress"};
         },
         {"/g/instance_type"}},
        {"autoscaled with a count", [](Group& g) { g.autoscaled = true; }, {"/g/count"}},
        {"deep checks with taints",
         [](Group& g) {
             g.deep_health_checks = {"InstanceStress"};
             add_taint(g);
         },
         {"/g/taints"}},
        {"deep checks on a type without accelerators",
         [](Group& g) {
             g.instance_type = "ml.c5.xlarge";
             g.deep_health_checks = {"InstanceStress"};
         },
         {"/g/deep_health_checks"}},
        {"deep checks on Trainium",
         [](Group& g) {
             g.instance_type = "ml.trn1.32xlarge";
             g.deep_health_checks = {"InstanceConnectivity"};
         },
         {}},
        {"EFA on a type without it",
         [](Group& g) {
             g.instance_type = "ml.g5.xlarge";
             g.interface_type = "efa-only";
         },
         {"/g/interface_type"}},
        {"a key without a volume",
         [](Group& g) { g.kms_key_arn = "arn:aws:kms:us-west-2:1:key/1"; },
         {"/g/kms_key_arn"}},
        {"security groups without a subnet",
         [](Group& g) { g.security_group_ids = {"sg-0123456789abcdef0"}; },
         {"/g/security_group_ids"}},
        {"a script that nodes cannot read",
         [](Group& g) { g.lifecycle_script = "s3://other/x.sh"; },
         {"/g/lifecycle_script"}},
        {"two threads on a type with one a core",
         [](Group& g) {
             g.instance_type = "ml.p6e-gb200.36xlarge";
             g.threads_per_core = 2;
         },
         {"/g/threads_per_core"}},
    };
    return kCases;
}

TEST(instance_group, impossible_combinations_are_named) {
    for (const auto& row : cases()) {
        auto group = workers();
        row.change(group);
        EXPECT_THAT(pointers(group), testing::UnorderedElementsAreArray(row.refused)) << row.what;
    }
}

TEST(instance_group, the_interface_mode_decides_how_many_addresses_a_node_takes) {
    auto group = workers();
    group.instance_type = "ml.p5.48xlarge";
    group.interface_type = "efa-only";
    EXPECT_EQ(addresses_per_node(group), 50);
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
