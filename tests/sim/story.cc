#include "story.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace instantstart::sim {

using base::JsonObject;

const JsonObject& launch_body() {
    static const JsonObject kBody = base::parse_json(R"({
        "name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2,
                             "zone": "us-west-2a"}]})")
                                        ->as_object();
    return kBody;
}

namespace {

const JsonObject& group_body() {
    static const JsonObject kBody = base::parse_json(R"({"name": "more", "instance_type": "ml.g5.2xlarge",
        "count": 1, "zone": "us-west-2b"})")
                                        ->as_object();
    return kBody;
}

void set_weather(Simulation& simulation, const Weather& weather) {
    if (weather.throttle > 0) {
        simulation.twin("POST", "/faults", {{"kind", "throttle"}, {"probability", weather.throttle}});
    }
    if (weather.stale > 0) {
        simulation.twin(
            "POST", "/faults",
            {{"service", "ec2"}, {"kind", "stale"}, {"delay_seconds", 5}, {"probability", weather.stale}});
    }
}

// What an account holds when nothing goes wrong; told once.
struct Calm {
    Census empty, launched;
};

const Calm& calm() {
    static const Calm kCalm = [] {
        Calm found;
        {
            Simulation simulation(1, {}, {});
            found.empty = census(simulation);
        }
        Simulation simulation(1, {}, {});
        const auto answer = simulation.ask("POST", "/clusters/launch", launch_body());
        simulation.wait(base::get_string(answer.body, "operation.id"));
        found.launched = census(simulation);
        return found;
    }();
    return kCalm;
}

// Asks for an operation and sees it through to success.
bool expect_done(Simulation& simulation, const std::string& method, const std::string& path,
                 const JsonObject& body, const std::string& key) {
    const auto answer = simulation.ask(method, path, body, key);
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_FALSE(id.empty()) << method << " " << path << ": " << base::to_text(answer.body);
    if (id.empty()) return false;
    if (!key.empty()) {
        const auto again = simulation.ask(method, path, body, key);
        EXPECT_EQ(base::get_string(again.body, "operation.id"), id);
    }
    const auto operation = simulation.wait(id);
    const auto state = base::get_string(operation, "state");
    EXPECT_EQ(state, "succeeded") << base::to_text(base::get_object(operation, "error")) << "\n"
                                  << base::pretty_text(operation);
    return state == "succeeded";
}

bool expect_grown(Simulation& simulation) {
    if (!expect_done(simulation, "POST", "/clusters/phoenix/instance-groups", group_body(), "key-2"))
        return false;
    const auto answer = simulation.ask("POST", "/clusters/phoenix/dependencies/reconcile", {}, "key-3");
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_TRUE(answer.status == 200 || answer.status == 202) << base::to_text(answer.body);
    if (!id.empty()) EXPECT_EQ(base::get_string(simulation.wait(id), "state"), "succeeded");
    auto expected = calm().launched;
    expected["sagemaker.groups"] += 1;
    expected["sagemaker.nodes"] += 1;
    const auto found = census(simulation);
    EXPECT_EQ(found.at("sagemaker.groups"), expected.at("sagemaker.groups"));
    EXPECT_EQ(found.at("sagemaker.nodes"), expected.at("sagemaker.nodes"));
    EXPECT_EQ(found.at("ec2.nats"), expected.at("ec2.nats"));
    EXPECT_EQ(found.at("ec2.addresses"), expected.at("ec2.addresses"));
    return !::testing::Test::HasFailure();
}

// A broken connection to the API server is said beside what AWS knows, not hidden by waiting: who wants the
// rest asks again.
Answer ask_once_reachable(Simulation& simulation, const std::string& path) {
    constexpr int kTimes = 10;
    for (int times = 1;; ++times) {
        auto answer = simulation.ask("GET", path, {});
        const auto& conditions = base::get_array(answer.body, "cluster.conditions");
        const bool broke = std::any_of(conditions.begin(), conditions.end(), [](const auto& condition) {
            return base::get_string(condition, "type") == "KubernetesUnreachable";
        });
        if (!broke || times == kTimes) return answer;
        simulation.pass(std::chrono::seconds(10));
    }
}

void go_through(Simulation& simulation, const Story& story, Ending& ending) {
    if (!expect_done(simulation, "POST", "/clusters/launch", launch_body(), "key-1")) return;
    ending.census = census(simulation);
    EXPECT_EQ(ending.census, calm().launched);
    EXPECT_EQ(made_twice(simulation.mutations()), std::vector<std::string>());
    const auto cluster = ask_once_reachable(simulation, "/clusters/phoenix");
    EXPECT_EQ(base::get_int(cluster.body, "cluster.nodes.ready"), 2) << base::to_text(cluster.body);
    EXPECT_EQ(base::get_int(cluster.body, "cluster.accelerators.ready"), 8) << base::to_text(cluster.body);
    if (story.grows && !expect_grown(simulation)) return;
    if (!story.removes) return;
    if (!expect_done(simulation, "DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}}, "")) return;
    EXPECT_EQ(census(simulation), calm().empty);
    const auto clusters = simulation.ask("GET", "/clusters", {});
    EXPECT_TRUE(base::get_array(clusters.body, "clusters").empty()) << base::to_text(clusters.body);
}

}  // namespace

std::int64_t setting(const char* name, std::int64_t fallback) {
    const char* text = std::getenv(name);
    return text == nullptr ? fallback : std::atoll(text);
}

std::string to_string(const Story& story) {
    std::string text = "seed " + std::to_string(story.seed);
    for (const auto& kill : story.kills) text += ", " + to_string(kill);
    return text;
}

Ending tell(const Story& story) {
    static_cast<void>(calm());
    SCOPED_TRACE(to_string(story));
    Simulation simulation(story.seed, story.weather.network, story.kills);
    simulation.set_downtime(story.weather.downtime);
    set_weather(simulation, story.weather);
    Ending ending;
    go_through(simulation, story, ending);
    ending.commits = simulation.commits();
    ending.calls = simulation.calls();
    ending.deaths = simulation.deaths();
    ending.elapsed = simulation.elapsed();
    ending.history = history(simulation);
    return ending;
}

}  // namespace instantstart::sim
