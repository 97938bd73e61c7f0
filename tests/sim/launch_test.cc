// The whole launch pipeline in simulation: killed before and after every commit and around every mutating
// call, with answers lost, over many seeds. Each resource is made once, the operation ends well, and deleting
// leaves an empty account.
//
// How much is run: INSTANTSTART_SIM_SECONDS (random seeds; default 10), INSTANTSTART_SIM_STRIDE (every n-th
// kill point; default 25; 1 is every one). A failing run prints its seed and kill points;
// INSTANTSTART_SIM_SEED replays that seed alone.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <random>

#include "simulation.h"

namespace instantstart::sim {
namespace {

using base::JsonObject;

std::int64_t setting(const char* name, std::int64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::atoll(text);
}

const JsonObject& launch_body() {
    static const JsonObject kBody = base::parse_json(R"({
        "name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2, "zone": "us-west-2a"}]})")
                                        ->as_object();
    return kBody;
}

bool has_client_token(const JsonObject& parameters) {
    for (const auto& member : parameters) {
        std::string name(member.key());
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (name == "clienttoken" || name == "clientrequesttoken") return true;
    }
    return false;
}

// Creating calls that succeeded more than once with the same parameters (a client token makes a repetition
// harmless).
std::vector<std::string> made_twice(Simulation& simulation) {
    std::map<std::string, int> made;
    for (const auto& call : simulation.mutations()) {
        const auto operation = base::get_string(call, "operation");
        if (base::get_int(call, "status") >= 400 || operation == "CreateTags") continue;
        if (!operation.starts_with("Create") && !operation.starts_with("Allocate")) continue;
        const auto& parameters = base::get_object(call, "parameters");
        if (has_client_token(parameters)) continue;
        ++made[base::get_string(call, "service") + " " + operation + " " + base::canonical_text(parameters)];
    }
    std::vector<std::string> twice;
    for (const auto& [call, count] : made) {
        if (count > 1) twice.push_back(call);
    }
    return twice;
}

std::map<std::string, int> successes(Simulation& simulation) {
    std::map<std::string, int> made;
    for (const auto& call : simulation.mutations()) {
        if (base::get_int(call, "status") < 400) ++made[base::get_string(call, "operation")];
    }
    return made;
}

// Launches to the end and checks every invariant; the number of deaths that it took.
std::size_t expect_launch(std::uint64_t seed, NetworkChances chances, std::vector<KillPoint> kills) {
    std::string what = "seed " + std::to_string(seed);
    for (const auto& kill : kills) what += ", " + to_string(kill);
    SCOPED_TRACE(what);
    Simulation simulation(seed, chances, std::move(kills));
    const auto answer = simulation.ask("POST", "/clusters/launch", launch_body(), "key-1");
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_FALSE(id.empty()) << base::to_text(answer.body);
    const auto again = simulation.ask("POST", "/clusters/launch", launch_body(), "key-1");
    EXPECT_EQ(base::get_string(again.body, "operation.id"), id);
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    EXPECT_EQ(made_twice(simulation), std::vector<std::string>());
    auto made = successes(simulation);
    EXPECT_EQ(made["CreateVpc"], 1);
    EXPECT_EQ(made["CreateInternetGateway"], 1);
    return simulation.deaths();
}

TEST(Launch, ends_well_and_deletes_to_an_empty_account) {
    Simulation simulation(1, {}, {});
    const auto answer = simulation.ask("POST", "/clusters/launch", launch_body());
    ASSERT_EQ(answer.status, 202) << base::to_text(answer.body);
    const auto operation = simulation.wait(base::get_string(answer.body, "operation.id"));
    ASSERT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    const auto cluster = simulation.ask("GET", "/clusters/phoenix", {});
    EXPECT_EQ(base::get_int(cluster.body, "cluster.nodes.ready"), 2) << base::to_text(cluster.body);
    EXPECT_EQ(base::get_int(cluster.body, "cluster.accelerators.ready"), 8);
    const auto removal = simulation.ask("DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}});
    const auto removed = simulation.wait(base::get_string(removal.body, "operation.id"));
    EXPECT_EQ(base::get_string(removed, "state"), "succeeded") << base::pretty_text(removed);
    const auto clusters = simulation.ask("GET", "/clusters", {});
    EXPECT_TRUE(base::get_array(clusters.body, "clusters").empty());
}

TEST(Launch, same_seed_gives_the_same_run) {
    auto run = [] {
        NetworkChances chances;
        chances.lose_answer = 0.05;
        Simulation simulation(7, chances, {});
        const auto answer = simulation.ask("POST", "/clusters/launch", launch_body());
        simulation.wait(base::get_string(answer.body, "operation.id"));
        return std::tuple(simulation.commits(), simulation.calls(), simulation.elapsed());
    };
    EXPECT_EQ(run(), run());
}

TEST(Launch, survives_death_at_every_commit_and_call) {
    std::size_t commits = 0;
    std::size_t calls = 0;
    {
        Simulation calm(3, {}, {});
        const auto answer = calm.ask("POST", "/clusters/launch", launch_body());
        calm.wait(base::get_string(answer.body, "operation.id"));
        commits = calm.commits();
        calls = calm.calls();
    }
    ASSERT_GT(calls, 20U);
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", 25));
    for (auto kind :
         {KillKind::before_commit, KillKind::after_commit, KillKind::before_call, KillKind::after_call}) {
        const bool commit = kind == KillKind::before_commit || kind == KillKind::after_commit;
        for (std::size_t index = 1; index <= (commit ? commits : calls); index += stride) {
            expect_launch(3, {}, {{kind, index}});
            if (::testing::Test::HasFailure()) return;
        }
    }
}

TEST(Launch, survives_random_deaths_and_lost_answers) {
    const auto seconds = setting("INSTANTSTART_SIM_SECONDS", 10);
    const auto only = setting("INSTANTSTART_SIM_SEED", 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    std::size_t runs = 0;
    std::size_t deaths = 0;
    for (std::uint64_t seed = only > 0 ? static_cast<std::uint64_t>(only) : 1000;
         std::chrono::steady_clock::now() < end; ++seed) {
        std::mt19937_64 random(seed);
        NetworkChances chances;
        chances.refuse = 0.02;
        chances.lose_request = 0.03;
        chances.lose_answer = 0.05;
        std::vector<KillPoint> kills;
        for (int count = static_cast<int>(random() % 5); count > 0; --count) {
            kills.push_back({static_cast<KillKind>(random() % 4), 1 + random() % 250});
        }
        deaths += expect_launch(seed, chances, std::move(kills));
        ++runs;
        if (::testing::Test::HasFailure() || only > 0) break;
    }
    RecordProperty("runs", static_cast<int>(runs));
    std::printf("simulated %zu launches with %zu deaths\n", runs, deaths);
}

}  // namespace
}  // namespace instantstart::sim
