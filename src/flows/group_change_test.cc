#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/instance_group.h"
#include "flows/group_change_steps.h"
#include "flows/node_group_steps.h"
#include "flows/software_steps.h"

namespace instantstart::flows {
namespace {

JsonObject parsed(const char* text) {
    return base::parse_json(text).value().as_object();
}

// As SageMaker describes a group with everything that a group can have.
JsonObject described() {
    return parsed(R"({"InstanceGroupName": "w", "TargetCount": 3, "CurrentCount": 2, "MinCount": 1,
        "InstanceType": "ml.g5.12xlarge", "ExecutionRole": "arn:role", "ThreadsPerCore": 2, "Status": "InService",
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-a/", "OnCreate": "on.sh"},
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "CapacityRequirements": {"Spot": {}}, "NetworkInterface": {"InterfaceType": "efa"},
        "DesiredImageId": "ami-0123456789abcdef0", "CurrentImageId": "ami-0123456789abcdef0",
        "KubernetesConfig": {"CurrentLabels": {"a": "old"}, "DesiredLabels": {"a": "b"},
                             "DesiredTaints": [{"Key": "k", "Value": "v", "Effect": "NoSchedule"}]}})");
}

TEST(group_change, nothing_of_a_group_is_lost_on_the_way_back) {
    const auto sent = specification_of(described());
    EXPECT_EQ(sent, parsed(R"({"InstanceCount": 3, "InstanceGroupName": "w", "InstanceType": "ml.g5.12xlarge",
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-a/", "OnCreate": "on.sh"}, "ExecutionRole": "arn:role",
        "ThreadsPerCore": 2, "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        "OverrideVpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "CapacityRequirements": {"Spot": {}}, "NetworkInterface": {"InterfaceType": "efa"}, "MinInstanceCount": 1,
        "ImageId": "ami-0123456789abcdef0",
        "KubernetesConfig": {"Labels": {"a": "b"},
                             "Taints": [{"Key": "k", "Value": "v", "Effect": "NoSchedule"}]}})"));
}

TEST(group_change, a_flexible_group_keeps_its_types) {
    auto details = described();
    details.erase("InstanceType");
    details["InstanceRequirements"] =
        parsed(R"({"DesiredInstanceTypes": ["ml.g5.xlarge", "ml.g5.2xlarge"]})");
    const auto sent = specification_of(details);
    EXPECT_FALSE(sent.contains("InstanceType"));
    EXPECT_EQ(base::get_array(sent, "InstanceRequirements.InstanceTypes").size(), 2U);
}

struct Case {
    const char* what;
    const char* changes;
    const char* path;      // where in the specification
    const char* expected;  // JSON; "" for absent
};

TEST(group_change, only_what_is_named_changes) {
    constexpr Case kCases[] = {
        {"the count", R"({"count": 5})", "InstanceCount", "5"},
        {"the minimum", R"({"min_count": 3})", "MinInstanceCount", "3"},
        {"labels", R"({"labels": {"x": "y"}})", "KubernetesConfig.Labels", R"({"x": "y"})"},
        {"no labels", R"({"labels": {}})", "KubernetesConfig.Labels", "{}"},
        {"taints", R"({"taints": [{"key": "t", "effect": "NoExecute"}]})", "KubernetesConfig.Taints",
         R"([{"Key": "t", "Effect": "NoExecute"}])"},
        {"deep checks", R"({"deep_health_checks": ["InstanceStress"]})", "OnStartDeepHealthChecks",
         R"(["InstanceStress"])"},
        {"a training plan", R"({"training_plan_arn": "arn:plan"})", "TrainingPlanArn", R"("arn:plan")"},
        {"a script", R"({"lifecycle_script": "s3://sagemaker-b/x/y.sh"})", "LifeCycleConfig",
         R"({"SourceS3Uri": "s3://sagemaker-b/x/", "OnCreate": "y.sh"})"},
    };
    for (const auto& row : kCases) {
        const auto changes = parsed(row.changes);
        const auto sent = changed_specification(described(), changes);
        const auto* found = base::find_path(sent, row.path);
        ASSERT_NE(found, nullptr) << row.what;
        EXPECT_EQ(*found, base::parse_json(row.expected).value()) << row.what;
        EXPECT_FALSE(is_as_asked(described(), changes)) << row.what;
        EXPECT_EQ(base::get_string(sent, "NetworkInterface.InterfaceType"), "efa") << row.what;
    }
}

TEST(group_change, what_is_as_asked_needs_no_call) {
    for (const char* changes : {R"({})", R"({"count": 3})", R"({"min_count": 1, "labels": {"a": "b"}})",
                                R"({"training_plan_arn": ""})", R"({"deep_health_checks": []})",
                                R"({"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]})",
                                R"({"lifecycle_script": "s3://sagemaker-a/on.sh"})"}) {
        EXPECT_TRUE(is_as_asked(described(), parsed(changes))) << changes;
    }
}

