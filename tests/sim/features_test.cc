// Features in simulation: each is switched on, asked for again, harmed by others, repaired, switched off and
// asked for again; then account and cluster are what they were before, by content. The same while the product
// is killed around its calls and commits, as it switches on, repairs and switches off.
//
// INSTANTSTART_SIM_STRIDE (every n-th kill point; default: one run of each kind) says how much is run;
// INSTANTSTART_SIM_FEATURE runs one feature alone.
#include <gtest/gtest.h>

#include <functional>

#include "feature_account.h"
#include "feature_cases.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

constexpr const char* kCluster = "phoenix";

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

JsonObject switch_body(const FeatureCase& each, bool on) {
    JsonObject wish = on ? each.settings : JsonObject();
    wish["enabled"] = on;
    JsonObject body{{each.feature, std::move(wish)}};
    if (!on) body["confirm"] = kCluster;
    return body;
}

JsonObject patch(Simulation& simulation, const FeatureCase& each, bool on) {
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
void expect_settled(Simulation& simulation, const FeatureCase& each, bool on) {
    const auto before = simulation.mutations().size();
    const auto again = patch(simulation, each, on);
    EXPECT_TRUE(base::get_bool(again, "no_change")) << base::pretty_text(again);
    EXPECT_EQ(simulation.mutations().size(), before);
}

void launch(Simulation& simulation) {
    expect_succeeded(run(simulation, "POST", "/clusters/launch", small_launch()));
    simulation.pass(std::chrono::minutes(10));
}

void launch_for(Simulation& simulation, const FeatureCase& each) {
    launch(simulation);
    if (each.prepares) each.prepares(simulation);
}

// What deletes in the background has ended.
void settle(Simulation& simulation) {
    simulation.pass(std::chrono::minutes(15));
}

class Features : public ::testing::TestWithParam<FeatureCase> {};

TEST_P(Features, goes_on_is_repaired_and_leaves_no_trace) {
    const auto& each = GetParam();
    Simulation simulation(1, {}, {});
    launch_for(simulation, each);
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

// Deaths come in rows, kGap points apart, so that all points of a story are met in kGap runs; and what was
// interrupted once is interrupted again.
constexpr std::size_t kGap = 12;

std::string to_string(const std::vector<KillPoint>& kills) {
    std::string text;
    for (const auto& kill : kills) text += (text.empty() ? "" : ", ") + to_string(kill);
    return text;
}

Ends on_harmed_and_off(const FeatureCase& each, std::vector<KillPoint> kills, bool by_commit) {
    SCOPED_TRACE(to_string(kills));
    Simulation simulation(1, {}, kills);
    const auto count = [&] { return by_commit ? simulation.commits() : simulation.calls(); };
    launch_for(simulation, each);
    const auto before = account_of(simulation);
    const auto launched = simulation.mutations().size();
    Ends ends;
    ends.launched = count();
    expect_succeeded(patch(simulation, each, true));
    const auto calls = simulation.mutations();
    EXPECT_EQ(made_twice({calls.begin() + static_cast<std::ptrdiff_t>(launched), calls.end()}),
              std::vector<std::string>());
    expect_status(simulation, each.feature, "on");
    SCOPED_TRACE(each.harms.front().what);
    each.harms.front().does(simulation);
    expect_status(simulation, each.feature, "drifted");
    expect_succeeded(patch(simulation, each, true));
    expect_status(simulation, each.feature, "on");
    expect_succeeded(patch(simulation, each, false));
    ends.ended = count();
    settle(simulation);
    ends.trace = difference(before, account_of(simulation));
    if (!kills.empty()) EXPECT_GT(simulation.deaths(), 0U);
    return ends;
}

TEST_P(Features, survives_a_death_at_any_step) {
    const auto& each = GetParam();
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", kGap));
    for (const bool by_commit : {true, false}) {
        const auto calm = on_harmed_and_off(each, {}, by_commit);
        EXPECT_EQ(calm.trace, "");
        for (const bool before : {true, false}) {
            const auto kind = by_commit ? (before ? KillKind::before_commit : KillKind::after_commit)
                                        : (before ? KillKind::before_call : KillKind::after_call);
            for (std::size_t first = 1; first <= kGap; first += stride) {
                std::vector<KillPoint> kills;
                for (auto at = calm.launched + first; at <= calm.ended; at += kGap)
                    kills.push_back({kind, at});
                if (kills.empty()) break;
                const auto ends = on_harmed_and_off(each, kills, by_commit);
                EXPECT_EQ(ends.trace, "") << to_string(kills);
                if (::testing::Test::HasFailure()) return;
            }
        }
    }
}

std::vector<FeatureCase> chosen() {
    const char* only = std::getenv("INSTANTSTART_SIM_FEATURE");
    std::vector<FeatureCase> list;
    for (const auto& each : feature_cases()) {
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

// Its add-on brings both: they go before what takes their place, and come back the same way.
TEST(Features, one_takes_the_place_of_those_it_excludes_in_one_request) {
    Simulation simulation(1, {}, {});
    launch(simulation);
    const auto before = account_of(simulation);
    const auto swap = [&simulation](bool inference) {
        return run(simulation, "PATCH", "/clusters/phoenix/features",
                   {{"inference_operator", JsonObject{{"enabled", inference}}},
                    {"keda", JsonObject{{"enabled", !inference}}},
                    {"load_balancer_controller", JsonObject{{"enabled", !inference}}},
                    {"confirm", kCluster}});
    };
    for (const bool inference : {true, false, true, false}) {
        SCOPED_TRACE(inference);
        expect_succeeded(swap(inference));
        expect_status(simulation, "inference_operator", inference ? "on" : "off");
        for (const char* other : {"keda", "load_balancer_controller"})
            expect_status(simulation, other, inference ? "off" : "on");
    }
    expect_succeeded(run(simulation, "PATCH", "/clusters/phoenix/features",
                         {{"keda", JsonObject{{"enabled", false}}},
                          {"load_balancer_controller", JsonObject{{"enabled", false}}},
                          {"confirm", kCluster}}));
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

// --- deletion

JsonObject all_features() {
    return {{"training_operator", JsonObject{{"enabled", true}}},
            {"tiered_checkpointing", JsonObject{{"enabled", true}}},
            {"inference_operator", JsonObject{{"enabled", true}}},
            {"observability", JsonObject{{"enabled", true}}},
            {"task_governance", JsonObject{{"enabled", true}}},
            {"autoscaling", JsonObject{{"enabled", true}, {"instance_groups", JsonArray{"burst"}}}}};
}

std::string trust_in_sagemaker() {
    return R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sagemaker.amazonaws.com"},"Action":"sts:AssumeRole"}]})";
}

// What others have of the same kinds, of other clusters and of none.
void make_others_things(Simulation& simulation) {
    const auto role = simulation.admin(
        "iam", "CreateRole", {{"RoleName", "research"}, {"AssumeRolePolicyDocument", trust_in_sagemaker()}});
    simulation.pass(std::chrono::minutes(1));
    const JsonArray tags{JsonObject{{"Key", "instantstart:cluster"}, {"Value", "dragon"}},
                         JsonObject{{"Key", "instantstart:region"}, {"Value", "us-west-2"}}};
    const JsonObject mlflow{{"ArtifactStoreUri", "s3://research-runs/mlflow"},
                            {"RoleArn", base::get_string(role, "Role.Arn")},
                            {"Tags", tags}};
    auto server = mlflow;
    server["TrackingServerName"] = "dragon-mlflow";
    simulation.admin("sagemaker", "CreateMlflowTrackingServer", std::move(server));
    auto app = mlflow;
    app["Name"] = "phoenix-mlflow";  // the name alone makes it nobody's
    simulation.admin("sagemaker", "CreateMlflowApp", std::move(app));
    simulation.admin(
        "amp", "CreateWorkspace",
        {{"alias", "instantstart-phoenix"},
         {"tags", JsonObject{{"instantstart:cluster", "dragon"}, {"instantstart:region", "us-west-2"}}}});
    simulation.pass(std::chrono::minutes(40));
}

// All of the account, with the lists that the census counts.
Census empty_account(bool with_others) {
    Simulation simulation(1, {}, {});
    if (with_others) make_others_things(simulation);
    return census(simulation);
}

bool names(const JsonArray& list, const std::string& start) {
    for (const auto& entry : list) {
        if (std::string_view(entry.as_string()).starts_with(start)) return true;
    }
    return false;
}

// Deleting a cluster takes what its features left, and names it before; what others have stays.
void expect_deleted(Simulation& simulation, const std::string& mlflow) {
    const auto asked = simulation.ask("DELETE", "/clusters/phoenix", {});
    EXPECT_EQ(asked.status, 409);
    const auto& removes = base::get_array(asked.body, "would_remove");
    EXPECT_TRUE(names(removes, mlflow + " phoenix-mlflow")) << base::pretty_text(asked.body);
    EXPECT_TRUE(names(removes, "Prometheus workspace ws-")) << base::pretty_text(asked.body);
    expect_succeeded(run(simulation, "DELETE", "/clusters/phoenix", {{"confirm", kCluster}}));
}

TEST(Features, deleting_the_cluster_leaves_an_empty_account) {
    for (const auto& [kind, mlflow] :
         {std::pair("app", "MLflow app"), std::pair("tracking_server", "MLflow tracking server")}) {
        SCOPED_TRACE(kind);
        Simulation simulation(1, {}, {});
        make_others_things(simulation);
        auto body = small_launch();
        body["features"] = all_features();
        body["features"].as_object()["mlflow"] = JsonObject{{"enabled", true}, {"kind", kind}};
        expect_succeeded(run(simulation, "POST", "/clusters/launch", body));
        for (const char* feature : {"training_operator", "inference_operator", "observability", "autoscaling",
                                    "task_governance", "mlflow"})
            expect_status(simulation, feature, "on");
        EXPECT_EQ(census(simulation).at("sagemaker.mlflow_servers"), kind == std::string("app") ? 1 : 2);
        expect_deleted(simulation, mlflow);
        EXPECT_EQ(difference(empty_account(true), census(simulation)), "");
    }
}

// A server on its way is waited for: it cannot be deleted before.
TEST(Features, deleting_the_cluster_waits_for_mlflow_that_is_starting) {
    Simulation simulation(1, {}, {});
    auto body = small_launch();
    body["features"] = JsonObject{{"mlflow", JsonObject{{"enabled", true}, {"kind", "tracking_server"}}}};
    expect_succeeded(run(simulation, "POST", "/clusters/launch", body));
    simulation.admin("sagemaker", "StopMlflowTrackingServer", {{"TrackingServerName", "phoenix-mlflow"}});
    const auto operation = run(simulation, "DELETE", "/clusters/phoenix", {{"confirm", kCluster}});
    expect_succeeded(operation);
    EXPECT_EQ(difference(empty_account(false), census(simulation)), "");
}

// A workspace that was given is named among what is kept.
TEST(Features, deleting_the_cluster_keeps_a_given_workspace) {
    Simulation simulation(1, {}, {});
    const auto given = simulation.admin("amp", "CreateWorkspace", {{"alias", "ours"}});
    const auto arn = base::get_string(given, "arn");
    simulation.pass(std::chrono::minutes(2));
    auto body = small_launch();
    body["features"] = JsonObject{{"observability", JsonObject{{"enabled", true}, {"workspace_arn", arn}}}};
    expect_succeeded(run(simulation, "POST", "/clusters/launch", body));
    const auto operation = run(simulation, "DELETE", "/clusters/phoenix", {{"confirm", kCluster}});
    expect_succeeded(operation);
    EXPECT_TRUE(names(base::get_array(operation, "result.kept"), "Prometheus workspace " + arn))
        << base::pretty_text(operation);
    auto expected = empty_account(false);
    expected["amp.workspaces"] = 1;
    EXPECT_EQ(difference(expected, census(simulation)), "");
}

// The deletion itself, killed at its commits and calls.
TEST(Features, deleting_with_mlflow_and_metrics_survives_deaths) {
    constexpr std::size_t kApart = 6;
    const auto empty = empty_account(false);
    const auto tell = [&empty](std::vector<KillPoint> kills, std::size_t& from, std::size_t& to,
                               bool by_commit) {
        Simulation simulation(1, {}, kills);
        auto body = small_launch();
        body["features"] = JsonObject{{"observability", JsonObject{{"enabled", true}}},
                                      {"mlflow", JsonObject{{"enabled", true}}}};
        expect_succeeded(run(simulation, "POST", "/clusters/launch", body));
        from = by_commit ? simulation.commits() : simulation.calls();
        expect_succeeded(run(simulation, "DELETE", "/clusters/phoenix", {{"confirm", kCluster}}));
        to = by_commit ? simulation.commits() : simulation.calls();
        EXPECT_EQ(difference(empty, census(simulation)), "") << to_string(kills);
    };
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", kApart));
    for (const auto kind :
         {KillKind::before_commit, KillKind::after_commit, KillKind::before_call, KillKind::after_call}) {
        const bool by_commit = kind == KillKind::before_commit || kind == KillKind::after_commit;
        std::size_t from = 0, to = 0, ignored = 0;
        tell({}, from, to, by_commit);
        for (std::size_t first = 1; first <= kApart && !HasFailure(); first += stride) {
            std::vector<KillPoint> kills;
            for (auto at = from + first; at <= to; at += kApart) kills.push_back({kind, at});
            tell(kills, ignored, ignored, by_commit);
        }
    }
}

}  // namespace
}  // namespace instantstart::sim
