// What can happen to nodes: faults, Spot notices, deep checks, new software, plans that end.
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

constexpr const char* kHealth = "sagemaker.amazonaws.com/node-health-status";
constexpr const char* kDeep = "sagemaker.amazonaws.com/deep-health-check-status";

TEST_F(HyperPodTest, a_broken_board_is_found_by_the_agent_and_replaced_under_its_logical_id) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    const std::string before = instance(), logical = get_string(nodes(true).front(), "NodeLogicalId");
    EXPECT_TRUE(fail(before, "gpu_xid", 79).has_value());
    EXPECT_FALSE(fail("i-0", "gpu_xid", 79).has_value());
    EXPECT_FALSE(fail(before, "spot_interruption").has_value());  // no Spot instance
    world.advance(minutes(10));
    EXPECT_EQ(label(before, kHealth), "Schedulable");  // nobody looks
    install_agent();
    world.advance(seconds(70));
    EXPECT_EQ(label(before, kHealth), "UnschedulablePendingReplacement");
    EXPECT_EQ(label(before, "sagemaker.amazonaws.com/fault-reasons"), "NvidiaXid79");
    EXPECT_EQ(get_string(kube_node(before), "spec.taints.0.key"), kHealth);
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.Status"), "Degraded");
    world.advance(minutes(15));
    EXPECT_NE(instance(), before);
    EXPECT_EQ(get_string(nodes(true).front(), "NodeLogicalId"), logical);
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "Running");
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.Status"), "InService");
}

TEST_F(HyperPodTest, without_automatic_recovery_the_agent_only_labels) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    install_agent();
    update({{"NodeRecovery", "None"}});
    const std::string id = instance();
    EXPECT_TRUE(fail(id, "gpu_xid", 13).has_value());
    world.advance(hours(1));
    EXPECT_EQ(instance(), id);
    EXPECT_EQ(label(id, kHealth), "UnschedulablePendingReboot");
}

TEST_F(HyperPodTest, a_persons_label_reboots_and_the_boot_is_another) {
    ready_eks();
    create(1);
    world.advance(minutes(12));
    const std::string id = instance();
    JsonObject changed = kube_node(id);
    const std::string boot = get_string(changed, "status.nodeInfo.bootID");
    changed["metadata"].as_object()["labels"].as_object()[kHealth] = "UnschedulablePendingReboot";
    ASSERT_TRUE(objects().update(kNodeKind, std::move(changed)).has_value());
    world.advance(seconds(90));
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "Pending");
    world.advance(minutes(5));
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "Running");
    EXPECT_EQ(instance(), id);
    EXPECT_EQ(label(id, kHealth), "Schedulable");
    EXPECT_EQ(get_string(kube_node(id), "status.conditions.3.status"), "True");
    EXPECT_NE(get_string(kube_node(id), "status.nodeInfo.bootID"), boot);
}

TEST_F(HyperPodTest, spot_gives_two_minutes_and_another_instance) {
    ready_eks();
    create(0);
    world.advance(minutes(5));
    JsonObject spot = workers(1);
    spot["InstanceGroupName"] = "spot";
    spot["CapacityRequirements"] = {{"Spot", JsonObject()}};
    update_group(spot);
    world.advance(minutes(8));
    const std::string id = instance();
    JsonObject pod{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", {{"name", "train"}, {"namespace", "default"}}},
                   {"spec", {{"nodeName", "hyperpod-" + id}, {"terminationGracePeriodSeconds", 60}}}};
    ASSERT_TRUE(objects().create(kube::Kind("", "pods"), pod).has_value());
    EXPECT_TRUE(fail(id, "spot_interruption").has_value());
    EXPECT_THAT(base::to_text(kube_node(id)), HasSubstr("spot-interruption"));
    const kube::ObjectPtr leaving = objects().get(kube::Kind("", "pods"), "default", "train");
    EXPECT_EQ(get_int(*leaving, "metadata.deletionGracePeriodSeconds"), 60);
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "Running");
    world.advance(seconds(125));
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "ShuttingDown");
    EXPECT_TRUE(kube_node(id).empty());
    world.advance(minutes(12));
    EXPECT_NE(instance(), id);
    EXPECT_THAT(events("Instance"), Contains(HasSubstr("Spot interruption notice")));
}

