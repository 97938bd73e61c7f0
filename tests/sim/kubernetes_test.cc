// API servers that go and come back while the product works on and looks at their clusters.
#include <gtest/gtest.h>

#include "account.h"
#include "simulation.h"

namespace instantstart::sim {
namespace {

using namespace std::chrono_literals;
using base::JsonObject;

JsonObject body() {
    return base::parse_json(R"({"name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "workers", "instance_type": "ml.g5.12xlarge", "count": 2,
                             "zone": "us-west-2a"}]})")
        ->as_object();
}

bool has_ended(Simulation& simulation, const std::string& id) {
    const auto answer = simulation.ask("GET", "/operations/" + id, {});
    const auto state = base::get_string(answer.body, "operation.state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

// Times come from the seed, so each run restarts the server at other moments of the launch.
class Restarts : public ::testing::TestWithParam<int> {};

TEST_P(Restarts, of_the_api_server_end_well_and_make_nothing_twice) {
    Simulation simulation(static_cast<std::uint64_t>(GetParam()), {}, {});
    const auto answer = simulation.ask("POST", "/clusters/launch", body());
    const auto id = base::get_string(answer.body, "operation.id");
    ASSERT_FALSE(id.empty()) << base::to_text(answer.body);
    int restarts = 0, seen_active = 0;
    while (!has_ended(simulation, id) && restarts < 2000) {
        simulation.pass(3s + 1s * (restarts * GetParam() % 5));
        simulation.set_kubernetes(false);
        simulation.pass(2s + 1s * (restarts % 9));
        // Looks at it while it is away must neither fail nor wait for long.
        const auto looked = simulation.ask("GET", "/clusters/phoenix", {});
        EXPECT_TRUE(looked.status == 200 || looked.status == 404) << base::to_text(looked.body);
        if (base::get_string(looked.body, "cluster.status") == "ACTIVE") ++seen_active;
        simulation.set_kubernetes(true);
        ++restarts;
    }
    const auto operation = simulation.wait(id);
    EXPECT_EQ(base::get_string(operation, "state"), "succeeded") << base::pretty_text(operation);
    EXPECT_GE(seen_active, 10);  // restarts that the launch could notice
    EXPECT_EQ(made_twice(simulation.mutations()), std::vector<std::string>());
    simulation.pass(1min);
    const auto cluster = simulation.ask("GET", "/clusters/phoenix", {});
    EXPECT_EQ(base::get_int(cluster.body, "cluster.nodes.ready"), 2) << base::to_text(cluster.body);
    EXPECT_TRUE(base::get_array(cluster.body, "cluster.conditions").empty()) << base::to_text(cluster.body);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Restarts, ::testing::Values(1, 2, 3));

}  // namespace
}  // namespace instantstart::sim
