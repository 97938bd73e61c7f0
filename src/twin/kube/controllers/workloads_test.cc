// What keeps pods: deployments, sets, services; and what bounds them: quotas, limits, budgets.
#include "twin/kube/admission.h"
#include "twin/kube/controllers/controllers_fixture.h"

namespace instantstart::twin::kube::controllers {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

class WorkloadsTest : public ControllersTest {
protected:
    WorkloadsTest() { node("n1", "ml.m5.xlarge", 100); }
    void set_image(const Kind& kind, const std::string& name, const std::string& image) {
        edit(kind, name, "default", [&](JsonObject& one) {
            one.at("spec").at("template").at("spec").at("containers").at(0).as_object()["image"] = image;
        });
    }
    std::string progressing() {
        for (const auto& one : base::get_array(*get(kDeployments, "web"), "status.conditions")) {
            if (base::get_string(one, "type") == "Progressing")
                return base::get_string(one, "status") + " " + base::get_string(one, "reason");
        }
        return {};
    }
    void quota(const std::string& hard) {
        create(
            Kind("", "resourcequotas"),
            R"({"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q","namespace":"default"},"spec":{"hard":)" +
                hard + "}}");
    }
    void stateful_set(const std::string& more = "") {
        create(
            kStatefulSets,
            R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","namespace":"default"},"spec":{"replicas":3,"serviceName":"db",)" +
                more +
                R"("selector":{"matchLabels":{"app":"db"}},"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"main","image":"db:1"}]}}}})");
    }
};

TEST_F(WorkloadsTest, a_rollout_keeps_within_surge_and_unavailability) {
    create(kDeployments, kDeployment);
    edit(kDeployments, "web", "default", [](JsonObject& web) {
        web.at("spec").as_object()["replicas"] = 10;
        web.at("spec").as_object()["strategy"] =
            parse(R"({"type":"RollingUpdate","rollingUpdate":{"maxSurge":2,"maxUnavailable":3}})");
    });
    run(1min);
    EXPECT_THAT(events("ScalingReplicaSet"), Contains(StartsWith("Scaled up replica set web-")));
    set_image(kDeployments, "web", "web:2");
    for (int i = 0; i < 90; ++i) {
        run(500ms);
        std::size_t alive = 0;
        for (const auto& one : pods()) alive += is_terminating(*one) ? 0 : 1;
        EXPECT_LE(alive, 12U);
        EXPECT_GE(ready_pods(), 7U);
    }
    for (const auto& one : pods()) EXPECT_EQ(base::get_string(*one, "spec.containers.0.image"), "web:2");
    EXPECT_EQ(progressing(), "True NewReplicaSetAvailable");
}

TEST_F(WorkloadsTest, a_rollout_that_does_not_get_on_says_so_in_time) {
    create(kDeployments, kDeployment);
    run(1min);
    set_image(kDeployments, "web", "registry.invalid/web:2");
    run(9min);
    EXPECT_EQ(progressing(), "True ReplicaSetUpdated");
    run(2min);
    EXPECT_EQ(progressing(), "False ProgressDeadlineExceeded");
    EXPECT_EQ(ready_pods(), 3U);  // the old ones stay
    set_image(kDeployments, "web", "web:1");
    run(1min);
    EXPECT_EQ(progressing(), "True NewReplicaSetAvailable");
    EXPECT_EQ(base::get_object(*get(kDeployments, "web"), "metadata.annotations")
                  .at("deployment.kubernetes.io/revision"),
              "3");  // as after kubectl rollout undo
}

TEST_F(WorkloadsTest, a_quota_bounds_what_a_deployment_makes_and_says_why) {
    quota(R"({"pods":"2"})");
    run(1s);
    create(kDeployments, kDeployment);
    run(30s);
    EXPECT_EQ(pods().size(), 2U);
    EXPECT_EQ(text(Kind("", "resourcequotas"), "q", "status.used.pods"), "2");
    EXPECT_THAT(events("FailedCreate"),
                Contains(HasSubstr(
                    "is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")));
    EXPECT_TRUE(condition_is(*get(kDeployments, "web"), "ReplicaFailure", "True"));
    edit(Kind("", "resourcequotas"), "q", "default",
         [](JsonObject& q) { q.at("spec").at("hard").as_object()["pods"] = "5"; });
    run(2min);
    EXPECT_EQ(ready_pods(), 3U);
}

