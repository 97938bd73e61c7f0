// What excludes what, from outside: requests that AWS's guide and API model rule out, written down one by
// one. Each is refused before any call that changes something, naming both sides and the way out.
#include <gmock/gmock.h>

#include <vector>

#include "app/domain_makers.h"
#include "app/small_account.h"

namespace instantstart::app {
namespace {

using ::testing::HasSubstr;
using testing::json;

struct Refused {
    const char* operation;
    std::string body;
    std::vector<const char*> says;  // both names, and the remedy
    const char* pointer = nullptr;  // of one of the fields, where fields are named
    std::string cluster = "{}";     // what DescribeCluster says instead
    std::string groups = "";        // its groups, instead of "system"
    std::string path = "";          // an object of the API server
    std::string object = "";
};

constexpr const char* kAdd = "instance_group.add";
constexpr const char* kUpdate = "feature.update";
constexpr const char* kLaunch = "cluster.launch";

constexpr const char* kSystem =
    R"({"InstanceGroupName": "system", "InstanceType": "ml.m5.4xlarge", "TargetCount": 2, "CurrentCount": 2,
        "Status": "InService"})";

// A request for a group, with further members.
std::string group(const std::string& more, const std::string& count = "0") {
    return R"({"name": "burst", "instance_type": "ml.g5.12xlarge", "zone": "us-west-2a", "count": )" + count +
           (more.empty() ? "" : ", " + more) + "}";
}
// The same as SageMaker describes it, beside "system".
std::string described(const std::string& more, const std::string& count = "0") {
    return "[" + std::string(kSystem) +
           R"(, {"InstanceGroupName": "burst", "InstanceType": "ml.g5.12xlarge", "Status": "InService",
                 "CurrentCount": 0, "TargetCount": )" +
           count + (more.empty() ? "" : ", " + more) + "}]";
}
std::string autoscaling(const std::string& more = "") {
    return R"({"autoscaling": {"enabled": true, "instance_groups": ["burst"])" +
           (more.empty() ? "" : ", " + more) + "}}";
}
std::string launch(const std::string& groups, const std::string& features) {
    return R"({"name": "fresh", "instance_groups": [)" + groups + R"(], "features": )" + features + "}";
}
constexpr const char* kSystemGroup =
    R"({"name": "system", "instance_type": "ml.m5.4xlarge", "zone": "us-west-2a", "count": 2})";

constexpr const char* kPlanArn =
    R"("training_plan_arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june")";
std::string capacity(const std::string& type, bool plan) {
    return R"("capacity": {"type": ")" + type + R"(")" + (plan ? ", " + std::string(kPlanArn) : "") + "}";
}
const std::string kClassic = R"({"NodeProvisioningMode": null})";
const std::string kElasticJobs = "/apis/sagemaker.amazonaws.com/v1/hyperpodpytorchjobs";
const std::string kElasticJob =
    R"({"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"namespace": "team", "name": "llama"},
        "spec": {"elasticPolicy": {"minReplicas": 1}}}]})";

