// Features in simulation: each is switched on, asked for again, harmed by others, repaired, switched off and
// asked for again; then account and cluster are what they were before. The same while the product is killed
// around its calls and commits.
//
// INSTANTSTART_SIM_STRIDE (every n-th kill point; default 40) says how much is run; INSTANTSTART_SIM_FEATURE
// runs one feature alone.
#include <gtest/gtest.h>

#include <functional>

#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

constexpr const char* kCluster = "phoenix";

// What somebody else does to the account or the cluster.
struct Harm {
    std::string what;
    std::function<void(Simulation&)> does;
};

struct Case {
    std::string feature;
    JsonObject settings;
    std::vector<Harm> harms;
};

std::string role(const std::string& purpose) {
    return "instantstart-phoenix-us-west-2-" + purpose;
}

void delete_role(Simulation& simulation, const std::string& name) {
    const JsonObject of_role{{"RoleName", name}};
    const auto written = simulation.admin("iam", "ListRolePolicies", of_role);
    for (const auto& policy : base::get_array(written, "PolicyNames"))
        simulation.admin("iam", "DeleteRolePolicy", {{"RoleName", name}, {"PolicyName", policy}});
    const auto attached = simulation.admin("iam", "ListAttachedRolePolicies", of_role);
    for (const auto& policy : base::get_array(attached, "AttachedPolicies"))
        simulation.admin("iam", "DetachRolePolicy",
                         {{"RoleName", name}, {"PolicyArn", base::get_string(policy, "PolicyArn")}});
    simulation.admin("iam", "DeleteRole", of_role);
}

Harm role_deleted(const std::string& name) {
    return {"role " + name + " is deleted",
            [name](Simulation& simulation) { delete_role(simulation, name); }};
}

Harm addon_deleted(const std::string& name) {
    return {"add-on " + name + " is deleted", [name](Simulation& simulation) {
                simulation.admin("eks", "DeleteAddon", {{"clusterName", kCluster}, {"addonName", name}});
                simulation.pass(std::chrono::minutes(3));
            }};
}

Harm object_deleted(const std::string& kind, const std::string& ns, const std::string& name) {
    return {kind + " " + ns + "/" + name + " is deleted", [kind, ns, name](Simulation& simulation) {
                simulation.remove_object(kCluster, kind, ns, name);
                simulation.pass(std::chrono::seconds(30));
            }};
}

Harm association_deleted() {
    return {"the association is deleted", [](Simulation& simulation) {
                const auto list =
                    simulation.admin("eks", "ListPodIdentityAssociations", {{"clusterName", kCluster}});
                for (const auto& row : base::get_array(list, "associations"))
                    simulation.admin("eks", "DeletePodIdentityAssociation",
                                     {{"clusterName", kCluster},
                                      {"associationId", base::get_string(row, "associationId")}});
            }};
}

Harm trust_changed(const std::string& name) {
    return {
        "role " + name + " trusts another service", [name](Simulation& simulation) {
            simulation.admin(
                "iam", "UpdateAssumeRolePolicy",
                {{"RoleName", name},
                 {"PolicyDocument",
                  R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"ec2.amazonaws.com"},"Action":"sts:AssumeRole"}]})"}});
        }};
}

Harm tiers_disabled() {
    return {"tiered storage is disabled", [](Simulation& simulation) {
                simulation.admin(
                    "sagemaker", "UpdateCluster",
                    {{"ClusterName", kCluster}, {"TieredStorageConfig", JsonObject{{"Mode", "Disable"}}}});
                simulation.pass(std::chrono::minutes(1));
            }};
}

Harm app_deleted() {
    return {"the MLflow app is deleted", [](Simulation& simulation) {
                const auto apps = simulation.admin("sagemaker", "ListMlflowApps", {});
                for (const auto& app : base::get_array(apps, "Summaries")) {
                    if (base::get_string(app, "Status") != "Deleted")
                        simulation.admin("sagemaker", "DeleteMlflowApp",
                                         {{"Arn", base::get_string(app, "Arn")}});
                }
                simulation.pass(std::chrono::minutes(10));
            }};
}