TEST_F(HyperPodTest, deep_checks_take_two_hours_and_what_fails_is_replaced) {
    ready_eks();
    create(0);
    world.advance(minutes(5));
    JsonObject deep = workers(1);
    deep["InstanceGroupName"] = "deep";
    deep["OnStartDeepHealthChecks"] = JsonArray{"InstanceStress", "InstanceConnectivity"};
    update_group(deep);
    world.advance(minutes(8));
    const std::string id = instance();
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "DeepHealthCheckInProgress");
    EXPECT_EQ(label(id, kDeep), "InProgress");
    EXPECT_EQ(label(id, kHealth), "Unschedulable");
    EXPECT_EQ(get_string(kube_node(id), "spec.taints.0.value"), "Unschedulable");
    deep["InstanceCount"] = 2;
    EXPECT_EQ(get_string(update_group(deep), "Error"), "ConflictException");
    world.advance(hours(2));
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "Running");
    EXPECT_EQ(label(id, kDeep), "Passed");
    EXPECT_EQ(label(id, kHealth), "Schedulable");
    EXPECT_TRUE(get_array(kube_node(id), "spec.taints").empty());
    JsonObject again{{"InstanceGroupName", "deep"}, {"DeepHealthChecks", JsonArray{"InstanceStress"}}};
    JsonObject params{{"ClusterName", "hp"}, {"DeepHealthCheckConfigurations", JsonArray{JsonValue(again)}}};
    EXPECT_TRUE(hyperpod("StartClusterHealthCheck", params).contains("ClusterArn"));
    EXPECT_TRUE(fail(id, "gpu_xid", 79).has_value());
    world.advance(minutes(121));
    EXPECT_EQ(get_string(nodes().front(), "InstanceStatus.Status"), "ShuttingDown");
    world.advance(minutes(12));
    EXPECT_NE(instance(), id);
    again["InstanceIds"] = JsonArray{"i-0123"};
    params["DeepHealthCheckConfigurations"] = JsonArray{JsonValue(again)};
    EXPECT_EQ(get_string(hyperpod("StartClusterHealthCheck", params), "Error"), "ValidationException");
}

TEST_F(HyperPodTest, software_rolls_by_batches_and_back_where_a_node_breaks) {
    ready_eks();
    create(3);
    world.advance(minutes(12));
    dynamic_cast<NodeControl&>(*world.service("sagemaker")).publish_image();
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.ImageVersionStatus"), "UpdateAvailable");
    JsonObject rolling{
        {"RollingUpdatePolicy", {{"MaximumBatchSize", {{"Type", "INSTANCE_COUNT"}, {"Value", 1}}}}}};
    const JsonObject params{{"ClusterName", "hp"}, {"DeploymentConfig", rolling}};
    EXPECT_TRUE(hyperpod("UpdateClusterSoftware", params).contains("ClusterArn"));
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.SoftwareUpdateStatus"), "Pending");
    world.advance(minutes(1));
    EXPECT_EQ(get_string(describe(), "ClusterStatus"), "InService");
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.Status"), "SystemUpdating");
    const auto updating = [this] {
        std::string found;
        const JsonArray all = nodes();
        for (const JsonValue& each : all) {
            if (get_string(each, "InstanceStatus.Status") == "SystemUpdating")
                found += (found.empty() ? "" : " ") + get_string(each, "InstanceId");
        }
        return found;
    };
    EXPECT_EQ(updating().size(), 19U);  // one id
    world.advance(minutes(8));
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.TargetStateCount"), 1);
    EXPECT_TRUE(fail(updating(), "disk").has_value());
    world.advance(minutes(8));
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.SoftwareUpdateStatus"), "RollbackInProgress");
    world.advance(minutes(20));
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.SoftwareUpdateStatus"), "RollbackComplete");
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.ImageVersionStatus"), "UpdateAvailable");
    install_agent();  // which has the broken node replaced
    world.advance(minutes(20));
    EXPECT_TRUE(hyperpod("UpdateClusterSoftware", {{"ClusterName", "hp"}}).contains("ClusterArn"));
    world.advance(minutes(15));
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.SoftwareUpdateStatus"), "Succeeded");
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.ImageVersionStatus"), "UpToDate");
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.TargetStateCount"), 3);
}

