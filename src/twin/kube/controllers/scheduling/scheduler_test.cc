// What the scheduler refuses, in kube-scheduler's words, and what it prefers.
#include "twin/kube/controllers/controllers_fixture.h"

namespace instantstart::twin::kube::controllers {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class SchedulerTest : public ControllersTest {
protected:
    void priority_class(const std::string& name, int value) {
        create(Kind("scheduling.k8s.io", "priorityclasses"),
               R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")" + name +
                   R"("},"value":)" + std::to_string(value) + "}");
    }
    static std::string cpu(const std::string& amount) {
        return R"("containers":[{"name":"main","image":"app:1","resources":{"requests":{"cpu":")" + amount +
               R"("}}}])";
    }
};

TEST_F(SchedulerTest, reasons_are_counted_over_all_nodes) {
    for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) node(name);
    for (const char* name : {"n3", "n4", "n5"}) taint_node(name, "a", "b", "NoSchedule");
    pod("train",
        R"("containers":[{"name":"main","image":"t:1","resources":{"limits":{"nvidia.com/gpu":"8","vpc.amazonaws.com/efa":"1"}}}])");
    run(1s);
    EXPECT_EQ(why_pending("train"),
              "0/5 nodes are available: 2 Insufficient nvidia.com/gpu, 2 Insufficient vpc.amazonaws.com/efa, "
              "3 node(s) had untolerated taint {a: b}. preemption: 0/5 nodes are available: 5 Preemption is "
              "not helpful for scheduling.");
}

TEST_F(SchedulerTest, all_operators_of_node_affinity) {
    node("n1");
    label_node("n1", "size", "7");
    label_node("n1", "zone", "a");
    struct Case {
        const char* expression;
        bool fits;
    };
    const Case cases[] = {
        {R"({"key":"zone","operator":"In","values":["a","b"]})", true},
        {R"({"key":"zone","operator":"NotIn","values":["a"]})", false},
        {R"({"key":"zone","operator":"Exists"})", true},
        {R"({"key":"zone","operator":"DoesNotExist"})", false},
        {R"({"key":"size","operator":"Gt","values":["6"]})", true},
        {R"({"key":"size","operator":"Lt","values":["7"]})", false},
        {R"({"key":"zone","operator":"Gt","values":["1"]})", false},
    };
    int number = 0;
    for (const auto& one : cases) {
        const auto name = "p" + std::to_string(number++);
        pod(name,
            std::string(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)") +
                R"({"nodeSelectorTerms":[{"matchExpressions":[)" + one.expression + "]}]}}}");
        run(1s);
        EXPECT_EQ(node_of(name), one.fits ? "n1" : "") << one.expression;
        if (!one.fits) {
            EXPECT_THAT(why_pending(name),
                        StartsWith("0/1 nodes are available: 1 node(s) didn't match Pod's node "
                                   "affinity/selector. preemption:"));
        }
    }
}

TEST_F(SchedulerTest, preferred_node_affinity_and_prefer_no_schedule_decide_among_the_possible) {
    node("n1");
    node("n2");
    label_node("n2", "disk", "nvme");
    const std::string wish =
        R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":10,"preference":
        {"matchExpressions":[{"key":"disk","operator":"In","values":["nvme"]}]}}]}})";
    for (const char* name : {"a", "b", "c"}) {
        pod(name, wish);
        run(1s);
        EXPECT_EQ(node_of(name), "n2");
    }
    taint_node("n1", "old", "", "PreferNoSchedule");
    pod("d");
    run(1s);
    EXPECT_EQ(node_of("d"), "n2");  // though it holds more pods
}

TEST_F(SchedulerTest, pod_affinity_and_anti_affinity_go_by_topology) {
    for (const auto& [name, zone] : {std::pair("n1", "a"), std::pair("n2", "a"), std::pair("n3", "b")}) {
        node(name);
        label_node(name, "zone", zone);
    }
    const auto near = [](const char* kind) {
        return std::string(R"("affinity":{")") + kind +
               R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"db"}},"topologyKey":"zone"}]}})";
    };
    pod("lonely", near("podAffinity"));
    run(1s);
    EXPECT_THAT(why_pending("lonely"),
                StartsWith("0/3 nodes are available: 3 node(s) didn't match pod affinity rules."));
    pod("db", R"("nodeName":"n3")", R"("labels":{"app":"db"})");
    run(2s);
    EXPECT_EQ(node_of("lonely"), "n3");
    pod("away", near("podAntiAffinity"));
    run(1s);
    EXPECT_NE(node_of("away"), "n3");
    EXPECT_NE(node_of("away"), "");
    // One that refuses its own kind: two zones hold two of them.
    for (const char* name : {"r1", "r2", "r3"}) {
        pod(name,
            R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"app":"r"}},"topologyKey":"zone"}]}})",
            R"("labels":{"app":"r"})");
        run(1s);
    }
    EXPECT_THAT(
        why_pending("r3"),
        StartsWith("0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules. preemption: "
                   "0/3 nodes are available: 3 No preemption victims found for incoming pod."));
    pod("other", "", R"("labels":{"app":"r"})");
    run(1s);
    EXPECT_THAT(why_pending("other"),
                HasSubstr("3 node(s) didn't satisfy existing pods anti-affinity rules"));
}