Harm server_stopped() {
    return {"the tracking server is stopped", [](Simulation& simulation) {
                simulation.admin("sagemaker", "StopMlflowTrackingServer",
                                 {{"TrackingServerName", "phoenix-mlflow"}});
                simulation.pass(std::chrono::minutes(30));
            }};
}

Harm autoscaling_disabled() {
    return {"AutoScaling is disabled", [](Simulation& simulation) {
                simulation.pass(std::chrono::minutes(1));  // until SageMaker knows a new role
                simulation.admin(
                    "sagemaker", "UpdateCluster",
                    {{"ClusterName", kCluster}, {"AutoScaling", JsonObject{{"Mode", "Disable"}}}});
                simulation.pass(std::chrono::minutes(10));
            }};
}

const std::vector<Case>& cases() {
    static const std::vector<Case> kCases = {
        {"tiered_checkpointing",
         {{"memory_percent", 30}},
         {role_deleted(role("checkpoints")), object_deleted("serviceaccounts", "default", "checkpointing"),
          tiers_disabled(), trust_changed(role("checkpoints"))}},
        {"training_operator",
         {},
         {addon_deleted("amazon-sagemaker-hyperpod-training-operator"), addon_deleted("cert-manager"),
          association_deleted(), role_deleted(role("training-operator"))}},
        {"inference_operator",
         {},
         {addon_deleted("amazon-sagemaker-hyperpod-inference"),
          role_deleted("SageMakerHyperPodInference-phoenix-us-west-2"),
          role_deleted(role("inference-scaling"))}},
        {"kuberay", {}, {object_deleted("deployments.apps", "kuberay-system", "kuberay-operator")}},
        {"keda",
         {},
         {object_deleted("deployments.apps", "keda", "keda-operator"),
          object_deleted("customresourcedefinitions.apiextensions.k8s.io", "", "scaledobjects.keda.sh")}},
        {"load_balancer_controller",
         {},
         {object_deleted("deployments.apps", "kube-system", "aws-load-balancer-controller"),
          association_deleted(), role_deleted(role("load-balancers"))}},
        {"mlflow", {{"kind", "app"}}, {role_deleted(role("mlflow")), app_deleted()}},
        {"mlflow", {{"kind", "tracking_server"}}, {server_stopped(), trust_changed(role("mlflow"))}},
        {"task_governance", {}, {addon_deleted("amazon-sagemaker-hyperpod-taskgovernance")}},
        {"observability", {}, {role_deleted(role("observability")), association_deleted()}},
        {"autoscaling",
         {{"instance_groups", JsonArray{"burst"}}, {"limits", JsonObject{{"nodes", 2}}}},
         {role_deleted(role("autoscaling")), autoscaling_disabled()}}};
    return kCases;
}

// --- the account

using Account = std::map<std::string, std::string>;

void add_roles(Simulation& simulation, Account& account) {
    const auto roles = simulation.admin("iam", "ListRoles", {{"MaxItems", 1000}});
    for (const auto& each : base::get_array(roles, "Roles")) {
        if (base::get_string(each, "Path") != "/") continue;
        const auto name = base::get_string(each, "RoleName");
        const JsonObject of_role{{"RoleName", name}};
        account["role " + name] = base::get_string(each, "AssumeRolePolicyDocument") +
                                  base::to_text(simulation.admin("iam", "ListRolePolicies", of_role)) +
                                  base::to_text(simulation.admin("iam", "ListAttachedRolePolicies", of_role));
    }
    const auto providers = simulation.admin("iam", "ListOpenIDConnectProviders", {});
    account["providers"] = base::to_text(base::get_array(providers, "OpenIDConnectProviderList"));
    account["policies"] = base::to_text(
        base::get_array(simulation.admin("iam", "ListPolicies", {{"Scope", "Local"}}), "Policies"));
}