// Capacity, and what a group is.
std::vector<Refused> groups_by_themselves() {
    return {
        {kAdd,
         group(capacity("spot", true)),
         {"Spot capacity", "training_plan_arn", "leave training_plan_arn out"},
         "/capacity/training_plan_arn"},
        {kAdd,
         group(capacity("on_demand", true)),
         {"capacity on demand", "training_plan_arn", "choose capacity.type training_plan"},
         "/capacity/training_plan_arn"},
        {kAdd,
         group(capacity("training_plan", false)),
         {"capacity of a training plan", "no training_plan_arn", "give training_plan_arn"},
         "/capacity/training_plan_arn"},
        {kAdd,
         group(capacity("training_plan", true)),
         {"capacity of a training plan", "ml.g5.12xlarge", "choose another type"},
         "/instance_type"},
        {kAdd,
         R"({"name": "burst", "instance_types": ["ml.p5.48xlarge", "ml.p4d.24xlarge"], "zone": "us-west-2a",
             "count": 0, )" +
             capacity("training_plan", true) + "}",
         {"capacity of a training plan", "several instance types", "give the plan's type"},
         "/instance_types"},
        {kAdd,
         group(R"("instance_types": ["ml.g5.xlarge"])"),
         {"instance_type", "instance_types"},
         "/instance_type"},
        {kAdd,
         R"({"name": "burst", "zone": "us-west-2a", "count": 0})",
         {"give either instance_type or instance_types"},
         "/instance_type"},
        {kAdd, group(R"("min_count": 3)", "2"), {"min_count 3", "count 2", "lower min_count"}, "/min_count"},
        {kAdd,
         group(R"("deep_health_checks": ["InstanceStress"], "taints": [{"key": "a",
                         "effect": "NoSchedule"}])"),
         {"deep health checks", "custom taints", "leave taints out"},
         "/taints"},
        {kAdd,
         R"({"name": "burst", "instance_type": "ml.c5.4xlarge", "zone": "us-west-2a", "count": 0,
                   "deep_health_checks": ["InstanceStress"]})",
         {"deep health checks", "ml.c5.4xlarge", "leave deep_health_checks out"},
         "/deep_health_checks"},
        // HyperPod has no Inferentia: the type alone is refused.
        {kAdd,
         R"({"name": "burst", "instance_type": "ml.inf2.8xlarge", "zone": "us-west-2a", "count": 0,
                   "deep_health_checks": ["InstanceStress"]})",
         {"no instance type of HyperPod"},
         "/instance_type"},
        {kAdd,
         R"({"name": "burst", "instance_type": "ml.g5.xlarge", "zone": "us-west-2a", "count": 0,
                   "interface_type": "efa-only"})",
         {"interface_type efa-only", "ml.g5.xlarge", "choose a type with EFA"},
         "/interface_type"},
        {kAdd,
         R"({"name": "burst", "instance_type": "ml.p6e-gb200.36xlarge", "zone": "us-west-2a",
                   "count": 0, "threads_per_core": 2})",
         {"two threads per core", "ml.p6e-gb200.36xlarge", "leave threads_per_core out"},
         "/threads_per_core"},
        {kLaunch,
         R"({"name": "fresh", "instance_groups": [)" + group("", "1") + "," + group("", "1") + "]}",
         {"another group has this name"},
         "/instance_groups/1/name"}};
}

// A group whose count managed autoscaling sets.
std::vector<Refused> autoscaled_groups() {
    return {{kAdd,
             R"({"name": "burst", "instance_type": "ml.p5.48xlarge", "zone": "us-west-2a", "count": 0,
                   "autoscaled": true, )" +
                 capacity("training_plan", true) + "}",
             {"managed autoscaling", "capacity of a training plan", "buy on demand or Spot"},
             "/autoscaled"},
            {kAdd,
             group(R"("autoscaled": true, "deep_health_checks": ["InstanceStress"])"),
             {"managed autoscaling", "deep health checks", "leave deep_health_checks out"},
             "/autoscaled"},
            {kAdd,
             group(R"("autoscaled": true)", "1"),
             {"managed autoscaling", "count 1", "set count to 0"},
             "/count"},
            {kAdd,
             group(R"("autoscaled": true, "min_count": 1)"),
             {"managed autoscaling", "min_count 1", "leave min_count out"},
             "/min_count"},
            {kAdd,
             R"({"name": "burst", "instance_type": "ml.p6e-gb200.36xlarge", "zone": "us-west-2a",
                   "count": 0, "autoscaled": true})",
             {"managed autoscaling", "ml.p6e-gb200.36xlarge", "choose types with amd64"},
             "/autoscaled"}};
}

// What needs continuous provisioning.
std::vector<Refused> classic_clusters() {
    const auto row = [](const std::string& body, std::vector<const char*> words) {
        words.push_back("a cluster without continuous provisioning");
        Refused made{kAdd, body, std::move(words)};
        made.cluster = kClassic;
        return made;
    };
    auto feature = row(autoscaling(), {"managed autoscaling", "switch continuous provisioning on first"});
    feature.operation = kUpdate;
    feature.groups = described("");
    return {row(group(capacity("spot", false)), {"Spot capacity", "ask for capacity on demand"}),
            row(group(R"("min_count": 1)", "1"), {"min_count 1", "leave min_count out"}),
            row(R"({"name": "burst", "instance_types": ["ml.g5.12xlarge", "ml.g5.2xlarge"],
                    "zone": "us-west-2a", "count": 0})",
                {"several instance types", "give one instance_type"}),
            row(group(R"("autoscaled": true)"), {"managed autoscaling", "leave autoscaled out"}), feature};
}

