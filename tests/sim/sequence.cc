#include "sequence.h"

#include <array>
#include <utility>
#include <vector>

namespace instantstart::sim {

using base::JsonArray;
using base::JsonObject;

namespace {

constexpr std::array<const char*, 4> kNames = {"alpha", "beta", "gamma", "burst"};
constexpr std::array<const char*, 2> kZones = {"us-west-2a", "us-west-2b"};
constexpr const char* kInference = "inference_operator";
constexpr std::array<const char*, 2> kBesideInference = {"keda", "load_balancer_controller"};

std::size_t below(std::mt19937_64& random, std::size_t limit) {
    return static_cast<std::size_t>(random() % limit);
}

std::int64_t count_of(const JsonObject& group) {
    return base::get_int(group, "count");
}

std::vector<std::string> with_nodes(const Wish& wish) {
    std::vector<std::string> names;
    for (const auto& [name, group] : wish.groups) {
        if (count_of(group) > 0) names.push_back(name);
    }
    return names;
}

// --- features

// What checkpoints take is missing to pods: with nearly all of it no add-on would start any more.
std::vector<std::pair<std::string, JsonObject>> offered(std::mt19937_64& random) {
    const auto percent = static_cast<std::int64_t>(20 + below(random, 3) * 10);
    const auto nodes = static_cast<std::int64_t>(1 + below(random, 4));
    return {
        {"tiered_checkpointing", {{"memory_percent", percent}}},
        {"training_operator", {}},
        {"kuberay", {}},
        {"keda", {}},
        {"load_balancer_controller", {}},
        {kInference, {}},
        {"task_governance", {}},
        {"observability", {}},
        {"mlflow", {{"kind", below(random, 2) == 0 ? "app" : "tracking_server"}}},
        {"autoscaling", {{"instance_groups", JsonArray{"burst"}}, {"limits", JsonObject{{"nodes", nodes}}}}}};
}

void put_off(Change& change, const std::string& feature) {
    change.body[feature] = JsonObject{{"enabled", false}};
    change.then.features.erase(feature);
}

void put_on(Change& change, const std::string& feature, JsonObject settings) {
    settings["enabled"] = true;
    change.body[feature] = settings;
    change.then.features[feature] = std::move(settings);
}

// Whoever excludes it goes in the same request; what this request has just asked for stays.
bool makes_room(Change& change, const std::string& feature) {
    std::vector<std::string> others;
    if (feature == kInference) others = {kBesideInference.begin(), kBesideInference.end()};
    for (const char* beside : kBesideInference) {
        if (feature == beside) others = {kInference};
    }
    for (const auto& other : others) {
        if (!change.then.features.contains(other)) continue;
        if (change.body.contains(other)) return false;
        put_off(change, other);
    }
    return true;
}

Change switched(std::mt19937_64& random, const Wish& wish) {
    const auto all = offered(random);
    Change change;
    change.method = "PATCH";
    change.path = "/clusters/phoenix/features";
    change.then = wish;
    for (auto count = 1 + below(random, 2); count > 0 || change.body.empty(); count -= count > 0 ? 1 : 0) {
        const auto& [feature, settings] = all[below(random, all.size())];
        const bool again = below(random, 3) == 0;  // of those that are on some get another setting
        if (change.body.contains(feature)) continue;
        if (feature == "autoscaling" && !wish.groups.contains("burst")) continue;
        const bool is_on = wish.features.contains(feature);
        const bool changes = is_on && again && !settings.empty() && feature != "mlflow";
        if (is_on && !changes) {
            put_off(change, feature);
        } else if (makes_room(change, feature)) {
            put_on(change, feature, settings);
        }
    }
    change.body["confirm"] = "phoenix";
    return change;
}

// --- instance groups

bool uses_plan(const JsonObject& group) {
    return base::get_string(group, "capacity.type") == "training_plan";
}

JsonObject some_group(std::mt19937_64& random, const Wish& wish, const std::string& name) {
    JsonObject group{{"name", name},
                     {"instance_type", "ml.g5.2xlarge"},
                     {"count", static_cast<std::int64_t>(1 + below(random, 2))},
                     {"zone", kZones[below(random, kZones.size())]}};
    if (name == "burst") {
        group["instance_type"] = "ml.g5.12xlarge";
        group["count"] = 0;
        group["autoscaled"] = true;
        return group;
    }
    switch (below(random, 6)) {
        case 0: group["instance_type"] = "ml.g5.12xlarge"; break;
        case 1:
            group.erase("instance_type");
            group["instance_types"] = JsonArray{"ml.g5.2xlarge", "ml.g5.4xlarge"};
            break;
        case 2: group["min_count"] = 1; break;
        case 3: {
            bool taken = false;
            for (const auto& other : wish.groups) taken = taken || uses_plan(other.second);
            if (taken) break;
            group["instance_type"] = kPlanType;
            group["zone"] = kPlanZone;
            group["capacity"] = {{"type", "training_plan"}, {"training_plan_arn", kPlan}};
            break;
        }
        default: break;
    }
    if (!uses_plan(group) && below(random, 3) == 0) group["capacity"] = {{"type", "spot"}};
    return group;
}

Change added(std::mt19937_64& random, const Wish& wish, const std::string& name) {
    Change change;
    change.method = "POST";
    change.path = "/clusters/phoenix/instance-groups";
    change.body = some_group(random, wish, name);
    if (below(random, 3) == 0) change.body["labels"] = {{"team", "a"}};
    const bool waits = change.body.contains("min_count") || uses_plan(change.body) || name == "burst";
    if (!waits && below(random, 4) == 0) {
        change.missing_type =
            base::get_string(change.body, "instance_type", "ml.g5.2xlarge");  // of two types the first
        change.missing_zone = base::get_string(change.body, "zone");
    }
    change.then = wish;
    change.then.groups[name] = change.body;
    change.then.zones.insert(base::get_string(change.body, "zone"));
    return change;
}

Change updated(std::mt19937_64& random, const Wish& wish, const std::string& name) {
    Change change;
    change.method = "PATCH";
    change.path = "/clusters/phoenix/instance-groups/" + name;
    change.then = wish;
    auto& group = change.then.groups[name];
    const auto choice = below(random, 2);
    if (choice == 0 && name != "burst") {
        const auto least = base::get_int(group, "min_count");
        const std::size_t most = uses_plan(group) ? 2 : 3;
        const auto count = std::max(least, static_cast<std::int64_t>(below(random, most + 1)));
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

Change group_changed(std::mt19937_64& random, const Wish& wish) {
    const std::string name = kNames[below(random, kNames.size())];
    if (!wish.groups.contains(name)) return added(random, wish, name);
    const bool is_held = name == "burst" && wish.features.contains("autoscaling");
    return below(random, 3) == 0 && !is_held ? deleted(wish, name) : updated(random, wish, name);
}

// --- nodes

Change node_treated(std::mt19937_64& random, const Wish& wish) {
    const auto names = with_nodes(wish);
    if (names.empty()) return switched(random, wish);
    Change change;
    change.node_of = names[below(random, names.size())];
    change.then = wish;
    auto& group = change.then.groups[change.node_of];
    const bool can_lose = count_of(group) > base::get_int(group, "min_count");
    const auto choice = below(random, 3);
    change.path = "/clusters/phoenix/nodes/";
    change.method = "POST";
    change.act = choice == 0 ? "/reboot" : "/replace";
    if (choice == 2 && can_lose) {
        change.method = "DELETE";
        change.act = "";
        group["count"] = count_of(group) - 1;
    }
    return change;
}

// --- node groups and storages

Change node_group_changed(std::mt19937_64& random, const Wish& wish) {
    constexpr const char* kName = "pods";
    Change change;
    change.path = "/clusters/phoenix/node-groups";
    change.then = wish;
    const auto count = static_cast<std::int64_t>(1 + below(random, 3));
    if (!wish.node_groups.contains(kName)) {
        const std::string zone = kZones[below(random, kZones.size())];
        change.method = "POST";
        change.body = {{"name", kName},
                       {"instance_types", JsonArray{"m5.xlarge"}},
                       {"count", count},
                       {"max_count", 3},
                       {"zone", zone}};
        change.then.node_groups[kName] = change.body;
        change.then.zones.insert(zone);
        return change;
    }
    change.path += std::string("/") + kName;
    change.body = {{"confirm", kName}};
    if (below(random, 2) == 0) {
        change.method = "DELETE";
        change.then.node_groups.erase(kName);
    } else {
        change.method = "PATCH";
        change.body["count"] = count;
        change.then.node_groups[kName]["count"] = count;
    }
    return change;
}

Change storage_changed(const Wish& wish) {
    constexpr const char* kName = "models";
    Change change;
    change.path = "/clusters/phoenix/storages";
    change.then = wish;
    if (wish.storages.contains(kName)) {
        change.method = "DELETE";
        change.path += std::string("/") + kName;
        change.body = {{"confirm", kName}};
        change.then.storages.erase(kName);
    } else {
        change.method = "POST";
        change.body = {{"name", kName}, {"kind", "s3"}, {"bucket", kBucket}};
        change.then.storages[kName] = change.body;
    }
    return change;
}

// A node breaks, or Spot takes it away.
void strike(std::mt19937_64& random, const Wish& wish, Change& change) {
    const auto names = with_nodes(wish);
    const auto chosen = names.empty() ? std::string() : names[below(random, names.size())];
    if (chosen.empty() || chosen == change.node_of) return;
    static constexpr std::array<const char*, 3> kFaults = {"gpu_xid", "disk", "unreachable"};
    const bool spot = base::get_string(wish.groups.at(chosen), "capacity.type") == "spot";
    change.struck = chosen;
    change.fault =
        spot && below(random, 2) == 0 ? "spot_interruption" : kFaults[below(random, kFaults.size())];
}

}  // namespace

std::string to_string(const Change& change) {
    std::string text = change.method + " " + change.path;
    if (!change.node_of.empty()) text += "(of " + change.node_of + ")" + change.act;
    if (!change.body.empty()) text += " " + base::to_text(change.body);
    if (!change.missing_type.empty()) text += " (no capacity at first)";
    if (!change.struck.empty()) text += " (" + change.fault + " in " + change.struck + ")";
    return text;
}

Change random_change(std::mt19937_64& random, const Wish& wish) {
    Change change;
    switch (below(random, 10)) {
        case 0:
        case 1:
        case 2:
        case 3: change = switched(random, wish); break;
        case 4:
        case 5:
        case 6: change = group_changed(random, wish); break;
        case 7: change = node_treated(random, wish); break;
        case 8: change = node_group_changed(random, wish); break;
        default: change = storage_changed(wish); break;
    }
    if (below(random, 5) == 0) strike(random, wish, change);
    return change;
}

}  // namespace instantstart::sim
