// The kubelet's part: images, init containers, probes, restarts, deadlines, volumes.
#include "twin/kube/controllers/controllers_fixture.h"
#include "twin/kube/controllers/pods/commands.h"
#include "twin/kube/controllers/pods/images.h"

namespace instantstart::twin::kube::controllers {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

std::optional<Run> run_of(const char* command) {
    return plain_run(JsonObject{{"command", base::parse_json(command).value()}});
}

TEST(Commands, plain_scripts_are_understood_and_others_are_not) {
    EXPECT_DOUBLE_EQ(run_of(R"(["sleep","5"])")->seconds, 5);
    EXPECT_EQ(run_of(R"(["/bin/false"])")->code, 1);
    EXPECT_EQ(run_of(R"(["sh","-c","echo hello; sleep 2; exit 42"])")->code, 42);
    EXPECT_DOUBLE_EQ(run_of(R"(["sh","-c","echo hello; sleep 2; exit 42"])")->seconds, 2);
    EXPECT_EQ(run_of(R"(["bash","-ec","false; sleep 9"])")->code, 1);
    EXPECT_EQ(run_of(R"(["sh","-c","false && exit 3"])")->code, 1);
    EXPECT_EQ(run_of(R"(["sh","-c","false; exit 3"])")->code, 3);
    EXPECT_FALSE(run_of(R"(["sleep","infinity"])"));
    EXPECT_FALSE(run_of(R"(["sh","-c","sleep 5; exec server"])"));
    EXPECT_FALSE(run_of(R"(["sh","-c","exit $CODE"])"));
    EXPECT_FALSE(run_of(R"([])"));
}

TEST(ImageNames, are_completed_or_refused) {
    EXPECT_EQ(full_image_name("web:1"), "docker.io/library/web:1");
    EXPECT_EQ(full_image_name("team/web"), "docker.io/team/web:latest");
    EXPECT_EQ(full_image_name("nvcr.io/nvidia/k8s-device-plugin:v0.17"),
              "nvcr.io/nvidia/k8s-device-plugin:v0.17");
    EXPECT_EQ(full_image_name("localhost:5000/a@sha256:ab"), "localhost:5000/a@sha256:ab");
    EXPECT_EQ(full_image_name("Web:1"), "");
    EXPECT_EQ(full_image_name("web:"), "");
    EXPECT_EQ(full_image_name("a//b"), "");
}

class PodLifeTest : public ControllersTest {
protected:
    PodLifeTest() { node("n1"); }
    std::string state(const std::string& pod, const std::string& what, int container = 0) {
        return text(kPods, pod, "status.containerStatuses." + std::to_string(container) + ".state." + what);
    }
    std::int64_t restarts(const std::string& pod) {
        return base::get_int(*get(kPods, pod), "status.containerStatuses.0.restartCount");
    }
};

TEST_F(PodLifeTest, a_start_is_told_step_by_step_and_the_image_stays_on_the_node) {
    pod("p1");
    run(15s);
    EXPECT_EQ(events("Pulling", "p1"), std::vector<std::string>{"Pulling image \"app:1\""});
    EXPECT_THAT(events("Pulled", "p1")[0], StartsWith("Successfully pulled image \"app:1\" in "));
    EXPECT_EQ(events("Created", "p1")[0], "Created container: main");
    EXPECT_EQ(events("Started", "p1")[0], "Started container main");
    pod("p2");
    run(2s);
    EXPECT_EQ(phase("p2"), "Running");
    EXPECT_EQ(events("Pulled", "p2")[0], "Container image \"app:1\" already present on machine");
}

TEST_F(PodLifeTest, an_image_that_cannot_be_had_is_tried_again_and_again) {
    ASSERT_TRUE(controllers->fail_images("docker.io/library/app", "not_found"));
    pod("p");
    run(1s);
    EXPECT_EQ(state("p", "waiting.reason"), "ErrImagePull");
    EXPECT_THAT(events("Failed", "p"), Contains(HasSubstr("docker.io/library/app:1: not found")));
    EXPECT_THAT(events("Failed", "p"), Contains("Error: ErrImagePull"));
    run(4s);
    EXPECT_EQ(state("p", "waiting.reason"), "ImagePullBackOff");
    EXPECT_EQ(events("BackOff", "p")[0], "Back-off pulling image \"app:1\"");
    EXPECT_THAT(events("Failed", "p"), Contains("Error: ImagePullBackOff"));
    EXPECT_EQ(phase("p"), "Pending");
    ASSERT_TRUE(controllers->fail_images("docker.io/library/app", ""));
    run(1min);
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_FALSE(controllers->fail_images("x", "broken"));
    EXPECT_FALSE(controllers->fail_images("", "denied"));
}

TEST_F(PodLifeTest, names_that_no_registry_has) {
    pod("far", R"("containers":[{"name":"main","image":"registry.invalid/team/app:1"}])");
    pod("odd", R"("containers":[{"name":"main","image":"My App"}])");
    pod("never", R"("containers":[{"name":"main","image":"app:9","imagePullPolicy":"Never"}])");
    run(1s);
    EXPECT_THAT(state("far", "waiting.message"), HasSubstr("lookup registry.invalid: no such host"));
    EXPECT_EQ(state("odd", "waiting.reason"), "InvalidImageName");
    EXPECT_THAT(event_message("InspectFailed"),
                HasSubstr("couldn't parse image name \"My App\": invalid reference format"));
    EXPECT_EQ(state("never", "waiting.reason"), "ErrImageNeverPull");
}

TEST_F(PodLifeTest, image_failures_outlive_a_restart_of_the_twin) {
    ASSERT_TRUE(controllers->fail_images("app", "denied"));
    const auto objects = store.save();
    const auto saved = controllers->save();
    ASSERT_TRUE(controllers->fail_images("app", ""));
    store.load(objects);
    controllers->load(saved);
    pod("p");
    run(1s);
    EXPECT_EQ(state("p", "waiting.reason"), "ErrImagePull");
}

TEST_F(PodLifeTest, a_failing_container_restarts_at_once_then_ever_later) {
    pod("p", R"("containers":[{"name":"main","image":"app:1","command":["sh","-c","exit 3"]}])");
    run(15s);
    EXPECT_GE(restarts("p"), 1);
    EXPECT_EQ(state("p", "waiting.reason"), "CrashLoopBackOff");
    EXPECT_THAT(state("p", "waiting.message"), StartsWith("back-off "));
    EXPECT_THAT(state("p", "waiting.message"), HasSubstr("restarting failed container=main pod=p_default("));
    EXPECT_THAT(event_message("BackOff"),
                StartsWith("Back-off restarting failed container main in pod p_default("));
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_EQ(base::get_int(*get(kPods, "p"), "status.containerStatuses.0.lastState.terminated.exitCode"), 3);
    run(2h);
    const auto before = restarts("p");
    run(1h);
    EXPECT_NEAR(static_cast<double>(restarts("p") - before), 12, 1);  // every five minutes
}

TEST_F(PodLifeTest, init_containers_run_one_after_the_other_and_sidecars_stay) {
    pod("p",
        R"("initContainers":[{"name":"first","image":"i:1","command":["sleep","30"]},
            {"name":"side","image":"s:1","restartPolicy":"Always"},{"name":"last","image":"i:1","command":["true"]}],
            "containers":[{"name":"main","image":"app:1"}])");
    run(15s);
    EXPECT_EQ(phase("p"), "Pending");
    EXPECT_EQ(state("p", "waiting.reason"), "PodInitializing");
    EXPECT_EQ(base::get_string(*get(kPods, "p"), "status.conditions.2.message"),
              "containers with incomplete status: [first side last]");
    run(1min);
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_TRUE(is_ready(*get(kPods, "p")));
    const auto& init = base::get_array(*get(kPods, "p"), "status.initContainerStatuses");
    EXPECT_EQ(base::get_string(init[0], "state.terminated.reason"), "Completed");
    EXPECT_NE(base::find_path(init[1], "state.running"), nullptr);
}

