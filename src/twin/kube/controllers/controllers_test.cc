// The controllers on virtual time over the real object store.
#include "twin/kube/controllers/controllers_fixture.h"
#include "twin/kube/controllers/quantity.h"

namespace instantstart::twin::kube::controllers {
namespace {

TEST(Quantity, reads_all_suffixes) {
    EXPECT_EQ(parse_milli("100m"), 100);
    EXPECT_EQ(parse_milli("1.5"), 1500);
    EXPECT_EQ(parse_milli("2Ki"), 2048000);
    EXPECT_EQ(parse_milli("1e3"), 1000000);
    EXPECT_EQ(parse_milli("8"), 8000);
    EXPECT_EQ(parse_milli("nonsense"), 0);
    EXPECT_EQ(parse_milli("3X"), 0);
}

TEST_F(ControllersTest, deployment_comes_up_and_says_so) {
    node("n1");
    create(kDeployments, kDeployment);
    run(1s);
    EXPECT_EQ(pods().size(), 3U);
    EXPECT_EQ(ready_pods(), 0U);
    run(30s);
    EXPECT_EQ(ready_pods(), 3U);
    const auto web = get(kDeployments, "web");
    EXPECT_EQ(base::get_int(*web, "status.availableReplicas"), 3);
    EXPECT_EQ(base::get_int(*web, "status.observedGeneration"), base::get_int(*web, "metadata.generation"));
    EXPECT_TRUE(condition_is(*web, "Available", "True"));
    EXPECT_TRUE(condition_is(*web, "Progressing", "True"));
    EXPECT_EQ(base::get_string(*pods()[0], "status.phase"), "Running");
    const auto* log = controllers->log("default", name_of(*pods()[0]), "main");
    ASSERT_NE(log, nullptr);
    EXPECT_FALSE(log->empty());
}

TEST_F(ControllersTest, a_settled_cluster_writes_nothing) {
    node("n1");
    create(kDeployments, kDeployment);
    create(kDaemonSets, kPlugin);
    create(
        kServices,
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"default"},"spec":{"selector":{"app":"web"},"ports":[{"port":80,"targetPort":"http"}]}})");
    run(2min);
    const auto before = store.revision();
    run(1h);
    EXPECT_EQ(store.revision(), before);
}

TEST_F(ControllersTest, rollout_replaces_all_pods_and_keeps_enough) {
    node("n1");
    create(kDeployments, kDeployment);
    run(1min);
    edit(kDeployments, "web", "default", [](JsonObject& web) {
        web.at("spec").at("template").at("spec").at("containers").at(0).as_object()["image"] = "web:2";
    });
    for (int i = 0; i < 60; ++i) {
        run(1s);
        EXPECT_GE(ready_pods(), 3U);
    }
    ASSERT_EQ(pods().size(), 3U);
    for (const auto& pod : pods()) EXPECT_EQ(base::get_string(*pod, "spec.containers.0.image"), "web:2");
    EXPECT_EQ(store.list(kReplicaSets, "default").size(), 2U);
    EXPECT_EQ(base::get_object(*get(kDeployments, "web"), "metadata.annotations")
                  .at("deployment.kubernetes.io/revision"),
              "2");
}

TEST_F(ControllersTest, device_plugin_gives_its_node_devices_and_takes_them) {
    node("gpu", "ml.g5.12xlarge");
    node("plain", "ml.m5.xlarge");
    create(kDaemonSets, kPlugin);
    run(1min);
    const auto set = get(kDaemonSets, "plugin");
    EXPECT_EQ(base::get_int(*set, "status.desiredNumberScheduled"), 2);
    EXPECT_EQ(base::get_int(*set, "status.numberReady"), 2);
    EXPECT_EQ(base::get_object(*get(kNodes, "gpu", ""), "status.allocatable").at("nvidia.com/gpu"), "4");
    EXPECT_FALSE(
        base::get_object(*get(kNodes, "plain", ""), "status.allocatable").contains("nvidia.com/gpu"));
    ASSERT_TRUE(store.remove(kDaemonSets, "default", "plugin"));
    run(1min);
    EXPECT_TRUE(pods().empty());
    EXPECT_EQ(base::get_object(*get(kNodes, "gpu", ""), "status.allocatable").at("nvidia.com/gpu"), "0");
}

