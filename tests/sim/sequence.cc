#include "sequence.h"

#include <array>
#include <vector>

namespace instantstart::sim {

using base::JsonObject;

namespace {

constexpr std::array<const char*, 3> kNames = {"alpha", "beta", "gamma"};
constexpr std::array<const char*, 2> kZones = {"us-west-2a", "us-west-2b"};

std::size_t below(std::mt19937_64& random, std::size_t limit) {
    return static_cast<std::size_t>(random() % limit);
}

// Features that stand alone, so that each may come and go whatever the others do.
std::vector<std::pair<std::string, JsonObject>> offered(std::mt19937_64& random) {
    // What checkpoints take is missing to pods: with nearly all of it no add-on would start any more.
    const auto percent = static_cast<std::int64_t>(20 + below(random, 5) * 10);
    return {{"tiered_checkpointing", {{"memory_percent", percent}}},
            {"training_operator", {}},
            {"kuberay", {}},
            {"keda", {}},
            {"load_balancer_controller", {}},
            {"task_governance", {}},
            {"mlflow", {{"kind", "app"}}}};
}

Change added(std::mt19937_64& random, const Wish& wish, const std::string& name) {
    Change change;
    change.method = "POST";
    change.path = "/clusters/phoenix/instance-groups";
    const bool large = below(random, 3) == 0;
    change.body = {{"name", name},
                   {"instance_type", large ? "ml.g5.12xlarge" : "ml.g5.2xlarge"},
                   {"count", static_cast<std::int64_t>(1 + below(random, 2))},
                   {"zone", kZones[below(random, kZones.size())]}};
    if (below(random, 3) == 0) change.body["capacity"] = {{"type", "spot"}};
    if (below(random, 3) == 0) change.body["labels"] = {{"team", "a"}};
    if (below(random, 4) == 0) {
        change.missing_type = base::get_string(change.body, "instance_type");
        change.missing_zone = base::get_string(change.body, "zone");
    }
    change.then = wish;
    change.then.groups[name] = change.body;
    return change;
}

Change updated(std::mt19937_64& random, const Wish& wish, const std::string& name) {
    Change change;
    change.method = "PATCH";
    change.path = "/clusters/phoenix/instance-groups/" + name;
    change.then = wish;
    auto& group = change.then.groups[name];
    if (below(random, 2) == 0) {
        const auto count = static_cast<std::int64_t>(below(random, 4));
        change.body["count"] = count;
        change.body["confirm"] = name;
        group["count"] = count;
    } else {
        const JsonObject labels{{"team", below(random, 2) == 0 ? "b" : "c"}};
        change.body["labels"] = labels;
        group["labels"] = labels;
    }
    return change;
}

Change deleted(const Wish& wish, const std::string& name) {
    Change change;
    change.method = "DELETE";
    change.path = "/clusters/phoenix/instance-groups/" + name;
    change.body = {{"confirm", name}};
    change.then = wish;
    change.then.groups.erase(name);
    return change;
}

Change switched(std::mt19937_64& random, const Wish& wish) {
    const auto all = offered(random);
    Change change;
    change.method = "PATCH";
    change.path = "/clusters/phoenix/features";
    change.then = wish;
    for (auto count = 1 + below(random, 2); count > 0; --count) {
        auto [feature, settings] = all[below(random, all.size())];
        // Of those that are on, every other change switches off; a setting may change too.
        const bool on = !wish.features.contains(feature) || (!settings.empty() && below(random, 3) == 0);
        settings["enabled"] = on;
        if (on) {
            change.then.features[feature] = settings;
        } else {
            settings = {{"enabled", false}};
            change.then.features.erase(feature);
        }
        change.body[feature] = settings;
    }
    change.body["confirm"] = "phoenix";
    return change;
}

}  // namespace

std::string to_string(const Change& change) {
    return change.method + " " + change.path + " " + base::to_text(change.body) +
           (change.missing_type.empty() ? "" : " (no capacity at first)");
}

Change random_change(std::mt19937_64& random, const Wish& wish) {
    if (below(random, 2) == 0) return switched(random, wish);
    const std::string name = kNames[below(random, kNames.size())];
    if (!wish.groups.contains(name)) return added(random, wish, name);
    return below(random, 3) == 0 ? deleted(wish, name) : updated(random, wish, name);
}

}  // namespace instantstart::sim
