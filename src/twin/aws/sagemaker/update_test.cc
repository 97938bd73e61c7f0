// Groups through UpdateCluster: what is reset, what is fixed, what takes its time.
#include "twin/aws/sagemaker/hyperpod_fixture.h"

namespace instantstart::twin::sagemaker {
namespace {

using base::get_array;
using base::get_int;
using base::get_object;
using base::get_string;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::HasSubstr;

JsonObject with(JsonObject group, std::string_view member, JsonValue value) {
    group[member] = std::move(value);
    return group;
}

JsonValue group_of(const JsonObject& cluster, std::string_view name) {
    for (const JsonValue& group : get_array(cluster, "InstanceGroups")) {
        if (get_string(group, "InstanceGroupName") == name) return group;
    }
    return JsonObject();
}

TEST_F(HyperPodTest, one_update_at_a_time) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    const JsonArray groups{JsonValue(workers(2))};
    EXPECT_TRUE(update({{"InstanceGroups", groups}}).contains("ClusterArn"));
    EXPECT_EQ(get_string(update({{"InstanceGroups", groups}}), "Error"), "ConflictException");
    EXPECT_EQ(get_string(hyperpod("UpdateClusterSoftware", {{"ClusterName", "hp"}}), "Error"),
              "ConflictException");
    world.advance(seconds(15));
    EXPECT_TRUE(update({{"InstanceGroups", groups}}).contains("ClusterArn"));
}

TEST_F(HyperPodTest, what_is_left_out_is_reset_and_other_groups_stay) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    JsonObject more = with(workers(1), "InstanceGroupName", "more");
    more["KubernetesConfig"] = {{"Labels", {{"team", "a"}}}};
    more["ThreadsPerCore"] = 2;
    more["CapacityRequirements"] = {{"Spot", JsonObject()}};
    EXPECT_TRUE(update_group(more).contains("ClusterArn"));
    world.advance(minutes(8));
    JsonValue shown = group_of(describe(), "more");
    EXPECT_EQ(get_string(shown, "KubernetesConfig.CurrentLabels.team"), "a");
    EXPECT_EQ(get_int(shown, "CurrentCount"), 1);
    const std::string id = instance(1);
    EXPECT_EQ(label(id, "team"), "a");
    EXPECT_EQ(get_string(node(id), "CapacityType"), "Spot");
    update_group(with(workers(2), "KubernetesConfig", {{"Labels", {{"team", "b"}}}}));
    EXPECT_EQ(group_of(describe(), "more"), shown);
    JsonObject bare = with(workers(1), "InstanceGroupName", "more");
    EXPECT_THAT(get_string(update_group(bare), "Message"), HasSubstr("CapacityRequirements"));
    bare["CapacityRequirements"] = {{"Spot", JsonObject()}};
    EXPECT_TRUE(update_group(bare).contains("ClusterArn"));
    shown = group_of(describe(), "more");
    EXPECT_FALSE(shown.as_object().contains("KubernetesConfig"));
    EXPECT_EQ(get_int(shown, "ThreadsPerCore"), 1);
    EXPECT_EQ(label(id, "team"), "");
}

TEST_F(HyperPodTest, labels_and_taints_are_desired_before_they_are_current) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    JsonObject config{
        {"Labels", {{"team", "a"}}},
        {"Taints", JsonArray{JsonObject{{"Key", "own"}, {"Value", "yes"}, {"Effect", "NoSchedule"}}}}};
    update({{"InstanceGroups", JsonArray{JsonValue(with(workers(1), "KubernetesConfig", config))}}});
    JsonValue shown = group_of(describe(), "workers");
    EXPECT_EQ(get_string(shown, "KubernetesConfig.DesiredLabels.team"), "a");
    EXPECT_EQ(get_string(shown, "KubernetesConfig.CurrentLabels.team"), "");
    world.advance(seconds(15));
    shown = group_of(describe(), "workers");
    EXPECT_EQ(get_string(shown, "KubernetesConfig.CurrentLabels.team"), "a");
    EXPECT_EQ(get_string(kube_node(instance()), "spec.taints.0.key"), "own");
}

