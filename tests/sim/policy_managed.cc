// The policy story's chapters on managed features, FSx and prices.
#include "policy_story.h"

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

constexpr const char* kFeatures = "/clusters/phoenix/features";

JsonObject wish(const char* feature, bool enabled, JsonObject settings = {}) {
    settings["enabled"] = enabled;
    JsonObject body{{feature, std::move(settings)}};
    if (!enabled) body["confirm"] = "phoenix";
    return body;
}

JsonArray tags_of_phoenix() {
    return {JsonObject{{"Key", "instantstart:cluster"}, {"Value", "phoenix"}},
            JsonObject{{"Key", "instantstart:region"}, {"Value", "us-west-2"}}};
}

}  // namespace

// A server, an app and a workspace that the cluster's deletion has to take along.
void PolicyStory::leave_managed_things() {
    does("feature.update", "PATCH", kFeatures, wish("mlflow", true, {{"kind", "app"}}));
    if (refusal_) return;
    simulation_.admin(
        "sagemaker", "CreateMlflowTrackingServer",
        {{"TrackingServerName", "phoenix-mlflow"},
         {"ArtifactStoreUri", "s3://sagemaker-phoenix-111122223333-us-west-2/mlflow"},
         {"RoleArn", "arn:aws:iam::" + account_ + ":role/instantstart-phoenix-us-west-2-mlflow"},
         {"Tags", tags_of_phoenix()}});
    simulation_.admin(
        "amp", "CreateWorkspace",
        {{"alias", "instantstart-phoenix"},
         {"tags", JsonObject{{"instantstart:cluster", "phoenix"}, {"instantstart:region", "us-west-2"}}}});
    simulation_.pass(std::chrono::minutes(40));
}

void PolicyStory::use_mlflow() {
    does("price.list", "GET", "/prices?instance_type=ml.m5.4xlarge");
    does("feature.list", "GET", kFeatures);
    does("feature.update", "PATCH", kFeatures, wish("mlflow", true));
    does("mlflow.open", "POST", "/clusters/phoenix/mlflow/open");
    does("feature.update", "PATCH", kFeatures, wish("mlflow", false));
    does("feature.update", "PATCH", kFeatures, wish("mlflow", true, {{"kind", "tracking_server"}}));
    if (refusal_) return;
    simulation_.admin("sagemaker", "StopMlflowTrackingServer", {{"TrackingServerName", "phoenix-mlflow"}});
    simulation_.pass(std::chrono::minutes(30));
    does("feature.update", "PATCH", kFeatures, wish("mlflow", true, {{"kind", "tracking_server"}}));
    does("mlflow.open", "POST", "/clusters/phoenix/mlflow/open");
    does("feature.update", "PATCH", kFeatures, wish("mlflow", false));
}

void PolicyStory::use_managed_features() {
    auto large = group("large", "us-west-2a");
    large["instance_type"] = "ml.m5.4xlarge";
    does("instance_group.add", "POST", "/clusters/phoenix/instance-groups", large);
    does("feature.update", "PATCH", kFeatures, wish("observability", true));
    does("feature.update", "PATCH", kFeatures, wish("observability", false));
    does("feature.update", "PATCH", kFeatures, wish("task_governance", true));
    does("feature.update", "PATCH", kFeatures, wish("task_governance", false));
    auto burst = group("burst", "us-west-2a");
    burst["count"] = 0;
    burst["autoscaled"] = true;
    does("instance_group.add", "POST", "/clusters/phoenix/instance-groups", burst);
    does("feature.update", "PATCH", kFeatures,
         wish("autoscaling", true, {{"instance_groups", JsonArray{"burst"}}}));
    does("feature.update", "PATCH", kFeatures, wish("autoscaling", false));
}

void PolicyStory::mount_a_file_system() {
    if (refusal_) return;
    const auto hyperpod = simulation_.admin("sagemaker", "DescribeCluster", {{"ClusterName", "phoenix"}});
    const auto& groups = base::get_array(hyperpod, "InstanceGroups");
    if (groups.empty()) return;
    const auto& network = base::get_object(groups.front(), "OverrideVpcConfig");
    const auto nodes = base::get_array(network, "SecurityGroupIds").front();
    // A group of its own lets the nodes in; the way back is ours to open.
    const auto eks = simulation_.admin("eks", "DescribeCluster", {{"name", "phoenix"}});
    const auto made =
        simulation_.admin("ec2", "CreateSecurityGroup",
                          {{"GroupName", "files"},
                           {"Description", "files"},
                           {"VpcId", base::get_string(eks, "cluster.resourcesVpcConfig.vpcId")}});
    const auto files = base::get_string(made, "GroupId");
    simulation_.pass(std::chrono::seconds(2));
    const JsonObject open{{"IpProtocol", "tcp"},
                          {"FromPort", 988},
                          {"ToPort", 1023},
                          {"UserIdGroupPairs", JsonArray{JsonObject{{"GroupId", nodes}}}}};
    simulation_.admin("ec2", "AuthorizeSecurityGroupIngress",
                      {{"GroupId", files}, {"IpPermissions", JsonArray{open}}});
    const auto system =
        simulation_.admin("fsx", "CreateFileSystem",
                          {{"FileSystemType", "LUSTRE"},
                           {"StorageCapacity", 1200},
                           {"SubnetIds", JsonArray{base::get_array(network, "Subnets").front()}},
                           {"SecurityGroupIds", JsonArray{JsonValue(files)}},
                           {"LustreConfiguration", {{"DeploymentType", "SCRATCH_2"}}}});
    const auto id = base::get_string(system, "FileSystem.FileSystemId");
    simulation_.pass(std::chrono::minutes(20));
    does("storage.create", "POST", "/clusters/phoenix/storages",
         {{"name", "files"}, {"kind", "fsx_lustre"}, {"file_system_id", id}});
    does("storage.delete", "DELETE", "/clusters/phoenix/storages/files", {{"confirm", "files"}});
    // The user takes his own things away, before the cluster's network goes.
    simulation_.admin("fsx", "DeleteFileSystem", {{"FileSystemId", id}});
    simulation_.pass(std::chrono::minutes(20));
    simulation_.admin("ec2", "DeleteSecurityGroup", {{"GroupId", files}});
}

}  // namespace instantstart::sim
