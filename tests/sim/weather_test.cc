// A launch in bad weather: of all AWS calls 30 % are throttled, 5 % reset (half of those after they were
// executed) and 5 % answered by 503, and reads of EC2 show the past. The launch ends well, makes nothing
// twice, and costs at most one and a half times the calls of the calm run: every call that the account got is
// counted, refused ones too, those of planning included.
//
// INSTANTSTART_SIM_WEATHER_SEEDS is the number of seeds (default 4).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "account.h"
#include "base/text.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using base::JsonArray;
using base::JsonObject;

// Calls by operation, "ec2 DescribeVpcs" -> 12.
using Counts = std::map<std::string, int>;

struct Launch {
    Launch() = default;
    Counts counts;
    int calls = 0, refused = 0;
    Census census;
    std::vector<std::string> twice;
    base::Duration took{};
};

void storm(Simulation& simulation) {
    simulation.twin("POST", "/faults", {{"kind", "throttle"}, {"probability", 0.3}});
    simulation.twin("POST", "/faults", {{"kind", "reset"}, {"probability", 0.05}});
    simulation.twin(
        "POST", "/faults",
        {{"kind", "error"}, {"status", 503}, {"code", "ServiceUnavailable"}, {"probability", 0.05}});
    simulation.twin("POST", "/faults", {{"kind", "stale"}, {"delay_seconds", 5}, {"probability", 0.5}});
}

void count(Simulation& simulation, Launch& launch) {
    std::int64_t since = 0;
    while (true) {
        const auto page = simulation.twin("GET", "/calls?since=" + std::to_string(since), {});
        const auto& rows = base::get_array(page, "calls");
        if (rows.empty()) return;
        for (const auto& row : rows) {
            ++launch.calls;
            if (base::get_int(row, "status") >= 400) ++launch.refused;
            ++launch.counts[base::get_string(row, "service") + " " + base::get_string(row, "operation")];
        }
        since = base::get_int(page, "next");
    }
}

// As a client does: what is said to be worth repeating is repeated, under the same key.
std::string ask_for_launch(Simulation& simulation) {
    for (int times = 0; times < 20; ++times) {
        const auto answer = simulation.ask("POST", "/clusters/launch", launch_body(), "key-1");
        const auto id = base::get_string(answer.body, "operation.id");
        if (!id.empty()) return id;
        EXPECT_TRUE(base::get_bool(answer.body, "retryable")) << base::to_text(answer.body);
        simulation.pass(std::chrono::seconds(5));
    }
    ADD_FAILURE() << "the launch was never accepted";
    return "";
}

Launch run_launch(std::uint64_t seed, bool stormy) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Simulation simulation(seed, {}, {});
    if (stormy) storm(simulation);
    Launch launch;
    const auto begin = simulation.elapsed();
    const auto id = ask_for_launch(simulation);
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded")
        << base::pretty_text(base::get_object(operation, "error"));
    launch.took = simulation.elapsed() - begin;
    count(simulation, launch);
    launch.census = census(simulation);
    launch.twice = made_twice(simulation.mutations());
    return launch;
}

// The operations that cost most beyond the calm run.
std::string difference(const Counts& calm, const Counts& stormy) {
    std::vector<std::pair<int, std::string>> rows;
    for (const auto& [operation, times] : stormy) {
        const auto before = calm.find(operation);
        const int usual = before == calm.end() ? 0 : before->second;
        rows.emplace_back(times - usual,
                          operation + " " + std::to_string(usual) + " -> " + std::to_string(times));
    }
    std::sort(rows.rbegin(), rows.rend());
    std::string text;
    for (const auto& [more, row] : rows) text += "  " + row + "\n";
    return text;
}

TEST(Weather, a_launch_in_a_storm_ends_well_within_half_as_many_calls_again) {
    const Launch calm = run_launch(1, false);
    EXPECT_EQ(calm.twice, std::vector<std::string>());
    const auto seeds = static_cast<std::uint64_t>(setting("INSTANTSTART_SIM_WEATHER_SEEDS", 4));
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Launch storm = run_launch(seed, true);
        SCOPED_TRACE("seed " + std::to_string(seed));
        const double ratio = static_cast<double>(storm.calls) / calm.calls;
        std::printf("seed %d: %d calls (%d refused) against %d: %.2f; %.0f s against %.0f s\n",
                    static_cast<int>(seed), storm.calls, storm.refused, calm.calls, ratio,
                    std::chrono::duration<double>(storm.took).count(),
                    std::chrono::duration<double>(calm.took).count());
        EXPECT_LE(ratio, 1.5) << difference(calm.counts, storm.counts);
        EXPECT_EQ(storm.census, calm.census);
        EXPECT_EQ(storm.twice, std::vector<std::string>());
    }
}

}  // namespace
}  // namespace instantstart::sim