TEST(group_change, a_plan_is_removed_by_leaving_it_out) {
    auto details = described();
    details.erase("CapacityRequirements");
    details["TrainingPlanArn"] = "arn:plan";
    const auto changes = parsed(R"({"training_plan_arn": ""})");
    EXPECT_FALSE(is_as_asked(details, changes));
    EXPECT_FALSE(changed_specification(details, changes).contains("TrainingPlanArn"));
}

TEST(group_change, the_mark_of_an_autoscaled_group_outlives_new_labels) {
    auto details = described();
    JsonObject labels{{"a", "b"}};
    labels[domain::kAutoscaledLabel] = "true";
    details["KubernetesConfig"] = JsonObject{{"DesiredLabels", std::move(labels)}};
    const auto sent = changed_specification(details, parsed(R"({"labels": {"x": "y"}})"));
    const auto& kept = base::get_object(sent, "KubernetesConfig.Labels");
    EXPECT_EQ(kept.size(), 2U);
    EXPECT_TRUE(kept.contains(domain::kAutoscaledLabel));
}

TEST(group_change, the_mark_of_an_autoscaled_group_comes_and_goes_by_its_own_field) {
    auto details = described();
    const auto marked = changed_specification(details, parsed(R"({"autoscaled": true})"));
    const auto& labels = base::get_object(marked, "KubernetesConfig.Labels");
    EXPECT_EQ(labels.size(), 2U);
    EXPECT_TRUE(labels.contains("a"));
    EXPECT_TRUE(labels.contains(domain::kAutoscaledLabel));
    EXPECT_TRUE(is_as_asked(details, parsed(R"({"autoscaled": false})")));
    details["KubernetesConfig"] = JsonObject{{"DesiredLabels", labels}};
    EXPECT_TRUE(is_as_asked(details, parsed(R"({"autoscaled": true})")));
    const auto bare = changed_specification(details, parsed(R"({"count": 4, "autoscaled": false})"));
    EXPECT_EQ(base::get_object(bare, "KubernetesConfig.Labels"), parsed(R"({"a": "b"})"));
    EXPECT_EQ(base::get_int(bare, "InstanceCount"), 4);
}

TEST(node_group, only_differences_are_sent) {
    const auto now = parsed(R"({"scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 2},
        "labels": {"a": "1", "b": "2"}, "taints": [{"key": "k", "effect": "NO_SCHEDULE"}]})");
    StepCall call;
    call.params = parsed(R"({"eks_cluster": "demo", "node_group": "pods",
        "changes": {"count": 3, "labels": {"a": "1", "c": "3"}, "taints": []}})");
    const auto request = node_group_change_request(call, now);
    EXPECT_EQ(base::get_object(request, "scalingConfig"),
              parsed(R"({"minSize": 1, "maxSize": 3, "desiredSize": 3})"));
    EXPECT_EQ(base::get_object(request, "labels"),
              parsed(R"({"addOrUpdateLabels": {"c": "3"}, "removeLabels": ["b"]})"));
    EXPECT_EQ(base::get_object(request, "taints"),
              parsed(R"({"removeTaints": [{"key": "k", "effect": "NO_SCHEDULE"}]})"));
    EXPECT_TRUE(node_group_is_as_asked(now, parsed(R"({"count": 2, "labels": {"b": "2", "a": "1"}})")));
    EXPECT_FALSE(node_group_is_as_asked(now, parsed(R"({"max_count": 4})")));
}

TEST(software, groups_are_always_named) {
    StepCall call;
    call.params =
        parsed(R"({"hyperpod_name": "demo", "groups_to_update": ["a", "b"], "max_batch_percent": 20})");
    const auto request = software_request(call);
    EXPECT_EQ(base::get_array(request, "InstanceGroups").size(), 2U);
    EXPECT_EQ(base::get_int(request, "DeploymentConfig.RollingUpdatePolicy.MaximumBatchSize.Value"), 20);
    EXPECT_FALSE(request.contains("ImageId"));
}

}  // namespace
}  // namespace instantstart::flows