// Managed autoscaling of a cluster that runs.
std::vector<Refused> autoscaling_of_a_cluster() {
    const auto of_group = [](const std::string& more, std::vector<const char*> says) {
        Refused made{kUpdate, autoscaling(), std::move(says)};
        made.says.push_back("managed autoscaling of instance group burst");
        made.groups = described(more);
        return made;
    };
    const auto of_cluster = [](const std::string& body, std::vector<const char*> says) {
        Refused made{kUpdate, body, std::move(says)};
        made.groups = described("");
        return made;
    };
    auto recovery = of_cluster(
        autoscaling(), {"managed autoscaling", "node recovery switched off", "node recovery to automatic"});
    recovery.cluster = R"({"NodeRecovery": "None"})";
    auto lonely = of_cluster(R"({"autoscaling": {"enabled": true, "instance_groups": ["burst"]}})",
                             {"managed autoscaling", "groups are all autoscaled", "or a node group"});
    lonely.groups = R"([{"InstanceGroupName": "burst", "InstanceType": "ml.g5.12xlarge", "TargetCount": 0}])";
    auto full = of_cluster(autoscaling(), {"burst has nodes", "Karpenter", "bring it to 0 first"});
    full.groups = described("", "2");
    auto karpenter = of_cluster(autoscaling(), {"Karpenter of its own", "v1beta1", "to 1.0 or newer"});
    karpenter.path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh";
    karpenter.object = R"({"metadata": {"name": "nodepools.karpenter.sh"}, "spec": {"versions":
        [{"name": "v1beta1", "served": true}, {"name": "v1", "served": false}]}})";
    auto scaler = of_cluster(autoscaling(), {"managed autoscaling", "Cluster Autoscaler", "remove it"});
    scaler.path = "/apis/apps/v1/deployments";
    scaler.object = R"({"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"namespace":
        "kube-system", "name": "scaler"}, "spec": {"template": {"spec": {"containers": [{"image":
        "registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.0"}]}}}}]})";
    std::vector<Refused> rows{
        of_group(R"("OnStartDeepHealthChecks": ["InstanceStress"])",
                 {"deep health checks", "leave deep_health_checks out"}),
        of_group(R"("TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/june")",
                 {"capacity of a training plan", "buy on demand or Spot"}),
        of_group(R"("MinCount": 1)", {"min_count 1", "leave min_count out"}),
        of_group(R"("InstanceRequirements": {"DesiredInstanceTypes": ["ml.p6e-gb200.36xlarge"]})",
                 {"ml.p6e-gb200.36xlarge", "choose types with amd64"}),
        of_cluster(R"({"autoscaling": {"enabled": true, "instance_groups": ["ghost"]}})",
                   {"ghost does not exist", "class", "leave it out of instance_groups"}),
        of_cluster(R"({"autoscaling": {"enabled": true}})",
                   {"no instance group is there to scale", "add one with autoscaled and count 0"}),
        recovery,
        lonely,
        full,
        karpenter,
        scaler};
    for (const char* wait : {"0s", "3m", "Never"}) {
        rows.push_back(of_cluster(autoscaling(R"("consolidate_after": ")" + std::string(wait) + R"(")"),
                                  {"consolidate_after", wait, "Spot capacity", "between 1s and 2m"}));
        rows.back().groups = described(R"("CapacityRequirements": {"Spot": {}})");
    }
    return rows;
}

// Training that grows and shrinks.
std::vector<Refused> elastic_training() {
    Refused tiers{
        kUpdate,
        R"({"tiered_checkpointing": {"enabled": true}})",
        {"elastic training", "team/llama", "managed tiered checkpointing", "keep tiered_checkpointing off"}};
    tiers.path = kElasticJobs;
    tiers.object = kElasticJob;
    return {tiers};
}