TEST_F(HyperPodTest, fixed_fields_and_illegal_groups_are_refused) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    const JsonObject taints{{"Taints", JsonArray{JsonObject{{"Key", "a"}, {"Effect", "NoSchedule"}}}}};
    const JsonObject other = with(workers(1), "InstanceGroupName", "other");
    JsonObject deep = with(other, "OnStartDeepHealthChecks", JsonArray{"InstanceStress"});
    JsonObject cpu = with(deep, "InstanceType", "ml.m5.large");
    JsonObject network{{"Subnets", JsonArray{JsonValue(subnet_b)}},
                       {"SecurityGroupIds", JsonArray{JsonValue(group)}}};
    JsonObject root{{"EbsVolumeConfig", {{"RootVolume", true}, {"VolumeSizeInGB", 100}}}};
    const std::vector<std::pair<JsonObject, std::string>> cases = {
        {with(workers(1), "InstanceType", "ml.m5.large"), "InstanceType"},
        {with(workers(1), "OverrideVpcConfig", network), "OverrideVpcConfig"},
        {with(workers(1), "NetworkInterface", {{"InterfaceType", "efa-only"}}), "NetworkInterface"},
        {with(workers(1), "CapacityRequirements", {{"Spot", JsonObject()}}), "CapacityRequirements"},
        {with(deep, "KubernetesConfig", taints), "custom taints"},
        {cpu, "deep health checks are not supported on ml.m5.large"},
        {with(other, "MinInstanceCount", 3), "MinInstanceCount"},
        {with(other, "InstanceStorageConfigs", JsonArray{JsonValue(root)}), "root volume"},
        {with(other, "SlurmConfig", JsonObject{{"NodeType", "Compute"}}), "SlurmConfig"},
        {with(with(other, "InstanceType", "ml.m5.large"), "NetworkInterface",
              {{"InterfaceType", "efa-only"}}),
         "no EFA interface"}};
    const JsonObject before = describe();
    for (const auto& [specification, text] : cases) {
        const JsonObject answer = update_group(specification);
        EXPECT_EQ(get_string(answer, "Error"), "ValidationException") << text;
        EXPECT_THAT(get_string(answer, "Message"), HasSubstr(text));
    }
    EXPECT_EQ(describe(), before);
}

TEST_F(HyperPodTest, a_minimum_that_is_not_reached_rolls_back_after_three_hours) {
    ready_eks();
    world.capacities["ml.g5.12xlarge us-west-2a"] = 2;
    create(1);
    world.advance(minutes(12));
    update_group(with(workers(3), "MinInstanceCount", 3));
    JsonObject fresh = with(with(workers(1), "InstanceGroupName", "fresh"), "MinInstanceCount", 1);
    update_group(fresh);
    world.advance(minutes(10));
    EXPECT_EQ(get_string(group_of(describe(), "workers"), "Status"), "Updating");
    EXPECT_EQ(get_string(group_of(describe(), "fresh"), "Status"), "Creating");
    JsonObject add{{"InstanceGroupName", "fresh"}, {"IncrementTargetCountBy", 1}};
    world.quotas.clear();
    EXPECT_EQ(get_string(hyperpod("BatchAddClusterNodes",
                                  {{"ClusterName", "hp"}, {"NodesToAdd", JsonArray{JsonValue(add)}}}),
                         "Failed.0.ErrorCode"),
              "InvalidInstanceGroupStatus");
    world.advance(hours(3));
    const JsonValue rolled = group_of(describe(), "workers");
    EXPECT_EQ(get_string(rolled, "Status"), "InService");
    EXPECT_EQ(get_int(rolled, "TargetCount"), 1);
    EXPECT_EQ(get_int(rolled, "MinCount", 9), 0);
    world.advance(minutes(3));
    EXPECT_EQ(get_int(group_of(describe(), "workers"), "CurrentCount"), 1);
    EXPECT_THAT(events("InstanceGroup"), Contains(HasSubstr("rolled back")));
}

TEST_F(HyperPodTest, a_flexible_group_takes_types_in_order_and_gives_the_least_wanted_back) {
    ready_eks();
    create(0);
    world.advance(minutes(5));
    world.quotas["ml.g5.12xlarge for cluster usage"] = 1;
    world.quotas["ml.g5.24xlarge for cluster usage"] = 4;
    world.capacities["ml.g5.48xlarge us-west-2a"] = 0;
    JsonObject flexible{
        {"InstanceGroupName", "flexible"},
        {"InstanceCount", 2},
        {"ExecutionRole", kNodeRole},
        {"InstanceRequirements",
         {{"InstanceTypes", JsonArray{"ml.g5.48xlarge", "ml.g5.12xlarge", "ml.g5.24xlarge"}}}}};
    EXPECT_TRUE(update_group(flexible).contains("ClusterArn"));
    world.advance(minutes(10));
    const JsonValue shown = group_of(describe(), "flexible");
    EXPECT_FALSE(shown.as_object().contains("InstanceType"));
    EXPECT_EQ(get_int(shown, "InstanceTypeDetails.0.CurrentCount"), 0);
    EXPECT_EQ(get_int(shown, "InstanceTypeDetails.1.CurrentCount"), 1);
    EXPECT_EQ(get_int(shown, "InstanceTypeDetails.2.CurrentCount"), 1);
    update_group(with(flexible, "InstanceCount", 1));
    world.advance(minutes(3));
    ASSERT_EQ(nodes().size(), 1U);
    EXPECT_EQ(get_string(nodes().front(), "InstanceType"), "ml.g5.12xlarge");
}