TEST_F(SchedulerTest, spread_keeps_the_skew_and_names_the_missing_label) {
    for (const char* name : {"n1", "n2", "n3"}) node(name);
    label_node("n1", "zone", "a");
    label_node("n2", "zone", "b");
    taint_node("n2", "full", "", "NoSchedule");
    const std::string rule =
        R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"s"}}}])";
    pod("s1", rule, R"("labels":{"app":"s"})");
    run(1s);
    EXPECT_EQ(node_of("s1"), "n1");
    pod("s2", rule, R"("labels":{"app":"s"})");
    run(1s);
    EXPECT_THAT(
        why_pending("s2"),
        StartsWith("0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 "
                   "node(s) didn't match pod topology spread constraints (missing required label), 1 "
                   "node(s) had untolerated taint {full: }."));
    edit(kNodes, "n2", "", [](JsonObject& n2) { object_at(n2, "spec").erase("taints"); });
    run(3s);
    EXPECT_EQ(node_of("s2"), "n2");
}

TEST_F(SchedulerTest, soft_spread_prefers_the_emptier_domain) {
    for (const auto& [name, zone] : {std::pair("n1", "a"), std::pair("n2", "b"), std::pair("n3", "b")}) {
        node(name);
        label_node(name, "zone", zone);
    }
    const std::string rule =
        R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"s"}}}])";
    for (int i = 0; i < 4; ++i) {
        pod("s" + std::to_string(i), rule, R"("labels":{"app":"s"})");
        run(1s);
    }
    int in_a = 0;
    for (int i = 0; i < 4; ++i) in_a += node_of("s" + std::to_string(i)) == "n1" ? 1 : 0;
    EXPECT_EQ(in_a, 2);
}

TEST_F(SchedulerTest, host_ports_are_taken_once) {
    node("n1");
    const std::string port =
        R"("containers":[{"name":"main","image":"i","ports":[{"containerPort":80,"hostPort":8080}]}])";
    pod("p1", port);
    run(1s);
    pod("p2", port);
    run(1s);
    EXPECT_THAT(why_pending("p2"), StartsWith("0/1 nodes are available: 1 node(s) didn't have free ports for "
                                              "the requested pod ports."));
    ASSERT_TRUE(store.remove(kPods, "default", "p1"));
    run(2s);
    EXPECT_EQ(node_of("p2"), "n1");
}

TEST_F(SchedulerTest, gates_hold_a_pod_until_they_are_gone) {
    node("n1");
    pod("p", R"("schedulingGates":[{"name":"example.com/quota"}])");
    run(1s);
    EXPECT_EQ(why_pending("p"), "Scheduling is blocked due to non-empty scheduling gates");
    EXPECT_TRUE(events("FailedScheduling").empty());
    edit(kPods, "p", "default", [](JsonObject& p) { object_at(p, "spec").erase("schedulingGates"); });
    run(1s);
    EXPECT_EQ(node_of("p"), "n1");
}

TEST_F(SchedulerTest, a_pinned_pod_names_the_nodes_that_were_not_looked_at) {
    node("n1", "ml.m5.xlarge", 1);
    node("n2");
    pod("full", R"("nodeName":"n1")");
    pod("p",
        R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}]}}})");
    run(1s);
    EXPECT_EQ(why_pending("p"),
              "0/2 nodes are available: 1 Too many pods, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
              "preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 "
              "Preemption is not helpful for scheduling.");
}

TEST_F(SchedulerTest, one_of_many_equal_pods_is_tried_and_all_follow) {
    node("n1", "ml.m5.xlarge", 2);
    for (int i = 0; i < 30; ++i) pod("p" + std::to_string(i));
    run(1s);
    int placed = 0;
    for (int i = 0; i < 30; ++i) placed += node_of("p" + std::to_string(i)).empty() ? 0 : 1;
    EXPECT_EQ(placed, 2);
    EXPECT_EQ(events("FailedScheduling").size(), 28U);
    edit(kNodes, "n1", "",
         [](JsonObject& n1) { object_at(object_at(n1, "status"), "allocatable")["pods"] = "100"; });
    run(15s);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(node_of("p" + std::to_string(i)), "n1");
}