// The same, and what features need, in a cluster that is only being made.
std::vector<Refused> launches() {
    const std::string on = R"({"autoscaling": {"enabled": true}})";
    const std::string burst = group("");
    const std::string system = kSystemGroup;
    return {
        {kLaunch,
         launch(system, on),
         {"needs an instance group to scale", "autoscaled and count 0"},
         "/features/autoscaling"},
        {kLaunch,
         launch(group(R"("autoscaled": true)"), on),
         {"managed autoscaling", "groups are all autoscaled", "add a group that is not autoscaled"},
         "/features/autoscaling"},
        {kLaunch,
         launch(system + "," + group("", "2"), autoscaling()),
         {"managed autoscaling of instance group burst", "count 2", "set count to 0"},
         "/features/autoscaling/instance_groups/0"},
        {kLaunch,
         launch(system + "," + group(R"("deep_health_checks": ["InstanceStress"])"), autoscaling()),
         {"managed autoscaling of instance group burst", "deep health checks",
          "leave deep_health_checks out"},
         "/features/autoscaling/instance_groups/0"},
        {kLaunch,
         launch(system + R"(, {"name": "burst", "instance_type": "ml.p5.48xlarge", "zone": "us-west-2a",
                               "count": 0, )" +
                    capacity("training_plan", true) + "}",
                autoscaling()),
         {"managed autoscaling of instance group burst", "capacity of a training plan",
          "buy on demand or Spot"},
         "/features/autoscaling/instance_groups/0"},
        {kLaunch,
         launch(system, autoscaling()),
         {"no instance group of this request", "name one that is"},
         "/features/autoscaling/instance_groups/0"},
        {kLaunch,
         launch(system + "," + group(capacity("spot", false)), autoscaling(R"("consolidate_after": "5m")")),
         {"consolidate_after 5m", "Spot capacity of instance group burst", "between 1s and 2m"},
         "/features/autoscaling/consolidate_after"},
        {kLaunch,
         launch(group("", "1"), R"({"observability": {"enabled": true}, "keda": {"enabled": true},
                                            "inference_operator": {"enabled": true}})"),
         {"inference_operator", "keda", "\"enabled\": false"}},
        {kLaunch,
         launch(R"({"name": "small", "instance_type": "ml.m5.xlarge", "zone": "us-west-2a",
                             "count": 2})",
                R"({"observability": {"enabled": true}})"),
         {"16 vCPU", "choose a larger type"},
         "/features/observability"},
        {kLaunch,
         launch(burst, R"({"training_operator": {"enabled": true}})"),
         {"its pods need nodes", "count above 0"},
         "/features/training_operator"}};
}

class ExclusionPlans : public testing::SmallAccountPlans {
protected:
    const Operation& operation(std::string_view id) const {
        for (const auto* each : {&add_, &update_, &launch_}) {
            if ((*each)->meta().id == id) return **each;
        }
        CHECK(false);
        return *add_;
    }
    void set(const std::string& cluster, const std::string& groups, const std::string& path,
             const std::string& object) {
        account_.described = json(cluster).as_object();
        account_.groups = json(groups.empty() ? "[" + std::string(kSystem) + "]" : groups).as_array();
        objects_ = empty_lists();
        if (!path.empty()) objects_[path] = object;
    }
    base::Result<Plan> ask(std::string_view id, const std::string& body) {
        auto arguments = json(body).as_object();
        if (id != kLaunch) arguments["cluster"] = "demo";
        return plan(operation(id), std::move(arguments));
    }
    void expect_refused(const std::vector<Refused>& rows) {
        for (const auto& row : rows) {
            SCOPED_TRACE(std::string(row.operation) + " " + row.body + " " + row.cluster + row.groups);
            set(row.cluster, row.groups, row.path, row.object);
            const auto made = ask(row.operation, row.body);
            ASSERT_FALSE(made);
            EXPECT_TRUE(made.error().kind == base::ErrorKind::invalid ||
                        made.error().kind == base::ErrorKind::conflict)
                << made.error().chain();
            std::string said = made.error().message + " " + made.error().hint;
            std::vector<std::string> pointers;
            for (const auto& field : made.error().fields) {
                said += " " + field.pointer + " " + field.message;
                pointers.push_back(field.pointer);
            }
            for (const char* words : row.says) EXPECT_THAT(said, HasSubstr(words));
            if (row.pointer != nullptr) EXPECT_THAT(pointers, ::testing::Contains(row.pointer));
        }
    }

private:
    std::unique_ptr<Operation> add_ = make_instance_group_add(), update_ = make_feature_update(),
                               launch_ = make_cluster_launch();
};

