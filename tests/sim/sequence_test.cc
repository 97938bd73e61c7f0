// Two hundred random sequences of capacity and feature changes with faults: the end state equals the last
// wish, nothing is made twice, and no role, address, subnet or claim is left without an owner.
//
// INSTANTSTART_SIM_SEQUENCES is how many (default 2); INSTANTSTART_SIM_SEED runs one alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "sequence.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using namespace std::chrono_literals;
using base::JsonObject;

constexpr int kRetries = 8;

JsonObject launch_of_system_group() {
    return base::parse_json(R"({"name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "system", "instance_type": "ml.m5.4xlarge", "count": 2,
                             "zone": "us-west-2a"}]})")
        ->as_object();
}

bool has_ended(const JsonObject& operation) {
    const auto state = base::get_string(operation, "state");
    return state == "succeeded" || state == "failed" || state == "cancelled";
}

// Sees an operation through: what failed by its weather is retried, as its user would.
bool see_through(Simulation& simulation, std::string id) {
    JsonObject operation;
    for (int attempt = 0; attempt < kRetries; ++attempt) {
        operation = simulation.wait(id, std::chrono::hours(24));
        if (base::get_string(operation, "state") == "succeeded") return true;
        if (!has_ended(operation)) break;
        const auto again =
            simulation.ask("POST", "/operations/" + id + "/retry", {}, id + "-" + std::to_string(attempt));
        const auto next = base::get_string(again.body, "operation.id");
        if (!next.empty()) id = next;
    }
    ADD_FAILURE() << base::pretty_text(operation);
    return false;
}

void set_capacity(Simulation& simulation, const Change& change, std::int64_t available) {
    simulation.twin(
        "POST", "/capacity",
        {{"instance_type", change.missing_type}, {"zone", change.missing_zone}, {"available", available}});
}