TEST_F(PodLifeTest, a_failing_init_container_ends_a_pod_that_may_not_restart) {
    const std::string init =
        R"("initContainers":[{"name":"first","image":"i:1","command":["false"]}],"containers":[{"name":"main","image":"app:1"}])";
    pod("once", init + R"(,"restartPolicy":"Never")");
    pod("again", init);
    run(30s);
    EXPECT_EQ(phase("once"), "Failed");
    EXPECT_EQ(phase("again"), "Pending");
    EXPECT_EQ(text(kPods, "again", "status.initContainerStatuses.0.state.waiting.reason"),
              "CrashLoopBackOff");
}

TEST_F(PodLifeTest, readiness_comes_after_its_delay_and_not_at_all_where_the_probe_fails) {
    pod("slow",
        R"("containers":[{"name":"main","image":"app:1","readinessProbe":{"httpGet":{"port":80},"initialDelaySeconds":60}}])");
    pod("never",
        R"("containers":[{"name":"main","image":"app:1","readinessProbe":{"exec":{"command":["false"]}}}])");
    run(30s);
    EXPECT_EQ(phase("slow"), "Running");
    EXPECT_FALSE(is_ready(*get(kPods, "slow")));
    EXPECT_EQ(base::get_string(*get(kPods, "slow"), "status.conditions.3.message"),
              "containers with unready status: [main]");
    run(1min);
    EXPECT_TRUE(is_ready(*get(kPods, "slow")));
    EXPECT_FALSE(is_ready(*get(kPods, "never")));
    EXPECT_EQ(events("Unhealthy", "never")[0], "Readiness probe failed: ");
    EXPECT_EQ(restarts("never"), 0);
}