TEST_F(ControllersTest, scheduler_says_why_and_goes_on_when_it_can) {
    create(
        kPods,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"train","namespace":"default"},"spec":{"restartPolicy":"Never",
        "containers":[{"name":"main","image":"train:1","command":["sleep","infinity"],"resources":{"limits":{"nvidia.com/gpu":"4"}}}]}})");
    run(1s);
    EXPECT_EQ(event_message("FailedScheduling"), "no nodes available to schedule pods");
    node("gpu");
    edit(kNodes, "gpu", "", [](JsonObject& gpu) {
        list_at(object_at(gpu, "spec"), "taints")
            .push_back(JsonObject{{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}});
    });
    run(1s);
    EXPECT_THAT(base::get_string(*get(kPods, "train"), "status.conditions.0.message"),
                testing::StartsWith("0/1 nodes are available: 1 node(s) had untolerated taint {team: a}."));
    edit(kNodes, "gpu", "", [](JsonObject& gpu) { object_at(gpu, "spec").erase("taints"); });
    run(2s);  // its second try has failed: the third waits 2 s
    EXPECT_THAT(base::get_string(*get(kPods, "train"), "status.conditions.0.message"),
                testing::HasSubstr("1 Insufficient nvidia.com/gpu"));
    create(kDaemonSets, kPlugin);
    run(1min);
    EXPECT_EQ(base::get_string(*get(kPods, "train"), "status.phase"), "Running");
}

TEST_F(ControllersTest, a_node_holds_no_more_pods_than_it_says) {
    node("n1", "ml.m5.xlarge", 2);
    create(kDeployments, kDeployment);
    run(1min);
    EXPECT_EQ(ready_pods(), 2U);
    EXPECT_THAT(event_message("FailedScheduling"), testing::HasSubstr("1 Too many pods"));
}

TEST_F(ControllersTest, a_node_that_is_not_ready_or_cordoned_is_tainted) {
    node("n1");
    edit(kNodes, "n1", "", [](JsonObject& n1) {
        list_at(object_at(n1, "status"), "conditions")[0].as_object()["status"] = "False";
    });
    run(1s);
    EXPECT_EQ(base::get_array(*get(kNodes, "n1", ""), "spec.taints").size(), 2U);
    edit(kNodes, "n1", "", [](JsonObject& n1) {
        list_at(object_at(n1, "status"), "conditions")[0].as_object()["status"] = "True";
        object_at(n1, "spec")["unschedulable"] = true;
    });
    run(1s);
    ASSERT_EQ(base::get_array(*get(kNodes, "n1", ""), "spec.taints").size(), 1U);
    EXPECT_EQ(base::get_string(*get(kNodes, "n1", ""), "spec.taints.0.key"),
              "node.kubernetes.io/unschedulable");
}

TEST_F(ControllersTest, pods_of_a_deleted_node_go_and_are_made_elsewhere) {
    node("n1");
    create(kDeployments, kDeployment);
    run(1min);
    node("n2");
    ASSERT_TRUE(store.remove(kNodes, "", "n1"));
    run(1min);
    EXPECT_EQ(ready_pods(), 3U);
    for (const auto& pod : pods()) EXPECT_EQ(base::get_string(*pod, "spec.nodeName"), "n2");
}

TEST_F(ControllersTest, job_completes_and_failing_job_hits_its_limit) {
    node("n1");
    const std::string job =
        R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"NAME","namespace":"default"},"spec":{"completions":2,
        "parallelism":1,"backoffLimit":1,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"job:1","command":["sh","-c","CMD"]}]}}}})";
    const auto make = [&](const std::string& name, const std::string& command) {
        std::string text = job;
        text.replace(text.find("NAME"), 4, name);
        text.replace(text.find("CMD"), 3, command);
        create(kJobs, text);
    };
    make("good", "sleep 5");
    make("bad", "exit 3");
    run(3min);
    EXPECT_TRUE(condition_is(*get(kJobs, "good"), "Complete", "True"));
    EXPECT_EQ(base::get_int(*get(kJobs, "good"), "status.succeeded"), 2);
    EXPECT_TRUE(condition_is(*get(kJobs, "bad"), "Failed", "True"));
    EXPECT_EQ(base::get_int(*get(kJobs, "bad"), "status.failed"), 2);
}

