// Load balancers of Services on a fake account with an EKS cluster whose objects nobody moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "twin/aws/ec2/ec2.h"
#include "twin/aws/services.h"
#include "twin/aws/testing/fake_world.h"
#include "twin/kube/cluster_host.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin {
namespace {

using base::get_string;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

const kube::Kind kServices("", "services");
constexpr const char* kRole = "arn:aws:iam::111122223333:role/eks";

class ServiceBalancersTest : public ::testing::Test {
protected:
    ServiceBalancersTest() {
        host = kube::make_cluster_host(world.io().get_executor(), world.clock(), 1,
                                       [](auto, rt::Clock&, kube::ObjectStore&, double) {
                                           return std::unique_ptr<kube::Controllers>();
                                       });
        world.add(make_ec2(world));
        world.add(make_eks(world, *host));
        world.add(make_elbv2(world));
        world.iam().roles[kRole].trusts = {"eks.amazonaws.com"};
        const auto vpc = world.call("ec2", "CreateVpc", {{"CidrBlock", "10.0.0.0/16"}});
        world.advance(seconds(1));
        for (const auto& [cidr, zone] :
             {std::pair("10.0.0.0/20", "us-west-2a"), std::pair("10.0.16.0/20", "us-west-2b")}) {
            const auto made = world.call(
                "ec2", "CreateSubnet",
                {{"VpcId", get_string(vpc, "Vpc.VpcId")}, {"CidrBlock", cidr}, {"AvailabilityZone", zone}});
            subnets.emplace_back(get_string(made, "Subnet.SubnetId"));
            world.advance(seconds(1));
        }
        world.call("eks", "CreateCluster",
                   {{"name", "demo"},
                    {"roleArn", kRole},
                    {"resourcesVpcConfig", JsonObject{{"subnetIds", subnets}}},
                    {"accessConfig", JsonObject{{"authenticationMode", "API"}}},
                    {"bootstrapSelfManagedAddons", false}});
        world.advance(minutes(15));
    }
    kube::ObjectStore& objects() { return host->find("demo")->objects(); }
    void tag_subnets(const char* key) {
        world.call("ec2", "CreateTags",
                   {{"Resources", subnets}, {"Tags", JsonArray{JsonObject{{"Key", key}, {"Value", "1"}}}}});
    }
    void start_controller() {
        ASSERT_TRUE(objects().create(
            kube::Kind("apps", "deployments"),
            JsonObject{{"metadata",
                        JsonObject{{"name", "aws-load-balancer-controller"}, {"namespace", "kube-system"}}},
                       {"status", JsonObject{{"availableReplicas", 1}}}}));
    }
    void service(const std::string& name, JsonObject annotations = {}) {
        const JsonArray ports{JsonObject{{"port", 80}, {"protocol", "TCP"}}};
        ASSERT_TRUE(objects().create(
            kServices, JsonObject{{"metadata", JsonObject{{"name", name},
                                                          {"namespace", "default"},
                                                          {"annotations", std::move(annotations)}}},
                                  {"spec", JsonObject{{"type", "LoadBalancer"}, {"ports", ports}}}}));
    }
    std::string host_name(const std::string& name) {
        const auto found = objects().get(kServices, "default", name);
        return found ? get_string(*found, "status.loadBalancer.ingress.0.hostname") : "(gone)";
    }
    std::string event(const std::string& reason) {
        for (const auto& one : objects().list(kube::Kind("", "events"))) {
            if (get_string(*one, "reason") == reason) return get_string(*one, "message");
        }
        return {};
    }
    JsonArray balancers() {
        return base::get_array(world.call("elbv2", "DescribeLoadBalancers", {}), "LoadBalancers");
    }

    testing::FakeWorld world;
    std::unique_ptr<kube::ClusterHost> host;
    JsonArray subnets;
};

TEST_F(ServiceBalancersTest, without_the_controller_a_service_gets_a_classic_name) {
    service("web");
    EXPECT_EQ(host_name("web"), "");
    world.advance(seconds(10));
    EXPECT_THAT(host_name("web"), MatchesRegex("a[0-9a-f]{31}-[0-9]+\\.us-west-2\\.elb\\.amazonaws\\.com"));
    EXPECT_EQ(event("EnsuredLoadBalancer"), "Ensured load balancer");
    EXPECT_TRUE(balancers().empty());
    ASSERT_TRUE(objects().remove(kServices, "default", "web"));
    EXPECT_NE(host_name("web"), "(gone)");  // until what it had is gone
    world.advance(seconds(20));
    EXPECT_EQ(host_name("web"), "(gone)");
}

TEST_F(ServiceBalancersTest, the_controller_makes_a_network_balancer_and_takes_it_away) {
    start_controller();
    tag_subnets("kubernetes.io/role/internal-elb");
    service("web");
    world.advance(seconds(10));
    const auto made = balancers();
    ASSERT_EQ(made.size(), 1U);
    EXPECT_THAT(get_string(made[0], "LoadBalancerName"), StartsWith("k8s-default-web-"));
    EXPECT_EQ(get_string(made[0], "Scheme"), "internal");
    EXPECT_EQ(get_string(made[0], "DNSName"), host_name("web"));
    const auto tags =
        world.call("elbv2", "DescribeTags",
                   {{"ResourceArns", JsonArray{JsonValue(get_string(made[0], "LoadBalancerArn"))}}});
    EXPECT_EQ(get_string(tags, "TagDescriptions.0.Tags.0.Value"), "demo");
    ASSERT_TRUE(objects().remove(kServices, "default", "web"));
    world.advance(seconds(20));
    EXPECT_TRUE(balancers().empty());
    EXPECT_EQ(host_name("web"), "(gone)");
}

TEST_F(ServiceBalancersTest, subnets_without_their_tag_are_told_and_tried_again) {
    start_controller();
    service("web", {{"service.beta.kubernetes.io/aws-load-balancer-scheme", "internet-facing"}});
    world.advance(seconds(10));
    EXPECT_EQ(event("FailedBuildModel"),
              "Failed build model due to unable to resolve at least one subnet (0 match VPC and tags: "
              "[kubernetes.io/role/elb])");
    tag_subnets("kubernetes.io/role/elb");
    world.advance(minutes(2));
    EXPECT_NE(host_name("web"), "");
    ASSERT_EQ(balancers().size(), 1U);
    EXPECT_EQ(get_string(balancers()[0], "Scheme"), "internet-facing");
}

TEST_F(ServiceBalancersTest, a_service_of_the_controller_waits_for_it) {
    service("web", {{"service.beta.kubernetes.io/aws-load-balancer-type", "external"}});
    tag_subnets("kubernetes.io/role/internal-elb");
    world.advance(minutes(10));
    EXPECT_EQ(host_name("web"), "");
    start_controller();
    world.advance(seconds(10));
    EXPECT_NE(host_name("web"), "");
}

}  // namespace
}  // namespace instantstart::twin
