// Managed autoscaling: what it asks for, what it adds for pods that wait, and what it takes away.
#include "twin/aws/sagemaker/hyperpod_fixture.h"

namespace instantstart::twin::sagemaker {
namespace {

using base::get_array;
using base::get_int;
using base::get_object;
using base::get_string;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const kube::Kind kPods("", "pods");
const kube::Kind kClasses("karpenter.sagemaker.amazonaws.com", "hyperpodnodeclasses");
const kube::Kind kPools("karpenter.sh", "nodepools");
const kube::Kind kClaims("karpenter.sh", "nodeclaims");

class KarpenterTest : public HyperPodTest {
protected:
    // A cluster with the empty group "workers" and autoscaling in service.
    void scaled(std::int64_t count = 0) {
        ready_eks();
        create(count);
        world.advance(minutes(12));
        EXPECT_TRUE(update({{"ClusterRole", kScalerRole},
                            {"AutoScaling", {{"Mode", "Enable"}, {"AutoScalerType", "Karpenter"}}}})
                        .contains("ClusterArn"));
        EXPECT_EQ(get_string(describe(), "AutoScaling.Status"), "Creating");
        world.advance(minutes(4));
        EXPECT_EQ(get_string(describe(), "AutoScaling.Status"), "InService");
    }
    void put_class(JsonArray groups) {
        JsonObject object{{"apiVersion", "karpenter.sagemaker.amazonaws.com/v1"},
                          {"kind", "HyperpodNodeClass"},
                          {"metadata", {{"name", "default"}}},
                          {"spec", {{"instanceGroups", std::move(groups)}}}};
        static_cast<void>(objects().apply(kClasses, std::move(object), "test"));
    }
    void put_pool(JsonObject limits = {}) {
        JsonObject spec{{"template",
                         {{"spec",
                           {{"nodeClassRef",
                             {{"group", "karpenter.sagemaker.amazonaws.com"},
                              {"kind", "HyperpodNodeClass"},
                              {"name", "default"}}},
                            {"requirements", JsonArray{JsonObject{{"key", "node.kubernetes.io/instance-type"},
                                                                  {"operator", "Exists"}}}}}}}},
                        {"disruption", {{"consolidationPolicy", "WhenEmpty"}, {"consolidateAfter", "5m"}}}};
        if (!limits.empty()) spec["limits"] = std::move(limits);
        JsonObject object{{"apiVersion", "karpenter.sh/v1"},
                          {"kind", "NodePool"},
                          {"metadata", {{"name", "default"}}},
                          {"spec", std::move(spec)}};
        static_cast<void>(objects().apply(kPools, std::move(object), "test"));
    }
    void put_pod(const std::string& name, std::string_view gpus, JsonObject selector = {}) {
        JsonObject container{{"name", "main"},
                             {"resources", {{"requests", {{"nvidia.com/gpu", gpus}, {"cpu", "1"}}}}}};
        JsonObject refused{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}};
        JsonObject pod{{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", {{"name", name}, {"namespace", "default"}}},
                       {"spec", {{"containers", JsonArray{JsonValue(container)}}}},
                       {"status", {{"phase", "Pending"}, {"conditions", JsonArray{JsonValue(refused)}}}}};
        if (!selector.empty()) pod["spec"].as_object()["nodeSelector"] = std::move(selector);
        ASSERT_TRUE(objects().create(kPods, std::move(pod)).has_value());
    }
    // What the scheduler and the device plugin do.
    void bind(const std::string& name) {
        JsonObject pod = *objects().get(kPods, "default", name);
        pod["spec"].as_object()["nodeName"] = "hyperpod-" + instance();
        pod["status"] = {{"phase", "Running"}};
        ASSERT_TRUE(objects().update(kPods, std::move(pod)).has_value());
    }
    void put_devices() {
        for (const kube::ObjectPtr& node : objects().list(kNodeKind)) {
            JsonObject changed = *node;
            changed["status"].as_object()["allocatable"].as_object()["nvidia.com/gpu"] = "4";
            ASSERT_TRUE(objects().update(kNodeKind, std::move(changed)).has_value());
        }
    }
    std::string condition(const kube::Kind& kind, std::string_view type) {
        const kube::ObjectPtr object = objects().get(kind, "", "default");
        if (object == nullptr) return "no object";
        for (const JsonValue& each : get_array(*object, "status.conditions")) {
            if (get_string(each, "type") == type) return get_string(each, "status");
        }
        return "";
    }
    std::int64_t target() { return get_int(describe(), "InstanceGroups.0.TargetCount"); }
};

TEST_F(KarpenterTest, asks_for_role_mode_and_recovery) {
    ready_eks();
    create(0, false);
    world.advance(minutes(5));
    const JsonObject on{{"Mode", "Enable"}, {"AutoScalerType", "Karpenter"}};
    EXPECT_THAT(get_string(update({{"AutoScaling", on}, {"ClusterRole", kScalerRole}}), "Message"),
                HasSubstr("Continuous"));
    const JsonObject continuous{{"NodeProvisioningMode", "Continuous"}, {"AutoScaling", on}};
    EXPECT_THAT(get_string(update(continuous), "Message"), HasSubstr("ClusterRole is required"));
    JsonObject wrong = continuous;
    wrong["ClusterRole"] = kNodeRole;  // trusts another service
    EXPECT_THAT(get_string(update(wrong), "Message"), HasSubstr("Unable to assume"));
    wrong["ClusterRole"] = kScalerRole;
    wrong["NodeRecovery"] = "None";
    EXPECT_THAT(get_string(update(wrong), "Message"), HasSubstr("NodeRecovery"));
    wrong["NodeRecovery"] = "Automatic";
    wrong["AutoScaling"] = JsonObject{{"Mode", "Enable"}};
    EXPECT_THAT(get_string(update(wrong), "Message"), HasSubstr("AutoScalerType"));
}

TEST_F(KarpenterTest, follows_pods_that_wait_and_lets_empty_nodes_go) {
    scaled();
    put_class({"workers"});
    put_pool();
    world.advance(seconds(15));
    EXPECT_EQ(condition(kClasses, "Ready"), "True");
    EXPECT_EQ(condition(kPools, "Ready"), "True");
    EXPECT_EQ(target(), 0);
    put_pod("one", "2");
    put_pod("two", "2");
    put_pod("elsewhere", "1", {{"topology.kubernetes.io/zone", "us-west-2c"}});
    world.advance(seconds(15));
    EXPECT_EQ(target(), 1);  // both on one node, the third nowhere
    ASSERT_EQ(objects().list(kClaims).size(), 1U);
    world.advance(minutes(8));
    ASSERT_EQ(nodes().size(), 1U);
    EXPECT_EQ(label(instance(), "karpenter.sh/nodepool"), "default");
    EXPECT_EQ(target(), 1);
    put_devices();
    bind("one");
    bind("two");
    world.advance(minutes(20));
    EXPECT_EQ(target(), 1);
    for (const char* pod : {"one", "two", "elsewhere"})
        ASSERT_TRUE(objects().remove(kPods, "default", pod).has_value());
    world.advance(minutes(4));
    EXPECT_EQ(target(), 1);
    world.advance(minutes(3));
    EXPECT_EQ(target(), 0);
    world.advance(minutes(5));
    EXPECT_TRUE(nodes().empty());
    EXPECT_TRUE(objects().list(kNodeKind).empty());
    EXPECT_TRUE(objects().list(kClaims).empty());
}

TEST_F(KarpenterTest, stays_within_the_limits_and_what_can_be_had) {
    scaled();
    put_class({"workers"});
    put_pool({{"nvidia.com/gpu", "8"}});
    world.capacities["ml.g5.12xlarge us-west-2a"] = 0;
    for (const char* pod : {"one", "two", "three"}) put_pod(pod, "4");
    world.advance(minutes(1));
    EXPECT_EQ(target(), 0);
    world.capacities.clear();
    put_pod("four", "4");
    world.advance(seconds(15));
    EXPECT_EQ(target(), 2);
    world.advance(minutes(5));
    EXPECT_EQ(target(), 2);
}

TEST_F(KarpenterTest, a_class_with_a_group_that_is_gone_or_unfit_does_nothing) {
    scaled();
    put_class({"workers", "missing"});
    put_pool();
    put_pod("one", "1");
    world.advance(minutes(1));
    EXPECT_EQ(condition(kClasses, "InstanceGroupReady"), "False");
    EXPECT_EQ(condition(kPools, "Ready"), "False");
    EXPECT_EQ(target(), 0);
    put_class({"workers"});
    world.advance(minutes(1));
    EXPECT_EQ(condition(kClasses, "Ready"), "True");
    EXPECT_EQ(target(), 1);
}

TEST_F(KarpenterTest, counts_that_others_set_are_scaled_away) {
    scaled(2);
    EXPECT_EQ(target(), 2);
    put_class({"workers"});
    put_pool();
    world.advance(minutes(1));
    EXPECT_EQ(target(), 0);
    update_group(workers(1));
    put_pod("none", "64");
    world.advance(minutes(1));
    EXPECT_EQ(target(), 0);
}

TEST_F(KarpenterTest, its_kinds_stay_when_it_is_switched_off) {
    scaled();
    EXPECT_EQ(get_string(update({{"ClusterRole", kNodeRole}}), "Error"), "ValidationException");
    world.iam().roles.erase(kScalerRole);  // what is switched off needs its role no more
    EXPECT_TRUE(update({{"AutoScaling", {{"Mode", "Disable"}}}}).contains("ClusterArn"));
    EXPECT_EQ(get_string(describe(), "AutoScaling.Status"), "Deleting");
    world.advance(minutes(2));
    EXPECT_FALSE(describe().contains("AutoScaling"));
    EXPECT_NE(objects().get(kube::Kind("apiextensions.k8s.io", "customresourcedefinitions"), "",
                            "nodepools.karpenter.sh"),
              nullptr);
    put_class({"workers"});
    put_pool();
    put_pod("one", "1");
    world.advance(minutes(2));
    EXPECT_EQ(target(), 0);
}

}  // namespace
}  // namespace instantstart::twin::sagemaker