TEST_F(ControllersTest, appended_log_can_end_a_container) {
    node("n1");
    create(
        kPods,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i","command":["sleep","infinity"]}]}})");
    run(30s);
    int told = 0;
    const auto handle = controllers->on_log([&](const std::string&, const std::string&) { ++told; });
    ASSERT_TRUE(controllers->append_log("default", "p", "", {"out of memory"}, 137));
    EXPECT_GT(told, 0);
    EXPECT_EQ(controllers->log("default", "p", "main")->back(), "out of memory");
    EXPECT_EQ(base::get_string(*get(kPods, "p"), "status.phase"), "Failed");
    EXPECT_EQ(base::get_int(*get(kPods, "p"), "status.containerStatuses.0.state.terminated.exitCode"), 137);
    EXPECT_FALSE(controllers->append_log("default", "p", "nope", {"x"}, std::nullopt));
    EXPECT_FALSE(controllers->append_log("default", "missing", "", {"x"}, std::nullopt));
}

TEST_F(ControllersTest, static_volume_binds_to_its_claim_and_is_released) {
    create(
        kVolumes,
        R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"shared"},"spec":{"capacity":{"storage":"1200Gi"},
        "accessModes":["ReadWriteMany"],"storageClassName":"","persistentVolumeReclaimPolicy":"Retain","csi":{"driver":"s3.csi.aws.com","volumeHandle":"b"}}})");
    create(
        kClaims,
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"shared","namespace":"default"},"spec":{"accessModes":["ReadWriteMany"],
        "storageClassName":"","volumeName":"shared","resources":{"requests":{"storage":"1200Gi"}}}})");
    run(1s);
    EXPECT_EQ(base::get_string(*get(kClaims, "shared"), "status.phase"), "Bound");
    EXPECT_EQ(base::get_string(*get(kVolumes, "shared", ""), "status.phase"), "Bound");
    node("n1");
    create(
        kPods,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"main","image":"i"}],
        "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"shared"}}]}})");
    run(30s);
    EXPECT_EQ(ready_pods(), 1U);
    ASSERT_TRUE(store.remove(kClaims, "default", "shared"));
    run(1s);
    EXPECT_NE(get(kClaims, "shared"), nullptr);
    ASSERT_TRUE(store.remove(kPods, "default", "p"));
    run(1s);
    EXPECT_EQ(get(kClaims, "shared"), nullptr);
    EXPECT_EQ(base::get_string(*get(kVolumes, "shared", ""), "status.phase"), "Released");
    ASSERT_TRUE(store.remove(kVolumes, "", "shared"));
    run(1s);
    EXPECT_EQ(get(kVolumes, "shared", ""), nullptr);
}

TEST_F(ControllersTest, disk_class_provides_when_the_pod_has_its_node) {
    create(Kind("storage.k8s.io", "storageclasses"),
           R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"gp2"},
        "provisioner":"kubernetes.io/aws-ebs","reclaimPolicy":"Delete","volumeBindingMode":"WaitForFirstConsumer"})");
    create(
        kStatefulSets,
        R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"default"},"spec":{"replicas":2,"serviceName":"db",
        "selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"main","image":"db:1"}]}},
        "volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"storageClassName":"gp2","resources":{"requests":{"storage":"1Gi"}}}}]}})");
    run(5s);
    EXPECT_EQ(pods().size(), 1U);
    EXPECT_EQ(base::get_string(*get(kClaims, "data-db-0"), "status.phase"), "Pending");
    node("n1");
    run(1min);
    EXPECT_EQ(ready_pods(), 2U);
    EXPECT_EQ(base::get_string(*get(kClaims, "data-db-1"), "status.phase"), "Bound");
    EXPECT_EQ(base::get_int(*get(kStatefulSets, "db"), "status.readyReplicas"), 2);
}

