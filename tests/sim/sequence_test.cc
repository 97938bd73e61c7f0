// Two hundred random sequences of changes to groups, nodes, features, node groups and storages, with deaths,
// faults, broken nodes and Spot notices: the end state equals the last wish with all its settings, nothing is
// made twice, and no role, address, subnet or claim is left without an owner.
//
// INSTANTSTART_SIM_SEQUENCES is how many (default 2); INSTANTSTART_SIM_SEED runs one alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "flows/features/feature.h"
#include "sequence.h"
#include "story.h"

namespace instantstart::sim {
namespace {

using namespace std::chrono_literals;
using base::JsonArray;
using base::JsonObject;

constexpr int kRetries = 8;

JsonObject launch_of_system_group() {
    return base::parse_json(R"({"name": "phoenix", "storage": {"kind": "s3"},
        "instance_groups": [{"name": "system", "instance_type": "ml.m5.4xlarge", "count": 2,
                             "zone": "us-west-2a"}]})")
        ->as_object();
}

// The account before the launch: a training plan and a bucket of the user's.
void prepare(Simulation& simulation) {
    simulation.twin("POST", "/training-plans",
                    {{"name", "june"},
                     {"instance_type", kPlanType},
                     {"zone", kPlanZone},
                     {"count", 2},
                     {"status", "Active"},
                     {"hours", 4000}});
    simulation.admin("s3", "CreateBucket",
                     {{"Bucket", kBucket},
                      {"CreateBucketConfiguration", JsonObject{{"LocationConstraint", "us-west-2"}}}});
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

// A node of the group that runs; "" where none does within two hours.
std::string running_node(Simulation& simulation, const std::string& group) {
    for (int minutes = 0; minutes < 120; minutes += 10) {
        const auto nodes =
            simulation.admin("sagemaker", "ListClusterNodes",
                             {{"ClusterName", "phoenix"}, {"InstanceGroupNameContains", group}});
        for (const auto& node : base::get_array(nodes, "ClusterNodeSummaries")) {
            if (base::get_string(node, "InstanceStatus.Status") == "Running")
                return base::get_string(node, "InstanceId");
        }
        simulation.pass(10min);
    }
    return "";
}

// Whether it was seen through. Where no node is there to be treated, nothing is asked and nothing wished.
bool make_change(Simulation& simulation, Change& change, const Wish& wish, const std::string& key) {
    if (!change.struck.empty()) {
        const auto node = running_node(simulation, change.struck);
        if (!node.empty()) simulation.twin("POST", "/nodes/" + node + "/fail", {{"fault", change.fault}});
    }
    if (!change.node_of.empty()) {
        const auto node = running_node(simulation, change.node_of);
        if (node.empty()) change.then = wish;
        if (node.empty()) return true;
        change.path += node + change.act;
        if (change.act != "/reboot") change.body["confirm"] = node;
    }
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

std::string types_text(const JsonArray& types, const std::string& one) {
    return types.empty() ? one : base::to_text(types);
}

// The groups as SageMaker shows them: name, types, target, current, minimum, capacity and labels.
std::set<std::string> groups_seen(Simulation& simulation) {
    std::set<std::string> seen;
    const auto cluster = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", "phoenix"}});
    for (const auto& group : base::get_array(cluster, "InstanceGroups")) {
        if (base::get_string(group, "InstanceGroupName") == "system") continue;
        const auto* capacity = base::find_path(group, "CapacityRequirements.Spot");
        seen.insert(base::to_text(JsonObject{
            {"name", base::get_string(group, "InstanceGroupName")},
            {"type", types_text(base::get_array(group, "InstanceRequirements.DesiredInstanceTypes"),
                                base::get_string(group, "InstanceType"))},
            {"target", base::get_int(group, "TargetCount")},
            {"current", base::get_int(group, "CurrentCount")},
            {"least", base::get_int(group, "MinCount")},
            {"plan", base::get_string(group, "TrainingPlanArn")},
            {"spot", capacity != nullptr && capacity->is_object()},
            {"team", base::get_string(group, "KubernetesConfig.DesiredLabels.team")}}));
    }
    return seen;
}

std::set<std::string> groups_wished(const Wish& wish) {
    std::set<std::string> wished;
    for (const auto& [name, group] : wish.groups) {
        wished.insert(
            base::to_text(JsonObject{{"name", name},
                                     {"type", types_text(base::get_array(group, "instance_types"),
                                                         base::get_string(group, "instance_type"))},
                                     {"target", base::get_int(group, "count")},
                                     {"current", base::get_int(group, "count")},
                                     {"least", base::get_int(group, "min_count")},
                                     {"plan", base::get_string(group, "capacity.training_plan_arn")},
                                     {"spot", base::get_string(group, "capacity.type") == "spot"},
                                     {"team", base::get_string(group, "labels.team")}}));
    }
    return wished;
}

using Settings = std::map<std::string, std::string>;  // of the features that are on

Settings features_seen(Simulation& simulation) {
    Settings on;
    const auto answer = simulation.ask("GET", "/clusters/phoenix/features", {});
    for (const auto& feature : base::get_array(answer.body, "features")) {
        if (!base::get_bool(feature, "enabled")) continue;
        on[base::get_string(feature, "name")] = base::canonical_text(base::get_object(feature, "settings"));
        EXPECT_EQ(base::get_string(feature, "status"), "on") << base::to_text(feature);
    }
    return on;
}

Settings features_wished(const Wish& wish) {
    Settings wished;
    for (const auto& [name, asked] : wish.features) {
        auto settings = flows::settings_in({{name, asked}}, *flows::find_feature(name));
        settings.erase("enabled");
        wished[name] = base::canonical_text(settings);
    }
    return wished;
}

// What SageMaker itself has of the settings that features lead to.
void expect_settings(Simulation& simulation, const Wish& wish) {
    const auto cluster = simulation.admin("sagemaker", "DescribeCluster", {{"ClusterName", "phoenix"}});
    const auto& tiers = base::get_object(cluster, "TieredStorageConfig");
    const auto checkpoints = wish.features.find("tiered_checkpointing");
    EXPECT_EQ(base::get_string(tiers, "Mode") == "Enable", checkpoints != wish.features.end());
    if (checkpoints != wish.features.end())
        EXPECT_EQ(base::get_int(tiers, "InstanceMemoryAllocationPercentage"),
                  base::get_int(checkpoints->second, "memory_percent"));
    const auto pools = simulation.objects("phoenix", "nodepools.karpenter.sh");
    const auto scaling = wish.features.find("autoscaling");
    EXPECT_EQ(pools.size(), scaling == wish.features.end() ? 0U : 1U);
    if (pools.size() == 1 && scaling != wish.features.end())
        EXPECT_EQ(base::to_text(*base::find_path(pools.front(), "spec.limits.nodes")),
                  base::to_text(*base::find_path(scaling->second, "limits.nodes")));
}

std::set<std::string> node_groups_seen(Simulation& simulation) {
    std::set<std::string> seen;
    const auto list = simulation.admin("eks", "ListNodegroups", {{"clusterName", "phoenix"}});
    for (const auto& name : base::get_array(list, "nodegroups")) {
        const auto group = simulation.admin("eks", "DescribeNodegroup",
                                            {{"clusterName", "phoenix"}, {"nodegroupName", name}});
        seen.insert(std::string(name.as_string()) + " " + base::get_string(group, "nodegroup.status") + " " +
                    std::to_string(base::get_int(group, "nodegroup.scalingConfig.desiredSize")));
    }
    return seen;
}

std::set<std::string> storages_seen(Simulation& simulation) {
    std::set<std::string> seen;
    const auto answer = simulation.ask("GET", "/clusters/phoenix/storages", {});
    for (const auto& storage : base::get_array(answer.body, "storages")) {
        seen.insert(base::get_string(storage, "name") + " " + base::get_string(storage, "status"));
    }
    return seen;
}

void expect_rest(Simulation& simulation, const Wish& wish) {
    std::set<std::string> node_groups, storages{"shared Bound"};
    for (const auto& [name, group] : wish.node_groups)
        node_groups.insert(name + " ACTIVE " + std::to_string(base::get_int(group, "count")));
    for (const auto& entry : wish.storages) storages.insert(entry.first + " Bound");
    EXPECT_EQ(node_groups_seen(simulation), node_groups);
    EXPECT_EQ(storages_seen(simulation), storages);
}

// A zone keeps its subnet for the next group; it goes with the cluster. None has two.
Census with_subnets_of(Census census, const std::set<std::string>& zones) {
    census["ec2.subnets"] += static_cast<int>(zones.size());
    return census;
}

std::set<std::string> zones_of(const Wish& wish) {
    std::set<std::string> zones{"us-west-2a"};  // the system group's
    for (const auto& entry : wish.groups) zones.insert(base::get_string(entry.second, "zone"));
    for (const auto& entry : wish.node_groups) zones.insert(base::get_string(entry.second, "zone"));
    return zones;
}

// Those that had nodes and have none now.
std::set<std::string> left_zones(const Wish& wish) {
    auto left = wish.zones;
    for (const auto& zone : zones_of(wish)) left.erase(zone);
    return left;
}

void make(Simulation& simulation, const std::string& path, const JsonObject& body,
          const std::string& method = "POST") {
    const auto made = simulation.ask(method, "/clusters/phoenix/" + path, body);
    const auto id = base::get_string(made.body, "operation.id");
    EXPECT_FALSE(id.empty()) << base::to_text(made.body);
    if (!id.empty()) see_through(simulation, id);
}

// What the account holds where the wish is made in one go, in calm weather.
Census straight(const Wish& wish) {
    Simulation simulation(1, {}, {});
    prepare(simulation);
    const auto launched = simulation.ask("POST", "/clusters/launch", launch_of_system_group());
    see_through(simulation, base::get_string(launched.body, "operation.id"));
    for (const auto& entry : wish.groups) make(simulation, "instance-groups", entry.second);
    for (const auto& entry : wish.node_groups) make(simulation, "node-groups", entry.second);
    for (const auto& entry : wish.storages) make(simulation, "storages", entry.second);
    if (!wish.features.empty()) {
        JsonObject body;
        for (const auto& [name, settings] : wish.features) body[name] = settings;
        make(simulation, "features", body, "PATCH");
    }
    simulation.pass(10min);
    return census(simulation);
}

const Census& empty_account() {
    static const Census kEmpty = [] {
        Simulation simulation(1, {}, {});
        prepare(simulation);
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
    prepare(simulation);
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
        auto change = random_change(random, wish);
        told += to_string(change) + "\n";
        SCOPED_TRACE(told);
        if (!make_change(simulation, change, wish, "key-" + std::to_string(step))) return;
        wish = change.then;
        EXPECT_EQ(made_twice(new_mutations(simulation, calls)), std::vector<std::string>());
    }
    SCOPED_TRACE(told);
    if (!fault.empty()) simulation.twin("DELETE", "/faults/" + base::get_string(fault, "id"), {});
    simulation.pass(1h);  // until what was struck last is whole again
    EXPECT_EQ(groups_seen(simulation), groups_wished(wish));
    EXPECT_EQ(features_seen(simulation), features_wished(wish));
    expect_settings(simulation, wish);
    expect_rest(simulation, wish);
    EXPECT_EQ(difference(with_subnets_of(straight(wish), left_zones(wish)), census(simulation)), "");
    const auto removed = simulation.ask("DELETE", "/clusters/phoenix", {{"confirm", "phoenix"}}, "delete");
    if (!see_through(simulation, base::get_string(removed.body, "operation.id"))) return;
    EXPECT_EQ(difference(empty_account(), census(simulation)), "");
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
