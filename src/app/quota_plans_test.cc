// Quotas of instances: what groups of several types and of Spot use, and what more of them may take.
#include <gmock/gmock.h>

#include "app/domain_makers.h"
#include "app/preflight.h"
#include "app/small_account.h"

namespace instantstart::app {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json;

class QuotaPlans : public testing::SmallAccountPlans {
protected:
    void set(const std::string& quotas, const std::string& groups) {
        account_.quotas = json(quotas).as_array();
        account_.groups = json(groups).as_array();
    }
    base::Result<Plan> add(const std::string& body) {
        auto arguments = json(body).as_object();
        arguments["cluster"] = "demo";
        return plan(*add_, std::move(arguments));
    }
    static JsonObject row_of(const Plan& plan, std::string_view name) {
        for (const auto& row : plan.quota) {
            if (base::get_string(row, "name") == name) return row.as_object();
        }
        return {};
    }
    std::unique_ptr<Operation> add_ = make_instance_group_add();
};

constexpr const char* kSmallAndLarge =
    R"([{"QuotaName": "ml.g5.2xlarge for cluster usage", "QuotaCode": "L-1", "Value": 4},
        {"QuotaName": "ml.g5.12xlarge for cluster usage", "QuotaCode": "L-2", "Value": 3}])";
// Three instances of two types, of five that are wanted.
constexpr const char* kFlexible =
    R"([{"InstanceGroupName": "mixed", "TargetCount": 5, "CurrentCount": 3,
         "InstanceRequirements": {"DesiredInstanceTypes": ["ml.g5.2xlarge", "ml.g5.12xlarge"]},
         "InstanceTypeDetails": [{"InstanceType": "ml.g5.2xlarge", "CurrentCount": 1},
                                 {"InstanceType": "ml.g5.12xlarge", "CurrentCount": 2}]}])";

std::string flexible(int count) {
    return R"({"name": "more", "instance_types": ["ml.g5.2xlarge", "ml.g5.12xlarge"], "zone": "us-west-2a",
               "count": )" +
           std::to_string(count) + "}";
}

TEST_F(QuotaPlans, a_group_of_several_types_uses_the_quotas_of_its_nodes) {
    set(kSmallAndLarge, kFlexible);
    const auto usage = run(hyperpod_usage(call()));
    ASSERT_TRUE(usage) << usage.error().chain();
    EXPECT_EQ(usage->other,
              (std::map<std::string, std::int64_t>{{"ml.g5.2xlarge", 3}, {"ml.g5.12xlarge", 2}}));
    EXPECT_EQ(usage->total, 5);
    const auto beyond = add(R"({"name": "more", "instance_type": "ml.g5.12xlarge", "zone": "us-west-2a",
                                "count": 2})");
    ASSERT_FALSE(beyond);
    ASSERT_EQ(beyond.error().fields.size(), 1U);
    EXPECT_EQ(beyond.error().fields[0].pointer, "/count");
    EXPECT_THAT(beyond.error().fields[0].message, HasSubstr("1 free of 3"));
}

TEST_F(QuotaPlans, several_types_are_judged_together) {
    set(kSmallAndLarge, "[]");
    const auto fits = add(flexible(3));
    ASSERT_TRUE(fits) << fits.error().chain();
    EXPECT_THAT(fits->warnings, Not(Contains(HasSubstr("of each of its types"))));
    // Four of the first; of the second three are to be had should the first run out.
    const auto narrow = add(flexible(4));
    ASSERT_TRUE(narrow) << narrow.error().chain();
    EXPECT_THAT(narrow->warnings, Contains(HasSubstr("\"ml.g5.12xlarge for cluster usage\" has 3")));
    EXPECT_EQ(base::get_int(row_of(*narrow, "ml.g5.2xlarge for cluster usage"), "needed"), 4);
    const auto both = add(flexible(6));
    ASSERT_TRUE(both) << both.error().chain();
    EXPECT_EQ(base::get_int(row_of(*both, "ml.g5.12xlarge for cluster usage"), "needed"), 2);
    const auto beyond = add(flexible(8));
    ASSERT_FALSE(beyond);
    ASSERT_EQ(beyond.error().fields.size(), 1U);
    EXPECT_EQ(beyond.error().fields[0].pointer, "/count");
    for (const char* words :
         {"\"ml.g5.2xlarge for cluster usage\" has 4", "name another type", "L-1", "--desired-value 5"})
        EXPECT_THAT(beyond.error().fields[0].message, HasSubstr(words));
}

TEST_F(QuotaPlans, spot_has_a_row_of_its_own_where_aws_lists_one) {
    const char* spot = R"([{"InstanceGroupName": "cheap", "InstanceType": "ml.g5.2xlarge", "TargetCount": 3,
                            "CapacityRequirements": {"Spot": {}}, "Status": "InService",
                            "ExecutionRole": "arn:aws:iam::111122223333:role/nodes",
                            "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}}])";
    const std::string more = R"({"name": "more", "instance_type": "ml.g5.2xlarge", "zone": "us-west-2a",
                                 "count": 2)";
    const auto cheap = more + R"(, "capacity": {"type": "spot"}})";
    set(kSmallAndLarge, spot);
    EXPECT_FALSE(add(cheap)) << "one row: three of four are used";
    EXPECT_FALSE(add(more + "}"));
    set(R"([{"QuotaName": "ml.g5.2xlarge for cluster usage", "QuotaCode": "L-1", "Value": 2},
            {"QuotaName": "ml.g5.2xlarge for spot cluster usage", "QuotaCode": "L-3", "Value": 5}])",
        spot);
    const auto made = add(cheap);
    ASSERT_TRUE(made) << made.error().chain();
    const auto row = row_of(*made, "ml.g5.2xlarge for spot cluster usage");
    EXPECT_EQ(base::get_int(row, "used"), 3);
    EXPECT_EQ(base::get_int(row, "needed"), 2);
    EXPECT_THAT(row_of(*made, "ml.g5.2xlarge for cluster usage"), IsEmpty());
    EXPECT_TRUE(add(more + "}")) << "Spot does not use the other row";
    const auto update = make_instance_group_update();
    const auto grown = [this, &update](int count) {
        return plan(*update, {{"cluster", "demo"}, {"group", "cheap"}, {"count", count}});
    };
    const auto fits = grown(5);
    EXPECT_TRUE(fits) << "growth of a Spot group counts against Spot's row, too: " << fits.error().chain();
    EXPECT_FALSE(grown(6));
}

TEST(quota_row, names_of_instances_are_told_from_others) {
    EXPECT_EQ(quota_row("ml.g5.2xlarge for cluster usage").type, "ml.g5.2xlarge");
    EXPECT_FALSE(quota_row("ml.g5.2xlarge for cluster usage").spot);
    EXPECT_EQ(quota_row("ml.g5.2xlarge for spot cluster usage").type, "ml.g5.2xlarge");
    EXPECT_TRUE(quota_row("ml.g5.2xlarge for Spot cluster usage").spot);
    for (const char* name :
         {"ml.g5.2xlarge for training job usage", "ml.g5.2xlarge for reserved cluster usage",
          "Total number of SageMaker HyperPod clusters", "cluster usage"})
        EXPECT_EQ(quota_row(name).type, "") << name;
}

}  // namespace
}  // namespace instantstart::app