TEST_F(ControllersTest, namespace_is_furnished_and_emptied) {
    create(kNamespaces, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team"}})");
    run(1s);
    EXPECT_NE(get(Kind("", "serviceaccounts"), "default", "team"), nullptr);
    EXPECT_NE(get(Kind("", "configmaps"), "kube-root-ca.crt", "team"), nullptr);
    create(Kind("", "secrets"),
           R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"team"}})");
    ASSERT_TRUE(store.remove(kNamespaces, "", "team"));
    run(1min);
    EXPECT_EQ(get(kNamespaces, "team", ""), nullptr);
    EXPECT_EQ(get(Kind("", "secrets"), "s", "team"), nullptr);
}

TEST_F(ControllersTest, garbage_follows_its_owner_in_each_way) {
    node("n1");
    create(kDeployments, kDeployment);
    run(1min);
    edit(kDeployments, "web", "default",
         [](JsonObject& web) { list_at(metadata_of(web), "finalizers").push_back("orphan"); });
    ASSERT_TRUE(store.remove(kDeployments, "default", "web"));
    run(1min);
    EXPECT_EQ(get(kDeployments, "web"), nullptr);
    ASSERT_EQ(store.list(kReplicaSets, "default").size(), 1U);
    const auto set = name_of(*store.list(kReplicaSets, "default")[0]);
    edit(kReplicaSets, set, "default",
         [](JsonObject& one) { list_at(metadata_of(one), "finalizers").push_back("foregroundDeletion"); });
    ASSERT_TRUE(store.remove(kReplicaSets, "default", set));
    run(1s);
    EXPECT_NE(get(kReplicaSets, set), nullptr);
    run(1min);
    EXPECT_EQ(get(kReplicaSets, set), nullptr);
    EXPECT_TRUE(pods().empty());
}

TEST_F(ControllersTest, service_lists_its_ready_pods) {
    node("n1");
    create(kDeployments, kDeployment);
    create(
        kServices,
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"default"},"spec":{"selector":{"app":"web"},"ports":[{"port":80,"targetPort":"http"}]}})");
    run(1min);
    const auto endpoints = get(Kind("", "endpoints"), "web");
    ASSERT_NE(endpoints, nullptr);
    EXPECT_EQ(base::get_array(*endpoints, "subsets.0.addresses").size(), 3U);
    EXPECT_EQ(base::get_int(*endpoints, "subsets.0.ports.0.port"), 8080);
    ASSERT_TRUE(store.remove(kServices, "default", "web"));
    run(1s);
    EXPECT_EQ(get(Kind("", "endpoints"), "web"), nullptr);
    EXPECT_TRUE(store.list(Kind("discovery.k8s.io", "endpointslices"), "default").empty());
}

TEST_F(ControllersTest, load_goes_on_from_what_was_saved) {
    node("n1");
    create(kDeployments, kDeployment);
    run(1min);
    const auto pod = name_of(*pods()[0]);
    const auto objects = store.save();
    const auto state = controllers->save();
    edit(kDeployments, "web", "default", [](JsonObject& web) { object_at(web, "spec")["replicas"] = 0; });
    run(1min);
    EXPECT_TRUE(pods().empty());
    store.load(objects);
    controllers->load(state);
    run(1min);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_NE(controllers->log("default", pod, "main"), nullptr);
}

TEST_F(ControllersTest, speed_divides_durations_and_rescales_what_runs) {
    node("n1");
    create(
        kPods,
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"i","command":["sleep","600"]}]}})");
    run(30s);
    EXPECT_EQ(base::get_string(*get(kPods, "p"), "status.phase"), "Running");
    controllers->set_speed(60);
    run(11s);
    EXPECT_EQ(base::get_string(*get(kPods, "p"), "status.phase"), "Succeeded");
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
