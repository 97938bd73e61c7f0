// Whole stories in simulation: launched, grown and deleted while killed before and after every commit and
// around every mutating call, with answers lost, reads stale and calls throttled, over many seeds. Each
// resource is made once, every operation ends well, and deleting leaves an empty account.
//
// How much is run: INSTANTSTART_SIM_SECONDS (random seeds; default 10), INSTANTSTART_SIM_STRIDE (every n-th
// kill point; default 40; 1 is every one). A failing story prints its seed and kill points;
// INSTANTSTART_SIM_SEED tells that random story alone, INSTANTSTART_SIM_LOG=1 prints the product's log.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "story.h"

namespace instantstart::sim {
namespace {

constexpr int kFailuresMost = 3;

std::chrono::steady_clock::time_point in_seconds(std::int64_t seconds) {
    return std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
}

bool failed_enough(std::size_t& failures) {
    const auto* result = ::testing::UnitTest::GetInstance()->current_test_info()->result();
    failures = static_cast<std::size_t>(result->total_part_count());
    return ::testing::Test::HasFailure() && failures > kFailuresMost;
}

bool is_commit(KillKind kind) {
    return kind == KillKind::before_commit || kind == KillKind::after_commit;
}

Story random_story(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Story story;
    story.seed = seed;
    story.grows = seed % 4 == 0;
    story.weather.network.refuse = 0.02;
    story.weather.network.lose_request = 0.03;
    story.weather.network.lose_answer = 0.05;
    if (seed % 7 == 0) story.weather.network.lose_read = 0.05;
    if (seed % 2 == 0) story.weather.stale = 0.5;
    if (seed % 3 == 0) story.weather.throttle = 0.1;
    if (seed % 5 == 0) story.weather.downtime = std::chrono::seconds(random() % 300);
    for (auto count = random() % 6; count > 0; --count) {
        const auto kind = static_cast<KillKind>(random() % 4);
        story.kills.push_back({kind, 1 + random() % (is_commit(kind) ? 250 : 120)});
    }
    return story;
}

TEST(Launch, ends_well_and_deletes_to_an_empty_account) {
    Story story;
    story.grows = true;
    const auto ending = tell(story);
    EXPECT_EQ(ending.deaths, 0U);
    EXPECT_GT(ending.calls, 40U);
}

// The interface that the CNI leaves behind is listed when those of the nodes are long gone, and the look at
// the interfaces is over.
TEST(Launch, an_interface_that_is_listed_late_keeps_nothing_behind) {
    Simulation simulation(1, {}, {});
    const auto launched = simulation.ask("POST", "/clusters/launch", launch_body(), "key-1");
    const auto launch = simulation.wait(base::get_string(launched.body, "operation.id"));
    ASSERT_EQ(base::get_string(launch, "state"), "succeeded");
    simulation.twin("POST", "/faults",
                    {{"service", "ec2"},
                     {"operation", "DescribeNetworkInterfaces"},
                     {"kind", "stale"},
                     {"delay_seconds", 120}});
    const auto asked = simulation.ask("DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}}, "key-2");
    const auto removal = simulation.wait(base::get_string(asked.body, "operation.id"));
    EXPECT_EQ(base::get_string(removal, "state"), "succeeded")
        << base::pretty_text(base::get_object(removal, "error"));
}

TEST(Launch, same_seed_gives_the_same_run) {
    const auto story = random_story(1002);
    const auto once = tell(story);
    const auto again = tell(story);
    EXPECT_EQ(once.history, again.history);
    EXPECT_EQ(once.commits, again.commits);
    EXPECT_EQ(once.calls, again.calls);
    EXPECT_EQ(once.elapsed, again.elapsed);
}

class KillPoints : public ::testing::TestWithParam<KillKind> {};

TEST_P(KillPoints, every_one_is_survived) {
    Story story;
    story.seed = 3;
    const auto calm = tell(story);
    const auto last = is_commit(GetParam()) ? calm.commits : calm.calls;
    const auto stride = static_cast<std::size_t>(setting("INSTANTSTART_SIM_STRIDE", 40));
    std::size_t failures = 0;
    for (std::size_t index = 1; index <= last && !failed_enough(failures); index += stride) {
        story.kills = {{GetParam(), index}};
        EXPECT_EQ(tell(story).deaths, 1U) << to_string(story);
    }
}

INSTANTIATE_TEST_SUITE_P(All, KillPoints,
                         ::testing::Values(KillKind::before_commit, KillKind::after_commit,
                                           KillKind::before_call, KillKind::after_call));

TEST(Launch, survives_random_deaths_and_weather) {
    const auto only = setting("INSTANTSTART_SIM_SEED", 0);
    const auto end = in_seconds(setting("INSTANTSTART_SIM_SECONDS", 10));
    std::size_t stories = 0, deaths = 0, failures = 0;
    for (auto seed = static_cast<std::uint64_t>(only > 0 ? only : 1000);; ++seed) {
        deaths += tell(random_story(seed)).deaths;
        ++stories;
        if (only > 0 || failed_enough(failures) || std::chrono::steady_clock::now() > end) break;
    }
    std::printf("simulated %zu stories with %zu deaths\n", stories, deaths);
}

// A measure, not a claim about this machine: how many calm launches a minute of one core holds.
TEST(Launch, counts_pipelines_a_minute) {
    Story story;
    story.removes = false;
    const auto begin = std::chrono::steady_clock::now();
    const auto end = in_seconds(setting("INSTANTSTART_SIM_MEASURE_SECONDS", 0));
    std::size_t launches = 0;
    do {
        story.seed = 1 + launches++;
        tell(story);
    } while (std::chrono::steady_clock::now() < end);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    std::printf("%.0f pipelines a minute\n", static_cast<double>(launches) * 60 / spent.count());
}

}  // namespace
}  // namespace instantstart::sim