TEST_F(SchedulerTest, higher_priority_preempts_as_little_as_it_needs) {
    node("n1");
    node("n2");
    for (const char* name : {"a", "b"}) pod(name, cpu("4") + R"(,"nodeName":"n1","priority":10)");
    pod("c", cpu("8") + R"(,"nodeName":"n2","priority":50)");
    run(20s);
    pod("urgent", cpu("4") + R"(,"priority":100)");
    run(1s);
    EXPECT_EQ(text(kPods, "urgent", "status.nominatedNodeName"), "n1");
    EXPECT_EQ(events("Preempted").size(), 1U);
    EXPECT_THAT(events("Preempted")[0], HasSubstr("Preempted by pod "));
    EXPECT_THAT(events("Preempted")[0], HasSubstr(" on node n1"));
    // What its victim leaves is kept for it, whoever comes in between.
    pod("late", cpu("4") + R"(,"priority":5)");
    run(20s);
    EXPECT_EQ(node_of("urgent"), "n1");
    EXPECT_EQ(node_of("late"), "");
    EXPECT_NE(get(kPods, "c"), nullptr);
    EXPECT_THAT(
        why_pending("late"),
        HasSubstr("2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims"));
}

TEST_F(SchedulerTest, a_pod_that_may_not_preempt_says_so) {
    node("n1");
    pod("a", cpu("8") + R"(,"nodeName":"n1")");
    pod("p", cpu("8") + R"(,"priority":100,"preemptionPolicy":"Never")");
    run(1s);
    EXPECT_EQ(why_pending("p"),
              "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to "
              "preemptionPolicy=Never.");
    EXPECT_NE(get(kPods, "a"), nullptr);
}

TEST_F(SchedulerTest, preemption_spares_what_a_budget_guards_where_it_can) {
    node("n1");
    node("n2");
    pod("guarded", cpu("8") + R"(,"nodeName":"n1")", R"("labels":{"app":"g"})");
    pod("free", cpu("8") + R"(,"nodeName":"n2")");
    create(
        Kind("policy", "poddisruptionbudgets"),
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"g","namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"g"}}}})");
    run(20s);
    pod("urgent", cpu("8") + R"(,"priority":100)");
    run(20s);
    EXPECT_EQ(node_of("urgent"), "n2");
    EXPECT_NE(get(kPods, "guarded"), nullptr);
}

TEST_F(SchedulerTest, claims_that_cannot_be_had_are_named) {
    node("n1");
    const auto with = [](const std::string& claim) {
        return R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + claim + R"("}}])";
    };
    pod("p1", with("missing"));
    run(1s);
    EXPECT_THAT(
        why_pending("p1"),
        StartsWith("0/1 nodes are available: persistentvolumeclaim \"missing\" not found. preemption: 0/1 "
                   "nodes are available: 1 Preemption is not helpful for scheduling."));
    create(
        kClaims,
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
    pod("p2", with("data"));
    run(1s);
    EXPECT_THAT(why_pending("p2"), HasSubstr("pod has unbound immediate PersistentVolumeClaims."));
    EXPECT_EQ(event_message("FailedBinding"),
              "no persistent volumes available for this claim and no storage class is set");
}

TEST_F(SchedulerTest, a_disk_stays_in_its_zone) {
    create(
        Kind("storage.k8s.io", "storageclasses"),
        R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"gp3"},"provisioner":"ebs.csi.aws.com","volumeBindingMode":"WaitForFirstConsumer"})");
    create(
        kClaims,
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},"spec":{"storageClassName":"gp3","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})");
    run(1s);
    EXPECT_EQ(event_message("WaitForFirstConsumer"),
              "waiting for first consumer to be created before binding");
    node("n1");
    label_node("n1", "topology.kubernetes.io/zone", "us-east-1a");
    const std::string volume = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}])";
    pod("p1", volume);
    run(30s);
    EXPECT_EQ(phase("p1"), "Running");
    EXPECT_THAT(event_message("ProvisioningSucceeded"), StartsWith("Successfully provisioned volume pvc-"));
    ASSERT_TRUE(store.remove(kPods, "default", "p1"));
    ASSERT_TRUE(store.remove(kNodes, "", "n1"));
    node("n2");
    label_node("n2", "topology.kubernetes.io/zone", "us-east-1b");
    pod("p2", volume);
    run(1s);
    EXPECT_THAT(why_pending("p2"),
                StartsWith("0/1 nodes are available: 1 node(s) had volume node affinity conflict."));
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