TEST_F(HyperPodTest, plans_are_bought_open_and_close) {
    ready_eks();
    create(0);
    world.advance(minutes(5));
    world.quotas["ml.p5.48xlarge for cluster usage"] = 8;
    const JsonObject found =
        hyperpod("SearchTrainingPlanOfferings", {{"InstanceType", "ml.p5.48xlarge"},
                                                 {"InstanceCount", 2},
                                                 {"DurationHours", 24},
                                                 {"TargetResources", JsonArray{"hyperpod-cluster"}}});
    std::string offering;
    for (const JsonValue& each : get_array(found, "TrainingPlanOfferings")) {
        if (get_string(each, "ReservedCapacityOfferings.0.AvailabilityZone") == "us-west-2a")
            offering = get_string(each, "TrainingPlanOfferingId");
    }
    ASSERT_FALSE(offering.empty());
    const JsonObject buy{{"TrainingPlanName", "mine"}, {"TrainingPlanOfferingId", offering}};
    const std::string arn = get_string(hyperpod("CreateTrainingPlan", buy), "TrainingPlanArn");
    EXPECT_EQ(get_string(hyperpod("CreateTrainingPlan", buy), "Error"), "ResourceInUse");
    const JsonObject mine{{"TrainingPlanName", "mine"}};
    EXPECT_EQ(get_string(hyperpod("DescribeTrainingPlan", mine), "Status"), "Pending");
    world.advance(seconds(90));
    EXPECT_EQ(get_string(hyperpod("DescribeTrainingPlan", mine), "Status"), "Scheduled");
    JsonObject planned = workers(2, "ml.p5.48xlarge");
    planned["InstanceGroupName"] = "planned";
    planned["TrainingPlanArn"] = arn;
    JsonObject wrong = planned;
    wrong["InstanceType"] = "ml.g5.12xlarge";
    EXPECT_THAT(get_string(update_group(wrong), "Message"), HasSubstr("instance type"));
    wrong = planned;
    wrong["InstanceCount"] = 3;
    EXPECT_THAT(get_string(update_group(wrong), "Message"), HasSubstr("available"));
    wrong = planned;
    wrong["OverrideVpcConfig"] = {{"Subnets", JsonArray{JsonValue(subnet_b)}},
                                  {"SecurityGroupIds", JsonArray{JsonValue(group)}}};
    EXPECT_THAT(get_string(update_group(wrong), "Message"), HasSubstr("Availability Zone"));
    EXPECT_TRUE(update_group(planned).contains("ClusterArn"));
    world.advance(minutes(30));
    EXPECT_EQ(get_string(describe(), "InstanceGroups.0.TrainingPlanStatus"), "Scheduled");
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 0);
    world.advance(hours(24));
    EXPECT_EQ(get_string(hyperpod("DescribeTrainingPlan", mine), "Status"), "Active");
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 2);
    EXPECT_EQ(get_int(hyperpod("DescribeTrainingPlan", mine), "AvailableInstanceCount"), 0);
    EXPECT_EQ(get_int(hyperpod("DescribeTrainingPlan", mine), "InUseInstanceCount"), 2);
    world.advance(hours(24));
    EXPECT_EQ(get_string(hyperpod("DescribeTrainingPlan", mine), "Status"), "Expired");
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.CurrentCount"), 0);
    EXPECT_EQ(get_int(describe(), "InstanceGroups.0.TargetCount"), 2);
    EXPECT_TRUE(objects().list(kNodeKind).empty());
    const JsonObject filter{{"Name", "Status"}, {"Value", "Active"}};
    EXPECT_TRUE(get_array(hyperpod("ListTrainingPlans", {{"Filters", JsonArray{JsonValue(filter)}}}),
                          "TrainingPlanSummaries")
                    .empty());
    EXPECT_EQ(get_string(hyperpod("CreateTrainingPlan",
                                  {{"TrainingPlanName", "late"}, {"TrainingPlanOfferingId", offering}}),
                         "Error"),
              "ResourceNotFound");
}

}  // namespace
}  // namespace instantstart::twin::sagemaker
