// Capacity in simulation: a group is added, grown, labelled, one of its nodes rebooted and one deleted, a
// node group comes and goes, the group is deleted. Killed around every mutating call and commit of it, the
// account ends as in the calm run, and no node is rebooted or deleted twice.
#include <gtest/gtest.h>

#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

constexpr int kFailuresMost = 3;

struct CapacityStory {
    CapacityStory() = default;
    std::uint64_t seed = 5;
    NetworkChances network;
    double throttle = 0;
    std::vector<KillPoint> kills;
};

struct CapacityEnding {
    CapacityEnding() = default;
    std::size_t commits_before = 0, calls_before = 0;  // of the launch
    std::size_t commits = 0, calls = 0, deaths = 0;
    Census census;
    std::map<std::string, int> acts;  // of the batch calls, those that went well
};

std::string to_string(const CapacityStory& story) {
    std::string text = "seed " + std::to_string(story.seed);
    for (const auto& kill : story.kills) text += ", " + to_string(kill);
    return text;
}

class Life {
public:
    explicit Life(const CapacityStory& story) : simulation_(story.seed, story.network, story.kills) {
        if (story.throttle > 0)
            simulation_.twin("POST", "/faults", {{"kind", "throttle"}, {"probability", story.throttle}});
    }

    CapacityEnding live() {
        CapacityEnding ending;
        done("POST", "/clusters/launch", launch_body());
        ending.commits_before = simulation_.commits();
        ending.calls_before = simulation_.calls();
        if (!::testing::Test::HasFailure()) change_groups();
        if (!::testing::Test::HasFailure()) change_node_groups();
        ending.commits = simulation_.commits();
        ending.calls = simulation_.calls();
        ending.deaths = simulation_.deaths();
        ending.census = census(simulation_);
        for (const auto& call : simulation_.mutations()) {
            const auto name = base::get_string(call, "operation");
            if (name.starts_with("Batch") && base::get_int(call, "status") < 400) ++ending.acts[name];
        }
        EXPECT_EQ(made_twice(simulation_.mutations()), std::vector<std::string>());
        return ending;
    }

private:
    // Asks with a key, as a client that repeats what it is not sure of, and sees it through to success.
    void done(const std::string& method, const std::string& path, const JsonObject& body) {
        const auto key = "key-" + std::to_string(++keys_);
        const auto answer = simulation_.ask(method, path, body, key);
        const auto id = base::get_string(answer.body, "operation.id");
        ASSERT_FALSE(id.empty()) << method << " " << path << ": " << base::to_text(answer.body);
        const auto operation = simulation_.wait(id);
        ASSERT_EQ(base::get_string(operation, "state"), "succeeded") << method << " " << path << "\n"
                                                                     << base::pretty_text(operation);
    }

    JsonObject group() {
        const auto answer = simulation_.ask("GET", "/clusters/phoenix/instance-groups", {});
        for (const auto& row : base::get_array(answer.body, "instance_groups")) {
            if (base::get_string(row, "name") == "more") return row.as_object();
        }
        return {};
    }

    void expect_count(std::int64_t count) {
        const auto row = group();
        EXPECT_EQ(base::get_int(row, "target_count"), count) << base::to_text(row);
        EXPECT_EQ(base::get_int(row, "current_count"), count) << base::to_text(row);
    }

    std::string some_node() {
        const auto hyperpod =
            base::get_array(simulation_.admin("sagemaker", "ListClusters", {}), "ClusterSummaries");
        const auto nodes =
            simulation_.admin("sagemaker", "ListClusterNodes",
                              {{"ClusterName", base::get_string(hyperpod.at(0), "ClusterName")},
                               {"InstanceGroupNameContains", "more"}});
        return base::get_string(nodes, "ClusterNodeSummaries.0.InstanceId");
    }