void add_clusters(Simulation& simulation, Account& account) {
    const JsonObject of_eks{{"clusterName", kCluster}};
    account["add-ons"] =
        base::to_text(base::get_array(simulation.admin("eks", "ListAddons", of_eks), "addons"));
    account["associations"] = base::to_text(
        base::get_array(simulation.admin("eks", "ListPodIdentityAssociations", of_eks), "associations"));
    const auto hyperpod = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", kCluster}});
    account["groups"] = base::to_text(base::get_array(hyperpod, "InstanceGroups"));
    account["tiers"] = base::get_string(hyperpod, "TieredStorageConfig.Mode") == "Enable" ? "on" : "off";
    account["autoscaling"] = base::get_string(hyperpod, "AutoScaling.Mode", "Disable");
    account["servers"] = base::to_text(base::get_array(
        simulation.admin("sagemaker", "ListMlflowTrackingServers", {}), "TrackingServerSummaries"));
    account["workspaces"] =
        base::to_text(base::get_array(simulation.admin("amp", "ListWorkspaces", {}), "workspaces"));
    const auto apps = simulation.admin("sagemaker", "ListMlflowApps", {});
    for (const auto& app : base::get_array(apps, "Summaries")) {
        if (base::get_string(app, "Status") != "Deleted") account["app " + base::get_string(app, "Arn")] = "";
    }
    account["tags"] = base::to_text(
        base::get_array(simulation.admin("sagemaker", "ListTags",
                                         {{"ResourceArn", base::get_string(hyperpod, "ClusterArn")}}),
                        "Tags"));
    const auto buckets = simulation.admin("s3", "ListBuckets", {});
    for (const auto& bucket : base::get_array(buckets, "Buckets"))
        account["bucket " + base::get_string(bucket, "Name")] = "";
}

void add_objects(Simulation& simulation, Account& account) {
    for (const char* kind :
         {"namespaces", "serviceaccounts", "services", "secrets", "configmaps", "deployments.apps",
          "daemonsets.apps", "customresourcedefinitions.apiextensions.k8s.io",
          "apiservices.apiregistration.k8s.io", "csidrivers.storage.k8s.io",
          "clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
          "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
          "ingressclasses.networking.k8s.io", "mutatingwebhookconfigurations.admissionregistration.k8s.io",
          "validatingwebhookconfigurations.admissionregistration.k8s.io"}) {
        const auto objects = simulation.objects(kCluster, kind);
        for (const auto& object : objects) {
            // AWS brings Karpenter's kinds with autoscaling and leaves them.
            const auto name = base::get_string(object, "metadata.name");
            if (name.find("karpenter") != std::string::npos) continue;
            account[std::string(kind) + " " + base::get_string(object, "metadata.namespace") + "/" + name] =
                "";
        }
    }
}

Account account_of(Simulation& simulation) {
    Account account;
    add_roles(simulation, account);
    add_clusters(simulation, account);
    add_objects(simulation, account);
    return account;
}

std::string difference(const Account& before, const Account& after) {
    std::string text;
    for (const auto& [key, value] : before) {
        const auto now = after.find(key);
        if (now == after.end()) text += "gone: " + key + "\n";
        if (now != after.end() && now->second != value) text += "changed: " + key + ": " + now->second + "\n";
    }
    for (const auto& [key, value] : after) {
        if (!before.contains(key)) text += "new: " + key + "\n";
    }
    return text;
}

// --- the story

JsonObject small_launch() {
    const JsonObject group{
        {"name", "system"}, {"instance_type", "ml.m5.4xlarge"}, {"count", 2}, {"zone", "us-west-2a"}};
    const JsonObject burst{{"name", "burst"},
                           {"instance_type", "ml.g5.12xlarge"},
                           {"count", 0},
                           {"zone", "us-west-2a"},
                           {"autoscaled", true}};
    return {{"name", kCluster}, {"instance_groups", JsonArray{group, burst}}};
}

JsonObject run(Simulation& simulation, const std::string& method, const std::string& path,
               const JsonObject& body) {
    const auto answer = simulation.ask(method, path, body);
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_FALSE(id.empty()) << base::to_text(answer.body);
    return id.empty() ? JsonObject() : simulation.wait(id);
}

JsonObject switch_body(const Case& each, bool on) {
    JsonObject wish = on ? each.settings : JsonObject();
    wish["enabled"] = on;
    JsonObject body{{each.feature, std::move(wish)}};
    if (!on) body["confirm"] = kCluster;
    return body;
}

JsonObject patch(Simulation& simulation, const Case& each, bool on) {
    return run(simulation, "PATCH", "/clusters/phoenix/features", switch_body(each, on));
}