TEST_F(ExclusionPlans, groups_that_cannot_be) {
    expect_refused(groups_by_themselves());
}
TEST_F(ExclusionPlans, groups_that_cannot_be_autoscaled) {
    expect_refused(autoscaled_groups());
}
TEST_F(ExclusionPlans, what_needs_continuous_provisioning) {
    expect_refused(classic_clusters());
}
TEST_F(ExclusionPlans, what_stands_in_autoscalings_way) {
    expect_refused(autoscaling_of_a_cluster());
}
TEST_F(ExclusionPlans, what_elastic_training_excludes) {
    expect_refused(elastic_training());
}
TEST_F(ExclusionPlans, what_a_launch_would_fail_for_later) {
    expect_refused(launches());
}

// So that nothing above is refused for another reason.
TEST_F(ExclusionPlans, what_lies_beside_the_rules_is_planned) {
    const std::string node =
        R"({"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"name": "n"}}]})";
    const std::string karpenter =
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh";
    const std::string ended = R"({"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"namespace":
        "team", "name": "llama"}, "spec": {"elasticPolicy": {}}, "status": {"conditions": [{"type": "Completed",
        "status": "True"}]}}]})";
    const std::string alone = R"([{"InstanceGroupName": "burst", "InstanceType": "ml.g5.12xlarge"}])";
    const std::vector<Refused> rows{
        {kAdd, group("", "1"), {}},
        {kAdd, group(R"("autoscaled": true)"), {}},
        {kAdd, group(capacity("spot", false), "1"), {}},
        {kUpdate, autoscaling(), {}, nullptr, "{}", described("")},
        {kUpdate,
         autoscaling(R"("consolidate_after": "2m")"),
         {},
         nullptr,
         "{}",
         described(R"("CapacityRequirements": {"Spot": {}})")},
        {kUpdate, autoscaling(), {}, nullptr, "{}", alone, "/api/v1/nodes", node},
        {kUpdate,
         autoscaling(),
         {},
         nullptr,
         "{}",
         described(""),
         karpenter,
         R"({"spec": {"versions": [{"name": "v1", "served": true}]}})"},
        {kUpdate,
         R"({"tiered_checkpointing": {"enabled": true}})",
         {},
         nullptr,
         "{}",
         "",
         kElasticJobs,
         ended},
        {kLaunch,
         launch(std::string(kSystemGroup) + "," + group(R"("autoscaled": true)"),
                R"({"autoscaling": {"enabled": true}, "observability": {"enabled": true}})"),
         {}},
        {kLaunch, launch(std::string(kSystemGroup) + "," + group(""), autoscaling()), {}}};
    for (const auto& row : rows) {
        set(row.cluster, row.groups, row.path, row.object);
        const auto made = ask(row.operation, row.body);
        EXPECT_TRUE(made) << row.operation << " " << row.body << ": " << made.error().chain();
    }
}

TEST_F(ExclusionPlans, a_spot_group_beside_an_elastic_job_is_warned_of) {
    set("{}", "", kElasticJobs, kElasticJob);
    const auto spot = ask(kAdd, group(capacity("spot", false), "1"));
    ASSERT_TRUE(spot) << spot.error().chain();
    EXPECT_THAT(spot->warnings, ::testing::Contains(HasSubstr("team/llama")));
    EXPECT_THAT(spot->warnings, ::testing::Contains(HasSubstr("Spot capacity")));
    const auto other = ask(kAdd, group("", "1"));
    ASSERT_TRUE(other) << other.error().chain();
    EXPECT_THAT(other->warnings, ::testing::Not(::testing::Contains(HasSubstr("team/llama"))));
}

}  // namespace
}  // namespace instantstart::app
