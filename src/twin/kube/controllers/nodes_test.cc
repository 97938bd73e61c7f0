// Nodes in trouble: taints, events, eviction, pods of nodes that are gone.
#include "twin/kube/controllers/controllers_fixture.h"

namespace instantstart::twin::kube::controllers {
namespace {

using testing::Contains;
using testing::HasSubstr;

class NodesTest : public ControllersTest {
protected:
    NodesTest() { node("n1"); }
};

TEST_F(NodesTest, an_unreachable_node_is_told_and_its_pods_go_after_five_minutes) {
    create(kDeployments, kDeployment);
    run(1min);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_THAT(events("RegisteredNode"), Contains("Node n1 event: Registered Node n1 in Controller"));
    node("n2");
    set_node_ready("n1", "Unknown");
    run(1s);
    EXPECT_THAT(events("NodeNotReady", "n1"), Contains("Node n1 status is now: NodeNotReady"));
    EXPECT_EQ(ready_pods(), 0U);
    EXPECT_EQ(events("NodeNotReady", name_of(*pods()[0]))[0], "Node is not ready");
    std::vector<std::string> keys;
    for (const auto& taint : base::get_array(*get(kNodes, "n1", ""), "spec.taints"))
        keys.push_back(base::get_string(taint, "key") + ":" + base::get_string(taint, "effect"));
    EXPECT_THAT(keys, testing::UnorderedElementsAre("node.kubernetes.io/unreachable:NoSchedule",
                                                    "node.kubernetes.io/unreachable:NoExecute"));
    run(4min);
    EXPECT_EQ(pods().size(), 3U);
    run(90s);
    // Marked, replaced elsewhere, but nobody on the node can end them.
    EXPECT_EQ(pods().size(), 6U);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_THAT(event_message("TaintManagerEviction"), HasSubstr("Marking for deletion Pod default/web-"));
    for (const auto& pod : pods()) {
        if (base::get_string(*pod, "spec.nodeName") != "n1") continue;
        EXPECT_TRUE(is_terminating(*pod));
        EXPECT_TRUE(condition_is(*pod, "DisruptionTarget", "True"));
    }
    ASSERT_TRUE(store.remove(kNodes, "", "n1"));
    run(1s);
    EXPECT_EQ(pods().size(), 3U);
    EXPECT_THAT(events("RemovingNode"), Contains("Node n1 event: Removing Node n1 from Controller"));
}

TEST_F(NodesTest, a_node_that_comes_back_in_time_keeps_its_pods) {
    create(kDeployments, kDeployment);
    run(1min);
    set_node_ready("n1", "Unknown");
    run(2min);
    set_node_ready("n1", "True");
    run(10min);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_EQ(pods().size(), 3U);
    EXPECT_THAT(events("NodeReady", "n1"), Contains("Node n1 status is now: NodeReady"));
    EXPECT_THAT(event_message("TaintManagerEviction"), HasSubstr("Cancelling deletion of Pod default/web-"));
}

TEST_F(NodesTest, no_execute_ends_what_does_not_bear_it_in_its_own_time) {
    pod("none");
    pod("some",
        R"("tolerations":[{"key":"repair","operator":"Exists","effect":"NoExecute","tolerationSeconds":60}])");
    pod("all", R"("tolerations":[{"key":"repair","operator":"Exists"}])");
    run(20s);
    taint_node("n1", "repair", "now", "NoExecute");
    run(10s);
    EXPECT_EQ(get(kPods, "none"), nullptr);
    EXPECT_EQ(phase("some"), "Running");
    run(1min);
    EXPECT_EQ(get(kPods, "some"), nullptr);
    EXPECT_EQ(phase("all"), "Running");
}

TEST_F(NodesTest, speed_shortens_what_a_pod_still_bears) {
    pod("p", R"("tolerations":[{"key":"repair","operator":"Exists","tolerationSeconds":6000}])");
    run(20s);
    taint_node("n1", "repair", "", "NoExecute");
    run(1000s);
    controllers->set_speed(100);
    run(45s);
    EXPECT_NE(get(kPods, "p"), nullptr);
    run(10s);
    EXPECT_EQ(get(kPods, "p"), nullptr);
}

TEST_F(NodesTest, cordon_is_told_and_keeps_new_pods_away) {
    edit(kNodes, "n1", "", [](JsonObject& n1) { object_at(n1, "spec")["unschedulable"] = true; });
    run(1s);
    pod("p");
    run(1s);
    EXPECT_THAT(why_pending("p"), HasSubstr("1 node(s) were unschedulable"));
    EXPECT_THAT(events("NodeNotSchedulable"), Contains("Node n1 status is now: NodeNotSchedulable"));
    edit(kNodes, "n1", "", [](JsonObject& n1) { object_at(n1, "spec").erase("unschedulable"); });
    run(2s);
    EXPECT_EQ(node_of("p"), "n1");
}

TEST_F(NodesTest, pods_of_a_node_that_is_gone_are_failed_and_removed_after_a_while) {
    pod("p", R"("restartPolicy":"Never")");
    run(15s);
    ASSERT_TRUE(store.remove(kNodes, "", "n1"));
    run(30s);
    EXPECT_NE(get(kPods, "p"), nullptr);
    run(15s);
    EXPECT_EQ(get(kPods, "p"), nullptr);
}

TEST_F(NodesTest, a_reboot_starts_the_containers_again) {
    edit(kNodes, "n1", "",
         [](JsonObject& n1) { object_at(object_at(n1, "status"), "nodeInfo")["bootID"] = "one"; });
    pod("stays");
    pod("once",
        R"("restartPolicy":"Never","containers":[{"name":"main","image":"app:1","command":["sleep","infinity"]}])");
    run(15s);
    set_node_ready("n1", "Unknown");
    run(2min);
    edit(kNodes, "n1", "", [](JsonObject& n1) {
        object_at(object_at(n1, "status"), "nodeInfo")["bootID"] = "two";
        list_at(object_at(n1, "status"), "conditions")[0].as_object()["status"] = "True";
    });
    run(10s);
    EXPECT_THAT(events("Rebooted"), Contains("Node n1 has been rebooted, boot id: two"));
    EXPECT_EQ(base::get_int(*get(kPods, "stays"), "status.containerStatuses.0.restartCount"), 1);
    EXPECT_TRUE(is_ready(*get(kPods, "stays")));
    EXPECT_EQ(phase("once"), "Failed");
}

TEST_F(NodesTest, out_of_service_frees_the_pods_of_a_dead_node) {
    pod("p",
        R"("tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}])");
    run(15s);
    set_node_ready("n1", "Unknown");
    run(1min);
    ASSERT_NE(get(kPods, "p"), nullptr);
    EXPECT_TRUE(is_terminating(*get(kPods, "p")));
    taint_node("n1", "node.kubernetes.io/out-of-service", "nodeshutdown", "NoExecute");
    run(1s);
    EXPECT_EQ(get(kPods, "p"), nullptr);
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