// Of all mutating calls those behind the first `count`; `count` becomes their number.
std::vector<JsonObject> new_mutations(Simulation& simulation, std::size_t& count) {
    auto all = simulation.mutations();
    std::vector<JsonObject> fresh(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
    count = all.size();
    return fresh;
}

bool make_change(Simulation& simulation, const Change& change, const std::string& key) {
    if (!change.missing_type.empty()) set_capacity(simulation, change, 0);
    const auto answer = simulation.ask(change.method, change.path, change.body, key);
    const auto id = base::get_string(answer.body, "operation.id");
    EXPECT_FALSE(id.empty()) << answer.status << " " << base::to_text(answer.body);
    if (!change.missing_type.empty()) {
        simulation.pass(30min);
        set_capacity(simulation, change, 1000);
    }
    return !id.empty() && see_through(simulation, id);
}

// The groups as SageMaker shows them: name, type, target, current, capacity and labels.
std::set<std::string> groups_seen(Simulation& simulation) {
    std::set<std::string> seen;
    const auto cluster = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", "phoenix"}});
    for (const auto& group : base::get_array(cluster, "InstanceGroups")) {
        if (base::get_string(group, "InstanceGroupName") == "system") continue;
        const auto* capacity = base::find_path(group, "CapacityRequirements.Spot");
        seen.insert(base::to_text(
            JsonObject{{"name", base::get_string(group, "InstanceGroupName")},
                       {"type", base::get_string(group, "InstanceType")},
                       {"target", base::get_int(group, "TargetCount")},
                       {"current", base::get_int(group, "CurrentCount")},
                       {"spot", capacity != nullptr && capacity->is_object()},
                       {"team", base::get_string(group, "KubernetesConfig.DesiredLabels.team")}}));
    }
    return seen;
}

std::set<std::string> groups_wished(const Wish& wish) {
    std::set<std::string> wished;
    for (const auto& [name, group] : wish.groups) {
        wished.insert(base::to_text(JsonObject{{"name", name},
                                               {"type", base::get_string(group, "instance_type")},
                                               {"target", base::get_int(group, "count")},
                                               {"current", base::get_int(group, "count")},
                                               {"spot", base::get_string(group, "capacity.type") == "spot"},
                                               {"team", base::get_string(group, "labels.team")}}));
    }
    return wished;
}

std::set<std::string> features_seen(Simulation& simulation) {
    std::set<std::string> on;
    const auto answer = simulation.ask("GET", "/clusters/phoenix/features", {});
    for (const auto& feature : base::get_array(answer.body, "features")) {
        if (!base::get_bool(feature, "enabled")) continue;
        on.insert(base::get_string(feature, "name"));
        EXPECT_EQ(base::get_string(feature, "status"), "on") << base::to_text(feature);
    }
    return on;
}

std::set<std::string> names(const std::map<std::string, JsonObject>& wished) {
    std::set<std::string> found;
    for (const auto& entry : wished) found.insert(entry.first);
    return found;
}

// A subnet stays for the next group of its zone; it goes with the cluster.
Census without_subnets(Census census) {
    std::erase_if(census, [](const auto& entry) { return entry.first.starts_with("ec2.subnet"); });
    return census;
}

// What the account holds where the wish is made in one go, in calm weather.
Census straight(const Wish& wish) {
    Simulation simulation(1, {}, {});
    const auto launched = simulation.ask("POST", "/clusters/launch", launch_of_system_group());
    see_through(simulation, base::get_string(launched.body, "operation.id"));
    for (const auto& entry : wish.groups) {
        const auto added = simulation.ask("POST", "/clusters/phoenix/instance-groups", entry.second);
        see_through(simulation, base::get_string(added.body, "operation.id"));
    }
    if (!wish.features.empty()) {
        JsonObject body;
        for (const auto& [name, settings] : wish.features) body[name] = settings;
        const auto switched = simulation.ask("PATCH", "/clusters/phoenix/features", body);
        see_through(simulation, base::get_string(switched.body, "operation.id"));
    }
    simulation.pass(10min);
    return without_subnets(census(simulation));
}

const Census& empty_account() {
    static const Census kEmpty = [] {
        Simulation simulation(1, {}, {});
        return census(simulation);
    }();
    return kEmpty;
}

std::vector<KillPoint> random_deaths(std::mt19937_64& random) {
    std::vector<KillPoint> kills;
    for (auto count = random() % 4; count > 0; --count) {
        const auto kind = static_cast<KillKind>(random() % 4);
        const bool commit = kind == KillKind::before_commit || kind == KillKind::after_commit;
        kills.push_back({kind, 100 + random() % (commit ? 600 : 150)});
    }
    return kills;
}

void tell_sequence(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    NetworkChances chances;
    chances.refuse = 0.02;
    chances.lose_request = 0.03;
    chances.lose_answer = 0.05;
    Simulation simulation(seed, chances, random_deaths(random));
    const auto launched = simulation.ask("POST", "/clusters/launch", launch_of_system_group(), "launch");
    if (!see_through(simulation, base::get_string(launched.body, "operation.id"))) return;
    const auto fault = random() % 2 == 0
                           ? simulation.twin("POST", "/faults", {{"kind", "throttle"}, {"probability", 0.1}})
                           : JsonObject();
    std::size_t calls = 0;
    new_mutations(simulation, calls);
    Wish wish;
    const auto length = 4 + random() % 6;
    std::string told;
    for (std::uint64_t step = 0; step < length; ++step) {
        const auto change = random_change(random, wish);
        told += to_string(change) + "\n";
        SCOPED_TRACE(told);
        if (!make_change(simulation, change, "key-" + std::to_string(step))) return;
        wish = change.then;
        EXPECT_EQ(made_twice(new_mutations(simulation, calls)), std::vector<std::string>());
    }
    SCOPED_TRACE(told);
    if (!fault.empty()) simulation.twin("DELETE", "/faults/" + base::get_string(fault, "id"), {});
    simulation.pass(10min);
    EXPECT_EQ(groups_seen(simulation), groups_wished(wish));
    EXPECT_EQ(features_seen(simulation), names(wish.features));
    EXPECT_EQ(without_subnets(census(simulation)), straight(wish));
    const auto removed = simulation.ask("DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}}, "delete");
    if (!see_through(simulation, base::get_string(removed.body, "operation.id"))) return;
    EXPECT_EQ(census(simulation), empty_account());
}

TEST(Sequences, end_as_last_wished) {
    const auto only = setting("INSTANTSTART_SIM_SEED", 0);
    const auto count = only > 0 ? 1 : setting("INSTANTSTART_SIM_SEQUENCES", 2);
    for (std::int64_t index = 0; index < count && !HasFailure(); ++index) {
        tell_sequence(static_cast<std::uint64_t>(only > 0 ? only : 5000 + index));
    }
    std::printf("told %lld sequences\n", static_cast<long long>(count));
}

}  // namespace
}  // namespace instantstart::sim
