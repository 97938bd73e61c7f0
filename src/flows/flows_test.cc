#include "flows/flows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <set>

#include "flows/components.h"
#include "flows/eks_steps.h"
#include "flows/group_change_steps.h"
#include "flows/hyperpod_steps.h"
#include "flows/manifest_files.h"
#include "rt/virtual_clock.h"

namespace instantstart::flows {
namespace {

// Steps are made without a call: these are never asked.
class NoAws final : public aws::Client {
public:
    Task<JsonObject> call(Context, std::string, std::string, JsonObject, aws::CallOptions) override {
        co_return base::internal_error("not expected");
    }
    Task<JsonArray> collect(Context, std::string, std::string, JsonObject, std::size_t) override {
        co_return base::internal_error("not expected");
    }
    Task<std::string> eks_token(Context, std::string) override {
        co_return base::internal_error("not expected");
    }
    std::string region() const override { return "us-west-2"; }
    std::string partition() const override { return "aws"; }
};

class NoTransport final : public http::Transport {
public:
    Task<http::Response> send(Context, http::Request, http::SendOptions) override {
        co_return base::internal_error("not expected");
    }
};

JsonObject group(std::string name) {
    return {
        {"name", std::move(name)}, {"instance_type", "ml.g5.12xlarge"}, {"count", 2}, {"zone", "us-west-2a"}};
}

JsonObject params() {
    return {
        {"cluster", "demo"},
        {"eks_cluster", "demo"},
        {"region", "us-west-2"},
        {"account", "111122223333"},
        {"hyperpod_name", "demo"},
        {"principals", JsonArray{"arn:aws:iam::111122223333:role/a", "arn:aws:iam::111122223333:role/b"}},
        {"components", JsonArray{"vpc_cni", "kube_proxy", "pod_identity_agent", "coredns", "hyperpod_rbac",
                                 "health_monitoring_agent", "nvidia_device_plugin"}},
        {"network",
         {{"vpc_cidr", "10.0.0.0/16"},
          {"zones", JsonArray{"us-west-2a", "us-west-2b"}},
          {"nat", "per_zone"}}},
        {"groups", JsonArray{group("workers"), group("more")}},
        {"storage", {{"name", "shared"}, {"bucket", "b"}, {"namespace", "default"}, {"own_bucket", true}}}};
}

class FlowsTest : public testing::Test {
protected:
    boost::asio::io_context io_;
    rt::VirtualClock clock_{io_, 1, base::TimePoint()};
    NoAws aws_;
    NoTransport transport_;
    std::unique_ptr<store::Store> store_ =
        store::open_memory(io_.get_executor(), store::make_memory_disk(), nullptr);
    Clusters clusters_{clock_, aws_, *store_, transport_};
};

TEST_F(FlowsTest, every_step_needs_only_steps_before_it_or_of_its_flow) {
    for (const auto& flow : make_flows(clusters_)) {
        std::set<std::string> ids;
        const auto steps = flow.steps(params());
        ASSERT_FALSE(steps.empty()) << flow.name;
        for (const auto& step : steps) {
            EXPECT_TRUE(ids.insert(step.id).second) << flow.name << " has " << step.id << " twice";
            EXPECT_FALSE(step.title.empty());
        }
        // A graph without a circle can be taken apart from its ends.
        std::set<std::string> done;
        for (std::size_t round = 0; round < steps.size() && done.size() < steps.size(); ++round) {
            for (const auto& step : steps) {
                bool free = true;
                for (const auto& need : step.needs) {
                    EXPECT_TRUE(ids.contains(need)) << flow.name << ": " << step.id << " needs " << need;
                    free = free && done.contains(need);
                }
                if (free) done.insert(step.id);
            }
        }
        EXPECT_EQ(done.size(), steps.size()) << flow.name << " has a circle";
    }
}

TEST_F(FlowsTest, the_control_plane_does_not_wait_for_the_nat_gateway) {
    for (const auto& flow : make_flows(clusters_)) {
        if (flow.name != "cluster_launch") continue;
        for (const auto& step : flow.steps(params())) {
            if (step.id != "eks" && step.id != "execution_role" && step.id != "bucket") continue;
            EXPECT_THAT(step.needs, testing::Not(testing::Contains(testing::StartsWith("nat_")))) << step.id;
            EXPECT_THAT(step.needs, testing::Not(testing::Contains(testing::StartsWith("route_"))))
                << step.id;
        }
    }
}

TEST(components, manifests_name_images_and_types) {
    for (const auto& component : components()) {
        if (component.manifest.empty()) continue;
        auto objects = component_objects(component, "us-west-2");
        ASSERT_TRUE(objects) << component.id;
        EXPECT_FALSE(objects->empty());
        for (const auto& object : *objects) {
            EXPECT_EQ(base::to_text(object).find("${"), std::string::npos) << component.id;
        }
    }
}

TEST(components, a_region_without_agent_image_is_a_named_error) {
    auto objects = component_objects(*find_component("health_monitoring_agent"), "mx-central-1");
    ASSERT_FALSE(objects);
    EXPECT_EQ(objects.error().code, "image_unknown");
}

TEST(manifest_files, marks_are_filled_within_texts_and_none_is_left) {
    ManifestValues values{
        {"LBC_IMAGE", "registry/controller:v1"}, {"EKS_CLUSTER", "demo"}, {"REGION", "us-west-2"}};
    const auto lacking = filled_manifest("features/load_balancer_controller.yaml", values);
    ASSERT_FALSE(lacking);
    EXPECT_EQ(lacking.error().code, kMarkWithoutValue);
    EXPECT_NE(lacking.error().message.find("${VPC}"), std::string::npos);
    values["VPC"] = "vpc-${1}";  // what a value says is no mark
    const auto filled = filled_manifest("features/load_balancer_controller.yaml", values);
    ASSERT_TRUE(filled);
    std::string text;
    for (const auto& object : *filled) text += base::to_text(object);
    EXPECT_NE(text.find(R"("--cluster-name=demo")"), std::string::npos);
    EXPECT_NE(text.find(R"("--aws-vpc-id=vpc-${1}")"), std::string::npos);
    EXPECT_NE(text.find(R"("image":"registry/controller:v1")"), std::string::npos);
    EXPECT_FALSE(filled_manifest("features/none.yaml", values));
}

TEST(components, types_bring_their_plugins) {
    EXPECT_THAT(components_for({"ml.g5.12xlarge"}), testing::Contains("nvidia_device_plugin"));
    EXPECT_THAT(components_for({"ml.trn1.32xlarge"}), testing::Contains("neuron_device_plugin"));
    EXPECT_THAT(components_for({"ml.p5.48xlarge"}), testing::Contains("efa_device_plugin"));
    EXPECT_THAT(components_for({"ml.c5.xlarge"}), testing::Not(testing::Contains("nvidia_device_plugin")));
}

TEST(components, live_object_covers_wanted_with_defaults_around_it) {
    const auto parse = [](const char* text) { return base::parse_json(text).value(); };
    const auto wanted = parse(R"({"a":1,"list":[{"name":"x","value":""}]})");
    EXPECT_TRUE(covers(parse(R"({"a":1,"b":2,"list":[{"name":"x","more":true}]})"), wanted));
    EXPECT_FALSE(covers(parse(R"({"a":2,"list":[{"name":"x"}]})"), wanted));
    EXPECT_FALSE(covers(parse(R"({"a":1,"list":[]})"), wanted));
}

TEST(hyperpod_steps, what_sagemaker_describes_becomes_what_it_takes) {
    const auto details =
        base::parse_json(R"({"InstanceGroupName":"w","TargetCount":3,"CurrentCount":2,"MinCount":1,
        "InstanceType":"ml.g5.12xlarge","ExecutionRole":"arn","KubernetesConfig":{"DesiredLabels":{"a":"b"}}})")
            .value();
    const auto specification = specification_of(details.as_object());
    EXPECT_EQ(base::get_int(specification, "InstanceCount"), 3);
    EXPECT_EQ(base::get_int(specification, "MinInstanceCount"), 1);
    EXPECT_EQ(base::get_string(specification, "KubernetesConfig.Labels.a"), "b");
    EXPECT_FALSE(specification.contains("CurrentCount"));
    EXPECT_FALSE(specification.contains("TrainingPlanArn"));
}

TEST(control_zones, valid_zones_take_the_place_of_refused_ones) {
    using Zones = std::vector<std::string>;
    EXPECT_EQ(pair_of_valid_zones({"a", "b"}, {"b", "c"}), Zones({"c", "b"}));
    EXPECT_EQ(pair_of_valid_zones({"a", "b"}, {"c", "d"}), Zones({"c", "d"}));
    EXPECT_EQ(pair_of_valid_zones({"a", "b"}, {"a", "b", "c"}), Zones({"a", "b"}));
    EXPECT_EQ(pair_of_valid_zones({"a", "b"}, {"b"}), Zones());
}

}  // namespace
}  // namespace instantstart::flows