JsonObject feature_row(Simulation& simulation, const std::string& feature) {
    const auto answer = simulation.ask("GET", "/clusters/phoenix/features", {});
    for (const auto& row : base::get_array(answer.body, "features")) {
        if (base::get_string(row, "name") == feature) return row.as_object();
    }
    ADD_FAILURE() << feature << ": " << base::to_text(answer.body);
    return {};
}

void expect_status(Simulation& simulation, const std::string& feature, const std::string& status) {
    const auto row = feature_row(simulation, feature);
    EXPECT_EQ(base::get_string(row, "status"), status) << base::pretty_text(row);
}

void expect_succeeded(const JsonObject& operation) {
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
}

// The same again changes nothing and calls nothing.
void expect_settled(Simulation& simulation, const Case& each, bool on) {
    const auto before = simulation.mutations().size();
    const auto again = patch(simulation, each, on);
    EXPECT_TRUE(base::get_bool(again, "no_change")) << base::pretty_text(again);
    EXPECT_EQ(simulation.mutations().size(), before);
}

void launch(Simulation& simulation) {
    expect_succeeded(run(simulation, "POST", "/clusters/launch", small_launch()));
    simulation.pass(std::chrono::minutes(10));
}

// What deletes in the background has ended.
void settle(Simulation& simulation) {
    simulation.pass(std::chrono::minutes(15));
}

class Features : public ::testing::TestWithParam<Case> {};

TEST_P(Features, goes_on_is_repaired_and_leaves_no_trace) {
    const auto& each = GetParam();
    Simulation simulation(1, {}, {});
    launch(simulation);
    const auto before = account_of(simulation);
    expect_status(simulation, each.feature, "off");
    expect_succeeded(patch(simulation, each, true));
    expect_status(simulation, each.feature, "on");
    expect_settled(simulation, each, true);
    for (const auto& harm : each.harms) {
        SCOPED_TRACE(harm.what);
        harm.does(simulation);
        const auto row = feature_row(simulation, each.feature);
        EXPECT_EQ(base::get_string(row, "status"), "drifted") << base::pretty_text(row);
        EXPECT_FALSE(base::get_array(row, "reasons").empty());
        expect_succeeded(patch(simulation, each, true));
        expect_status(simulation, each.feature, "on");
        expect_settled(simulation, each, true);
        if (::testing::Test::HasFailure()) return;
    }
    auto unconfirmed = switch_body(each, false);
    unconfirmed.erase("confirm");
    EXPECT_EQ(simulation.ask("PATCH", "/clusters/phoenix/features", unconfirmed).status, 409);
    expect_succeeded(patch(simulation, each, false));
    expect_status(simulation, each.feature, "off");
    expect_settled(simulation, each, false);
    settle(simulation);
    EXPECT_EQ(difference(before, account_of(simulation)), "");
}

struct Ends {
    std::size_t launched = 0, ended = 0;
    std::string trace;  // what is not as it was
};

Ends on_and_off(const Case& each, std::vector<KillPoint> kills, bool by_commit, std::size_t& deaths) {
    Simulation simulation(1, {}, std::move(kills));
    const auto count = [&] { return by_commit ? simulation.commits() : simulation.calls(); };
    launch(simulation);
    const auto before = account_of(simulation);
    Ends ends;
    ends.launched = count();
    expect_succeeded(patch(simulation, each, true));
    expect_status(simulation, each.feature, "on");
    expect_succeeded(patch(simulation, each, false));
    ends.ended = count();
    settle(simulation);
    ends.trace = difference(before, account_of(simulation));
    deaths = simulation.deaths();
    return ends;
}

TEST_P(Features, survives_a_death_at_any_step) {
    const auto& each = GetParam();
    constexpr std::int64_t kOneEach = 200;  // wider than any of these stories
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", kOneEach));
    for (const bool by_commit : {true, false}) {
        std::size_t deaths = 0;
        const auto calm = on_and_off(each, {}, by_commit, deaths);
        EXPECT_EQ(calm.trace, "");
        // A step commits three times at least (started, about to act, done), so every third meets each step.
        const auto pace = by_commit ? 3 * stride : stride;
        for (const bool before : {true, false}) {
            const auto kind = by_commit ? (before ? KillKind::before_commit : KillKind::after_commit)
                                        : (before ? KillKind::before_call : KillKind::after_call);
            for (auto index = calm.launched + 1; index <= calm.ended; index += pace) {
                SCOPED_TRACE(to_string(KillPoint{kind, index}));
                const auto ends = on_and_off(each, {{kind, index}}, by_commit, deaths);
                EXPECT_EQ(deaths, 1U);
                EXPECT_EQ(ends.trace, "");
                if (::testing::Test::HasFailure()) return;
            }
        }
    }
}

