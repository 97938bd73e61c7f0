// An account with an EKS cluster "demo" that HyperPod accepts, for the tests of the twin's HyperPod.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "twin/aws/sagemaker/sagemaker.h"
#include "twin/aws/testing/fake_world.h"
#include "twin/kube/cluster_host.h"

namespace instantstart::twin::sagemaker {

inline const kube::Kind kNodeKind("", "nodes");
inline constexpr const char* kEksRole = "arn:aws:iam::111122223333:role/eks";
inline constexpr const char* kNodeRole = "arn:aws:iam::111122223333:role/nodes";
inline constexpr const char* kScalerRole = "arn:aws:iam::111122223333:role/scaler";

class HyperPodTest : public ::testing::Test {
protected:
    HyperPodTest() {
        host = kube::make_cluster_host(world.io().get_executor(), world.clock(), 1,
                                       [](auto, rt::Clock&, kube::ObjectStore&, double) {
                                           return std::unique_ptr<kube::Controllers>();
                                       });
        world.add(make_ec2(world));
        world.add(make_eks(world, *host));
        world.add(make_sagemaker(world, *host));
        world.iam().roles[kEksRole].trusts = {"eks.amazonaws.com"};
        world.iam().roles[kNodeRole].trusts = {"sagemaker.amazonaws.com"};
        world.iam().roles[kScalerRole].trusts = {"hyperpod.sagemaker.amazonaws.com"};
        world.quotas["ml.g5.12xlarge for cluster usage"] = 4;
        const std::string vpc =
            base::get_string(ec2("CreateVpc", {{"CidrBlock", "10.0.0.0/16"}}), "Vpc.VpcId");
        subnet_a = subnet(vpc, "10.0.0.0/20", "us-west-2a");
        subnet_b = subnet(vpc, "10.0.16.0/20", "us-west-2b");
        group = world.get<ec2::Ec2>("ec2").create_group(vpc, "demo", "demo", JsonArray());
    }