TEST_F(WorkloadsTest, quotas_count_devices_and_give_back_what_ends) {
    quota(R"({"requests.nvidia.com/gpu":"8","requests.memory":"64Gi"})");
    run(1s);
    JsonObject pod = parse(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"main","image":"t:1","resources":{"requests":{"nvidia.com/gpu":"6","memory":"1Gi"}}}]}})");
    ASSERT_TRUE(admit_by_quotas(store, kPods, pod, QuotaUse::taken));
    ASSERT_TRUE(store.create(kPods, pod));
    const auto refused = admit_by_quotas(store, kPods, pod, QuotaUse::checked);
    ASSERT_FALSE(refused);
    EXPECT_THAT(
        refused.error().message,
        HasSubstr("exceeded quota: q, requested: requests.nvidia.com/gpu=6, used: requests.nvidia.com/gpu=6, "
                  "limited: requests.nvidia.com/gpu=8"));
    JsonObject plain = parse(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","namespace":"default"},"spec":{"containers":[{"name":"main","image":"t:1"}]}})");
    EXPECT_THAT(admit_by_quotas(store, kPods, plain, QuotaUse::checked).error().message,
                HasSubstr("failed quota: q: must specify requests.memory for: main"));
    ASSERT_TRUE(store.remove(kPods, "default", "p"));
    run(1s);
    EXPECT_TRUE(admit_by_quotas(store, kPods, pod, QuotaUse::checked));
}

TEST_F(WorkloadsTest, limits_fill_what_is_left_out_and_refuse_what_is_beyond) {
    create(
        Kind("", "limitranges"),
        R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"l","namespace":"default"},"spec":{"limits":[{"type":"Container",
        "default":{"cpu":"1"},"defaultRequest":{"cpu":"250m"},"max":{"cpu":"2"},"min":{"cpu":"100m"}}]}})");
    JsonObject pod = parse(
        R"({"metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"main","image":"t:1"}]}})");
    ASSERT_TRUE(admit_by_limits(store, kPods, pod));
    EXPECT_EQ(base::get_string(pod, "spec.containers.0.resources.requests.cpu"), "250m");
    EXPECT_EQ(base::get_string(pod, "spec.containers.0.resources.limits.cpu"), "1");
    pod = parse(
        R"({"metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"main","image":"t:1","resources":{"requests":{"cpu":"50m"},"limits":{"cpu":"4"}}}]}})");
    EXPECT_EQ(
        admit_by_limits(store, kPods, pod).error().message,
        "pods \"p\" is forbidden: [minimum cpu usage per Container is 100m, but request is 50m, maximum cpu "
        "usage per Container is 2, but limit is 4]");
}

TEST_F(WorkloadsTest, a_budget_lets_pods_go_one_by_one) {
    create(kDeployments, kDeployment);
    create(
        Kind("policy", "poddisruptionbudgets"),
        R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b","namespace":"default"},"spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":"web"}}}})");
    run(1min);
    const Kind budgets("policy", "poddisruptionbudgets");
    EXPECT_EQ(base::get_int(*get(budgets, "b"), "status.disruptionsAllowed"), 1);
    EXPECT_EQ(base::get_int(*get(budgets, "b"), "status.desiredHealthy"), 2);
    const auto all = pods();
    ASSERT_TRUE(admit_eviction(store, *all[0], QuotaUse::taken));
    const auto refused = admit_eviction(store, *all[1], QuotaUse::taken);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "Cannot evict pod as it would violate the pod's disruption budget.");
    EXPECT_EQ(base::get_int(refused.error().extra, "status"), 429);
    EXPECT_EQ(base::get_string(refused.error().extra, "details.causes.0.message"),
              "The disruption budget b needs 2 healthy pods and has 3 currently");
}

TEST_F(WorkloadsTest, stateful_pods_come_and_go_in_order) {
    stateful_set();
    run(5s);
    EXPECT_EQ(pods().size(), 1U);
    run(1min);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_THAT(events("SuccessfulCreate"), Contains("create Pod db-2 in StatefulSet db successful"));
    edit(kStatefulSets, "db", "default", [](JsonObject& db) { object_at(db, "spec")["replicas"] = 1; });
    run(1s);
    EXPECT_TRUE(is_terminating(*get(kPods, "db-2")));
    EXPECT_FALSE(is_terminating(*get(kPods, "db-1")));
    run(30s);
    EXPECT_EQ(pods().size(), 1U);
}