std::vector<Case> chosen() {
    const char* only = std::getenv("INSTANTSTART_SIM_FEATURE");
    std::vector<Case> list;
    for (const auto& each : cases()) {
        if (only == nullptr || each.feature == only) list.push_back(each);
    }
    return list;
}

INSTANTIATE_TEST_SUITE_P(Each, Features, ::testing::ValuesIn(chosen()), [](const auto& info) {
    const auto kind = base::get_string(info.param.settings, "kind");
    return info.param.feature + (kind.empty() ? "" : "_" + kind);
});

// What two features share stays as long as one of them wants it, and goes with the last.
TEST(Features, shared_parts_go_with_the_last_that_wants_them) {
    Simulation simulation(1, {}, {});
    launch(simulation);
    const auto before = account_of(simulation);
    const auto addons = [&simulation] {
        return base::to_text(
            base::get_array(simulation.admin("eks", "ListAddons", {{"clusterName", kCluster}}), "addons"));
    };
    const JsonObject both{{"training_operator", JsonObject{{"enabled", true}}},
                          {"load_balancer_controller", JsonObject{{"enabled", true}}}};
    expect_succeeded(run(simulation, "PATCH", "/clusters/phoenix/features", both));
    expect_succeeded(run(simulation, "PATCH", "/clusters/phoenix/features",
                         {{"training_operator", JsonObject{{"enabled", false}}}, {"confirm", kCluster}}));
    EXPECT_NE(addons().find("cert-manager"), std::string::npos);
    expect_status(simulation, "load_balancer_controller", "on");
    expect_succeeded(
        run(simulation, "PATCH", "/clusters/phoenix/features",
            {{"load_balancer_controller", JsonObject{{"enabled", false}}}, {"confirm", kCluster}}));
    EXPECT_EQ(addons().find("cert-manager"), std::string::npos);
    settle(simulation);
    EXPECT_EQ(difference(before, account_of(simulation)), "");
}

TEST(Features, those_that_exclude_each_other_are_refused_by_name_before_any_call) {
    Simulation simulation(1, {}, {});
    launch(simulation);
    const auto calls = simulation.mutations().size();
    for (const char* other : {"keda", "load_balancer_controller"}) {
        const auto answer = simulation.ask(
            "PATCH", "/clusters/phoenix/features",
            {{"inference_operator", JsonObject{{"enabled", true}}}, {other, JsonObject{{"enabled", true}}}});
        EXPECT_EQ(answer.status, 409);
        EXPECT_EQ(base::get_string(answer.body, "code"), "features_exclude_each_other");
        const auto text = base::to_text(answer.body);
        EXPECT_NE(text.find("inference_operator"), std::string::npos) << text;
        EXPECT_NE(text.find(other), std::string::npos) << text;
    }
    EXPECT_EQ(simulation.mutations().size(), calls);
}

// Deleting a cluster takes what its features left, and what is remembered of them.
TEST(Features, deleting_the_cluster_leaves_an_empty_account) {
    Census empty;
    {
        Simulation simulation(1, {}, {});
        empty = census(simulation);
    }
    Simulation simulation(1, {}, {});
    auto body = small_launch();
    body["features"] = JsonObject{{"training_operator", JsonObject{{"enabled", true}}},
                                  {"tiered_checkpointing", JsonObject{{"enabled", true}}},
                                  {"inference_operator", JsonObject{{"enabled", true}}}};
    expect_succeeded(run(simulation, "POST", "/clusters/launch", body));
    expect_status(simulation, "training_operator", "on");
    expect_status(simulation, "inference_operator", "on");
    expect_succeeded(run(simulation, "DELETE", "/clusters/phoenix", {{"confirm", kCluster}}));
    EXPECT_EQ(census(simulation), empty);
}

}  // namespace
}  // namespace instantstart::sim
