// Managed node groups: what they are made from, what their nodes carry, and capacity that runs out.
#include "twin/aws/sagemaker/hyperpod_fixture.h"

namespace instantstart::twin::eks {
namespace {

using base::get_array;
using base::get_int;
using base::get_string;
using std::chrono::minutes;
using ::testing::HasSubstr;

class NodegroupTest : public sagemaker::HyperPodTest {
protected:
    NodegroupTest() {
        world.iam().roles[kRole].trusts = {"ec2.amazonaws.com"};
        ready_eks();
    }
    JsonObject request() {
        return {
            {"clusterName", "demo"},
            {"nodegroupName", "system"},
            {"subnets", JsonArray{JsonValue(subnet_a)}},
            {"nodeRole", kRole},
            {"instanceTypes", JsonArray{"m5.large", "m5.xlarge"}},
            {"capacityType", "SPOT"},
            {"labels", {{"pool", "system"}}},
            {"taints", JsonArray{JsonObject{{"key", "own"}, {"value", "yes"}, {"effect", "NO_SCHEDULE"}}}},
            {"scalingConfig", {{"minSize", 0}, {"maxSize", 3}, {"desiredSize", 1}}}};
    }
    JsonObject group_now() {
        const JsonObject answer =
            eks("DescribeNodegroup", {{"clusterName", "demo"}, {"nodegroupName", "system"}});
        return answer.contains("nodegroup") ? base::get_object(answer, "nodegroup") : answer;
    }
    std::vector<kube::ObjectPtr> kube_nodes() { return objects().list(sagemaker::kNodeKind); }
    static constexpr const char* kRole = "arn:aws:iam::111122223333:role/ec2-nodes";
};

TEST_F(NodegroupTest, nodes_carry_labels_taints_and_the_templates_groups) {
    const JsonObject made =
        ec2("CreateLaunchTemplate",
            {{"LaunchTemplateName", "system"},
             {"LaunchTemplateData", {{"SecurityGroupIds", JsonArray{JsonValue(group)}}}}});
    JsonObject params = request();
    params["launchTemplate"] = {{"name", "system"}};
    params["diskSize"] = 50;
    EXPECT_THAT(get_string(eks("CreateNodegroup", params), "Message"), HasSubstr("Disk size"));
    params.erase("diskSize");
    params["launchTemplate"] = {{"name", "other"}};
    EXPECT_EQ(get_string(eks("CreateNodegroup", params), "Error"), "InvalidRequestException");
    params["launchTemplate"] = {{"name", "system"}, {"version", "7"}};
    EXPECT_EQ(get_string(eks("CreateNodegroup", params), "Error"), "InvalidRequestException");
    params["launchTemplate"] = {{"name", "system"}};
    EXPECT_EQ(get_string(eks("CreateNodegroup", params), "nodegroup.launchTemplate.id"),
              get_string(made, "LaunchTemplate.LaunchTemplateId"));
    EXPECT_FALSE(group_now().contains("diskSize"));
    world.advance(minutes(3));
    EXPECT_EQ(get_string(group_now(), "status"), "ACTIVE");
    ASSERT_EQ(kube_nodes().size(), 1U);
    const std::string text = base::to_text(*kube_nodes().front());
    EXPECT_THAT(text, HasSubstr(R"("pool":"system")"));
    EXPECT_THAT(text, HasSubstr(R"("eks.amazonaws.com/capacityType":"SPOT")"));
    EXPECT_THAT(text, HasSubstr(R"("effect":"NoSchedule")"));
    JsonObject update{
        {"clusterName", "demo"},
        {"nodegroupName", "system"},
        {"labels", {{"removeLabels", JsonArray{"pool"}}, {"addOrUpdateLabels", {{"tier", "a"}}}}},
        {"taints", {{"removeTaints", get_array(group_now(), "taints")}}}};
    EXPECT_EQ(get_string(eks("UpdateNodegroupConfig", update), "update.status"), "InProgress");
    world.advance(minutes(2));
    const std::string after = base::to_text(*kube_nodes().front());
    EXPECT_THAT(after, HasSubstr(R"("tier":"a")"));
    EXPECT_THAT(after, ::testing::Not(HasSubstr(R"("pool":"system")")));
    EXPECT_THAT(after, ::testing::Not(HasSubstr(R"("key":"own")")));
}

TEST_F(NodegroupTest, sizes_out_of_order_are_refused) {
    JsonObject params = request();
    params["scalingConfig"] = {{"minSize", 2}, {"maxSize", 3}, {"desiredSize", 1}};
    EXPECT_THAT(get_string(eks("CreateNodegroup", params), "Message"), HasSubstr("Minimum capacity 2"));
    params["scalingConfig"] = {{"minSize", 0}, {"maxSize", 1}, {"desiredSize", 2}};
    EXPECT_THAT(get_string(eks("CreateNodegroup", params), "Message"), HasSubstr("desired capacity 2"));
}

TEST_F(NodegroupTest, without_capacity_a_new_group_fails_and_an_older_one_is_degraded_until_it_comes_back) {
    for (const char* type : {"ml.m5.large us-west-2a", "ml.m5.xlarge us-west-2a"}) world.capacities[type] = 0;
    eks("CreateNodegroup", request());
    world.advance(minutes(5));
    EXPECT_EQ(get_string(group_now(), "status"), "CREATING");
    EXPECT_EQ(get_string(group_now(), "health.issues.0.code"), "AsgInstanceLaunchFailures");
    world.advance(minutes(15));
    EXPECT_EQ(get_string(group_now(), "status"), "CREATE_FAILED");
    eks("DeleteNodegroup", {{"clusterName", "demo"}, {"nodegroupName", "system"}});
    world.advance(minutes(5));
    world.capacities["ml.m5.xlarge us-west-2a"] = 1;
    eks("CreateNodegroup", request());
    world.advance(minutes(3));
    EXPECT_EQ(get_string(group_now(), "status"), "ACTIVE");
    EXPECT_THAT(base::to_text(*kube_nodes().front()), HasSubstr("m5.xlarge"));
    eks("UpdateNodegroupConfig",
        {{"clusterName", "demo"}, {"nodegroupName", "system"}, {"scalingConfig", {{"desiredSize", 2}}}});
    world.advance(minutes(3));
    EXPECT_EQ(get_string(group_now(), "status"), "DEGRADED");
    world.capacities.clear();
    world.advance(minutes(2));
    EXPECT_EQ(get_string(group_now(), "status"), "ACTIVE");
    EXPECT_EQ(kube_nodes().size(), 2U);
    EXPECT_TRUE(get_array(group_now(), "health.issues").empty());
}

}  // namespace
}  // namespace instantstart::twin::eks