TEST_F(WorkloadsTest, a_partition_keeps_earlier_pods_on_their_revision) {
    stateful_set(R"("updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}},)");
    run(1min);
    const auto before = text(kStatefulSets, "db", "status.currentRevision");
    set_image(kStatefulSets, "db", "db:2");
    run(1min);
    EXPECT_EQ(text(kPods, "db-2", "spec.containers.0.image"), "db:2");
    EXPECT_EQ(text(kPods, "db-1", "spec.containers.0.image"), "db:1");
    EXPECT_EQ(text(kStatefulSets, "db", "status.currentRevision"), before);
    EXPECT_NE(text(kStatefulSets, "db", "status.updateRevision"), before);
    ASSERT_TRUE(store.remove(kPods, "default", "db-0"));
    run(30s);
    EXPECT_EQ(text(kPods, "db-0", "spec.containers.0.image"), "db:1");  // made anew from its history
    EXPECT_EQ(store.list(Kind("apps", "controllerrevisions"), "default").size(), 2U);
}

TEST_F(WorkloadsTest, daemon_pods_are_exchanged_one_node_at_a_time) {
    for (const char* name : {"n2", "n3"}) node(name);
    create(kDaemonSets, kPlugin);
    run(1min);
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.numberAvailable"), 3);
    set_image(kDaemonSets, "plugin", "nvcr.io/nvidia/k8s-device-plugin:v0.18");
    for (int i = 0; i < 60; ++i) {
        run(1s);
        EXPECT_GE(ready_pods(), 2U);
    }
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.updatedNumberScheduled"), 3);
    taint_node("n2", "only", "x", "NoSchedule");
    run(1s);
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.desiredNumberScheduled"), 2);
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.numberMisscheduled"), 1);
    node("n4");
    run(30s);
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.numberReady"), 3);
    ASSERT_TRUE(store.remove(kNodes, "", "n4"));
    run(1min);
    EXPECT_EQ(base::get_int(*get(kDaemonSets, "plugin"), "status.numberReady"), 2);
}

TEST_F(WorkloadsTest, slices_hold_a_hundred_and_follow_the_pods) {
    edit(kNodes, "n1", "",
         [](JsonObject& n1) { object_at(object_at(n1, "status"), "allocatable")["pods"] = "1000"; });
    create(kDeployments, kDeployment);
    edit(kDeployments, "web", "default", [](JsonObject& web) { object_at(web, "spec")["replicas"] = 150; });
    create(
        kServices,
        R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"default"},"spec":{"clusterIP":"None","selector":{"app":"web"},"ports":[{"port":80,"targetPort":"http"}]}})");
    run(1min);
    const Kind slices("discovery.k8s.io", "endpointslices");
    ASSERT_EQ(store.list(slices, "default").size(), 2U);
    std::size_t ready = 0;
    for (const auto& slice : store.list(slices, "default")) {
        EXPECT_LE(base::get_array(*slice, "endpoints").size(), 100U);
        EXPECT_EQ(base::get_int(*slice, "ports.0.port"), 8080);
        for (const auto& one : base::get_array(*slice, "endpoints"))
            ready += base::get_bool(one, "conditions.ready") ? 1 : 0;
    }
    EXPECT_EQ(ready, 150U);
    EXPECT_TRUE(base::get_object(*get(Kind("", "endpoints"), "web"), "metadata.labels")
                    .contains("service.kubernetes.io/headless"));
    edit(kDeployments, "web", "default", [](JsonObject& web) { object_at(web, "spec")["replicas"] = 10; });
    run(1min);
    EXPECT_EQ(store.list(slices, "default").size(), 1U);
}

TEST_F(WorkloadsTest, minimum_time_of_being_ready_delays_availability) {
    create(kDeployments, kDeployment);
    edit(kDeployments, "web", "default",
         [](JsonObject& web) { object_at(web, "spec")["minReadySeconds"] = 120; });
    run(1min);
    EXPECT_EQ(ready_pods(), 3U);
    EXPECT_EQ(base::get_int(*get(kDeployments, "web"), "status.availableReplicas"), 0);
    run(3min);
    EXPECT_EQ(base::get_int(*get(kDeployments, "web"), "status.availableReplicas"), 3);
}

TEST_F(WorkloadsTest, a_volume_of_its_own_comes_and_goes_with_the_pod) {
    create(
        Kind("storage.k8s.io", "storageclasses"),
        R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"gp3"},"provisioner":"ebs.csi.aws.com","reclaimPolicy":"Delete","volumeBindingMode":"WaitForFirstConsumer"})");
    pod("p",
        R"("volumes":[{"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{"storageClassName":"gp3","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"10Gi"}}}}}}])");
    run(30s);
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_EQ(text(kClaims, "p-scratch", "status.phase"), "Bound");
    ASSERT_TRUE(store.remove(kPods, "default", "p"));
    run(10s);
    EXPECT_EQ(get(kClaims, "p-scratch"), nullptr);
    EXPECT_TRUE(store.list(kVolumes).empty());
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