TEST_F(HyperPodTest, nodes_are_added_once_a_token_and_removed_for_good) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    JsonObject add{{"InstanceGroupName", "workers"},
                   {"IncrementTargetCountBy", 1},
                   {"AvailabilityZones", JsonArray{"us-west-2a"}}};
    JsonObject lost{{"InstanceGroupName", "none"}, {"IncrementTargetCountBy", 1}};
    JsonObject params{{"ClusterName", "hp"},
                      {"ClientToken", "once"},
                      {"NodesToAdd", JsonArray{JsonValue(add), JsonValue(lost)}}};
    const JsonObject first = hyperpod("BatchAddClusterNodes", params);
    EXPECT_EQ(get_string(first, "Failed.0.ErrorCode"), "InstanceGroupNotFound");
    const std::string logical = get_string(first, "Successful.0.NodeLogicalId");
    ASSERT_FALSE(logical.empty());
    EXPECT_EQ(get_string(hyperpod("BatchAddClusterNodes", params), "Successful.0.NodeLogicalId"), logical);
    EXPECT_EQ(get_int(group_of(describe(), "workers"), "TargetCount"), 2);
    add["AvailabilityZones"] = JsonArray{"us-west-2c"};
    params["NodesToAdd"] = JsonArray{JsonValue(add)};
    EXPECT_EQ(get_string(hyperpod("BatchAddClusterNodes", params), "Error"), "ValidationException");
    params["ClientToken"] = "other";
    EXPECT_EQ(get_string(hyperpod("BatchAddClusterNodes", params), "Failed.0.ErrorCode"),
              "IncompatibleAvailabilityZones");
    world.advance(minutes(8));
    const JsonObject gone =
        hyperpod("BatchDeleteClusterNodes",
                 {{"ClusterName", "hp"}, {"NodeIds", JsonArray{JsonValue(instance(0)), "i-0"}}});
    EXPECT_EQ(get_string(gone, "Failed.0.Code"), "NodeIdNotFound");
    EXPECT_EQ(get_array(gone, "Successful").size(), 1U);
    world.advance(minutes(10));
    EXPECT_EQ(get_int(group_of(describe(), "workers"), "TargetCount"), 1);
    EXPECT_EQ(nodes().size(), 1U);
}

TEST_F(HyperPodTest, tiered_checkpointing_keeps_a_share_of_the_memory) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    const auto memory = [this] { return get_string(kube_node(instance()), "status.allocatable.memory"); };
    const kube::Kind daemon_sets("apps", "daemonsets");
    const std::size_t before = objects().list(daemon_sets).size();
    const std::string all = memory();
    JsonObject on{{"Mode", "Enable"}, {"InstanceMemoryAllocationPercentage", 30}};
    EXPECT_TRUE(update({{"TieredStorageConfig", on}}).contains("ClusterArn"));
    EXPECT_LT(std::stoll(memory()), std::stoll(all) * 3 / 4);
    EXPECT_EQ(objects().list(daemon_sets).size(), before + 1);
    world.advance(seconds(15));
    update_group(workers(2));
    world.advance(minutes(8));
    EXPECT_EQ(get_string(kube_node(instance(1)), "status.allocatable.memory"), memory());
    EXPECT_TRUE(update({{"TieredStorageConfig", {{"Mode", "Disable"}}}}).contains("ClusterArn"));
    EXPECT_EQ(memory(), all);
    EXPECT_EQ(objects().list(daemon_sets).size(), before);
}

TEST_F(HyperPodTest, capacity_comes_back_with_the_nodes) {
    ready_eks();
    world.capacities["ml.g5.12xlarge us-west-2a"] = 1;
    create(1);
    world.advance(minutes(12));
    EXPECT_EQ(world.capacities["ml.g5.12xlarge us-west-2a"], 0);
    update_group(workers(0));
    world.advance(minutes(5));
    EXPECT_EQ(world.capacities["ml.g5.12xlarge us-west-2a"], 1);
}

}  // namespace
}  // namespace instantstart::twin::sagemaker