    void change_groups() {
        const std::string groups = "/clusters/phoenix/instance-groups";
        done("POST", groups,
             {{"name", "more"}, {"instance_type", "ml.g5.2xlarge"}, {"count", 1}, {"zone", "us-west-2b"}});
        done("PATCH", groups + "/more", {{"count", 2}, {"labels", JsonObject{{"team", "a"}}}});
        expect_count(2);
        done("POST", "/clusters/phoenix/nodes/" + some_node() + "/reboot", {});
        expect_count(2);
        const auto node = some_node();
        done("DELETE", "/clusters/phoenix/nodes/" + node, {{"confirm", node}});
        expect_count(1);
        EXPECT_EQ(base::get_string(group(), "labels.team"), "a");
        const auto other = some_node();
        done("POST", "/clusters/phoenix/nodes/" + other + "/replace", {{"confirm", other}});
        expect_count(1);
        EXPECT_NE(some_node(), other);
        done("PATCH", groups + "/more", {{"count", 0}, {"confirm", "more"}});
        expect_count(0);
        done("DELETE", groups + "/more", {{"confirm", "more"}});
        EXPECT_TRUE(group().empty());
    }

    void change_node_groups() {
        const std::string groups = "/clusters/phoenix/node-groups";
        done("POST", groups,
             {{"name", "system"},
              {"instance_types", JsonArray{"m5.xlarge"}},
              {"count", 1},
              {"max_count", 3},
              {"zone", "us-west-2a"}});
        done("PATCH", groups + "/system", {{"count", 2}});
        done("DELETE", groups + "/system", {{"confirm", "system"}});
    }

    Simulation simulation_;
    int keys_ = 0;
};

CapacityEnding live(const CapacityStory& story) {
    SCOPED_TRACE(to_string(story));
    return Life(story).live();
}

const CapacityEnding& calm() {
    static const CapacityEnding kCalm = live(CapacityStory());
    return kCalm;
}

TEST(Capacity, ends_as_asked) {
    EXPECT_EQ(calm().deaths, 0U);
    EXPECT_GT(calm().calls, calm().calls_before + 10);
    const std::map<std::string, int> once{
        {"BatchRebootClusterNodes", 1}, {"BatchReplaceClusterNodes", 1}, {"BatchDeleteClusterNodes", 1}};
    EXPECT_EQ(calm().acts, once);
}

class CapacityKills : public ::testing::TestWithParam<KillKind> {};

TEST_P(CapacityKills, are_survived_without_a_second_act) {
    const bool commits = GetParam() == KillKind::before_commit || GetParam() == KillKind::after_commit;
    const auto first = 1 + (commits ? calm().commits_before : calm().calls_before);
    const auto last = commits ? calm().commits : calm().calls;
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", 40));
    int failures = 0;
    for (std::size_t index = first; index <= last && failures < kFailuresMost; index += stride) {
        CapacityStory story;
        story.kills = {{GetParam(), index}};
        const auto ending = live(story);
        SCOPED_TRACE(to_string(story));
        EXPECT_EQ(ending.deaths, 1U);
        EXPECT_EQ(ending.census, calm().census);
        EXPECT_EQ(ending.acts, calm().acts);
        failures += ::testing::Test::HasFailure() ? 1 : 0;
    }
}

INSTANTIATE_TEST_SUITE_P(All, CapacityKills,
                         ::testing::Values(KillKind::before_commit, KillKind::after_commit,
                                           KillKind::before_call, KillKind::after_call));

TEST(Capacity, survives_weather) {
    for (std::uint64_t seed = 11; seed < 13; ++seed) {
        CapacityStory story;
        story.seed = seed;
        story.network.refuse = 0.02;
        story.network.lose_request = 0.03;
        story.network.lose_answer = 0.05;
        story.throttle = 0.1;
        const auto ending = live(story);
        SCOPED_TRACE(to_string(story));
        EXPECT_EQ(ending.census, calm().census);
        EXPECT_EQ(ending.acts, calm().acts);
    }
}

}  // namespace
}  // namespace instantstart::sim