    JsonObject ec2(std::string_view operation, JsonObject params) {
        JsonObject answer = world.call("ec2", operation, std::move(params));
        world.advance(std::chrono::seconds(1));
        return answer;
    }
    std::string subnet(const std::string& vpc, std::string_view cidr, std::string_view zone) {
        return base::get_string(
            ec2("CreateSubnet", {{"VpcId", vpc}, {"CidrBlock", cidr}, {"AvailabilityZone", zone}}),
            "Subnet.SubnetId");
    }
    JsonObject eks(std::string_view operation, JsonObject params) {
        return world.call("eks", operation, std::move(params));
    }
    JsonObject hyperpod(std::string_view operation, JsonObject params) {
        return world.call("sagemaker", operation, std::move(params));
    }
    JsonObject create_eks() {
        JsonObject network{{"subnetIds", JsonArray{JsonValue(subnet_a), JsonValue(subnet_b)}},
                           {"securityGroupIds", JsonArray{JsonValue(group)}}};
        JsonObject access{{"authenticationMode", "API"}, {"bootstrapClusterCreatorAdminPermissions", false}};
        return eks("CreateCluster", {{"name", "demo"},
                                     {"roleArn", kEksRole},
                                     {"resourcesVpcConfig", network},
                                     {"accessConfig", access},
                                     {"bootstrapSelfManagedAddons", false}});
    }
    void ready_eks() {
        create_eks();
        world.advance(std::chrono::minutes(10));
        eks("CreateAddon", {{"clusterName", "demo"}, {"addonName", "vpc-cni"}});
        world.advance(std::chrono::minutes(2));
    }
    JsonObject workers(std::int64_t count, std::string_view type = "ml.g5.12xlarge") {
        return {{"InstanceGroupName", "workers"},
                {"InstanceType", type},
                {"InstanceCount", count},
                {"ExecutionRole", kNodeRole}};
    }
    JsonObject create(std::int64_t count, bool continuous = true, std::string_view type = "ml.g5.12xlarge") {
        JsonObject network{{"Subnets", JsonArray{JsonValue(subnet_a)}},
                           {"SecurityGroupIds", JsonArray{JsonValue(group)}}};
        JsonObject orchestrator{
            {"Eks", JsonObject{{"ClusterArn", "arn:aws:eks:us-west-2:111122223333:cluster/demo"}}}};
        JsonObject params{{"ClusterName", "hp"},
                          {"VpcConfig", network},
                          {"Orchestrator", orchestrator},
                          {"InstanceGroups", JsonArray{JsonValue(workers(count, type))}}};
        if (continuous) params["NodeProvisioningMode"] = "Continuous";
        return hyperpod("CreateCluster", params);
    }
    JsonObject update(JsonObject params) {
        params["ClusterName"] = "hp";
        return hyperpod("UpdateCluster", std::move(params));
    }
    // UpdateCluster of one group, and the time it takes.
    JsonObject update_group(const JsonObject& specification) {
        JsonObject answer = update({{"InstanceGroups", JsonArray{JsonValue(specification)}}});
        world.advance(std::chrono::seconds(15));
        return answer;
    }
    JsonArray nodes(bool with_logical_ids = false) {
        return base::get_array(hyperpod("ListClusterNodes",
                                        {{"ClusterName", "hp"}, {"IncludeNodeLogicalIds", with_logical_ids}}),
                               "ClusterNodeSummaries");
    }
    std::string instance(std::size_t index = 0) { return base::get_string(nodes().at(index), "InstanceId"); }
    JsonObject node(const std::string& id) {
        return base::get_object(hyperpod("DescribeClusterNode", {{"ClusterName", "hp"}, {"NodeId", id}}),
                                "NodeDetails");
    }
    kube::ObjectStore& objects() { return host->find("demo")->objects(); }
    JsonObject kube_node(const std::string& id) {
        const kube::ObjectPtr found = objects().get(kNodeKind, "", "hyperpod-" + id);
        return found == nullptr ? JsonObject() : *found;
    }
    std::string label(const std::string& id, std::string_view key) {
        const JsonObject found = kube_node(id);
        const JsonValue* value = base::get_object(found, "metadata.labels").if_contains(key);
        return value == nullptr ? "" : std::string(value->as_string());
    }
    std::vector<std::string> events(std::string_view resource) {
        std::vector<std::string> texts;
        const JsonObject answer =
            hyperpod("ListClusterEvents", {{"ClusterName", "hp"}, {"ResourceType", resource}});
        for (const JsonValue& event : base::get_array(answer, "Events"))
            texts.push_back(base::get_string(event, "Description"));
        return texts;
    }
    // The health agent as its chart installs it: on NVIDIA types of its list.
    void install_agent() {
        JsonObject term{{"matchExpressions",
                         JsonArray{JsonObject{{"key", "node.kubernetes.io/instance-type"},
                                              {"operator", "In"},
                                              {"values", JsonArray{"ml.g5.12xlarge", "ml.p5.48xlarge"}}}}}};
        JsonObject affinity{{"nodeAffinity",
                             {{"requiredDuringSchedulingIgnoredDuringExecution",
                               {{"nodeSelectorTerms", JsonArray{JsonValue(term)}}}}}}};
        JsonObject set{{"apiVersion", "apps/v1"},
                       {"kind", "DaemonSet"},
                       {"metadata", {{"name", "health-monitoring-agent"}, {"namespace", "aws-hyperpod"}}},
                       {"spec", {{"template", {{"spec", {{"affinity", affinity}}}}}}}};
        static_cast<void>(objects().create(kube::Kind("apps", "daemonsets"), std::move(set)));
    }
    base::Result<void> fail(const std::string& id, const std::string& fault,
                            std::optional<std::int64_t> code = std::nullopt) {
        return dynamic_cast<NodeControl&>(*world.service("sagemaker")).fail_node(id, fault, code);
    }
    JsonObject describe() { return hyperpod("DescribeCluster", {{"ClusterName", "hp"}}); }

    twin::testing::FakeWorld world;
    std::unique_ptr<kube::ClusterHost> host;
    std::string subnet_a, subnet_b, group;
};

}  // namespace instantstart::twin::sagemaker