TEST_F(PodLifeTest, startup_and_liveness_probes_that_fail_restart_the_container) {
    pod("dead",
        R"("containers":[{"name":"main","image":"app:1","livenessProbe":{"exec":{"command":["sh","-c","exit 1"]},"periodSeconds":5}}])");
    pod("stuck",
        R"("containers":[{"name":"main","image":"app:1","startupProbe":{"exec":{"command":["false"]},"periodSeconds":5,"failureThreshold":2}}])");
    run(40s);
    EXPECT_GE(restarts("dead"), 1);
    EXPECT_THAT(events("Killing", "dead"),
                Contains("Container main failed liveness probe, will be restarted"));
    EXPECT_GE(restarts("stuck"), 1);
    EXPECT_THAT(events("Killing", "stuck"),
                Contains("Container main failed startup probe, will be restarted"));
    EXPECT_FALSE(is_ready(*get(kPods, "stuck")));
}

TEST_F(PodLifeTest, one_container_of_two_ends_and_the_other_goes_on) {
    pod("p",
        R"("restartPolicy":"Never","containers":[{"name":"a","image":"app:1","command":["sleep","infinity"]},{"name":"b","image":"app:1","command":["sleep","infinity"]}])");
    run(30s);
    ASSERT_TRUE(controllers->append_log("default", "p", "a", {"bye"}, 0));
    run(1s);
    EXPECT_EQ(phase("p"), "Running");
    EXPECT_FALSE(is_ready(*get(kPods, "p")));
    ASSERT_TRUE(controllers->append_log("default", "p", "b", {}, 2));
    EXPECT_EQ(phase("p"), "Failed");
}

TEST_F(PodLifeTest, a_deadline_ends_the_pod) {
    pod("p", R"("activeDeadlineSeconds":60)");
    run(30s);
    EXPECT_EQ(phase("p"), "Running");
    run(1min);
    EXPECT_EQ(phase("p"), "Failed");
    EXPECT_EQ(text(kPods, "p", "status.reason"), "DeadlineExceeded");
}

TEST_F(PodLifeTest, what_a_pod_mounts_or_reads_must_be_there) {
    pod("mounts", R"("volumes":[{"name":"v","configMap":{"name":"settings"}}])");
    pod("reads",
        R"("containers":[{"name":"main","image":"app:1","env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]}])");
    run(30s);
    EXPECT_EQ(events("FailedMount", "mounts")[0],
              "MountVolume.SetUp failed for volume \"v\" : configmap \"settings\" not found");
    EXPECT_EQ(state("mounts", "waiting.reason"), "ContainerCreating");
    EXPECT_EQ(state("reads", "waiting.reason"), "CreateContainerConfigError");
    EXPECT_THAT(events("Failed", "reads"), Contains("Error: secret \"s\" not found"));
    create(kConfigMaps,
           R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"default"}})");
    create(
        kSecrets,
        R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"default"},"data":{"k":"djE="}})");
    run(30s);
    EXPECT_EQ(phase("mounts"), "Running");
    EXPECT_EQ(phase("reads"), "Running");
}

TEST_F(PodLifeTest, the_hook_before_the_end_takes_its_time_within_the_grace) {
    const auto with = [](const char* seconds, const char* grace) {
        return std::string(R"("terminationGracePeriodSeconds":)") + grace +
               R"(,"containers":[{"name":"main","image":"app:1","lifecycle":{"preStop":{"sleep":{"seconds":)" +
               seconds + "}}}}]";
    };
    pod("patient", with("15", "60"));
    pod("cut", with("100", "10"));
    run(30s);
    for (const char* name : {"patient", "cut"}) {
        edit(kPods, name, "default", [&](JsonObject& one) {
            metadata_of(one)["deletionTimestamp"] = base::format_time(clock.now());
            metadata_of(one)["deletionGracePeriodSeconds"] =
                base::get_int(one, "spec.terminationGracePeriodSeconds");
        });
    }
    run(12s);
    EXPECT_EQ(get(kPods, "cut"), nullptr);
    EXPECT_NE(get(kPods, "patient"), nullptr);
    EXPECT_EQ(events("Killing", "patient")[0], "Stopping container main");
    run(8s);
    EXPECT_EQ(get(kPods, "patient"), nullptr);
}

TEST_F(PodLifeTest, without_network_only_pods_of_the_host_start) {
    node("n2");
    set_node_ready("n2", "False");
    const std::string there = R"("nodeName":"n2","tolerations":[{"operator":"Exists"}])";
    pod("host", there + R"(,"hostNetwork":true)");
    pod("other", there);
    run(30s);
    EXPECT_EQ(phase("host"), "Running");
    EXPECT_EQ(phase("other"), "Pending");
    EXPECT_THAT(events("NetworkNotReady", "other")[0], HasSubstr("cni plugin not initialized"));
    set_node_ready("n2", "True");
    run(30s);
    EXPECT_EQ(phase("other"), "Running");
}

}  // namespace
}  // namespace instantstart::twin::kube::controllers
