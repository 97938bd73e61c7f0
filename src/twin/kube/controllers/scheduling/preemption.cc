#include "twin/kube/controllers/scheduling/preemption.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "twin/kube/controllers/disruption.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::size_t kCandidatesMost = 100;

std::int64_t priority_of(const JsonObject& pod) {
    return base::get_int(pod, "spec.priority");
}

void take_away(NodeFacts& node, const JsonObject& pod, int sign) {
    for (const auto& [name, amount] : pod_requests(pod)) node.used[name] -= sign * amount;
    for (const auto& port : host_ports_of(pod)) {
        auto& count = node.ports[port];
        count -= sign;
        if (count <= 0) node.ports.erase(port);
    }
}

// The same decision with some pods thought away.
bool fits_without(const Env& env, const Cycle& cycle, const NodeFacts& node, const std::set<Key>& gone) {
    Cycle other = cycle;
    if (cycle.wish.looks_at_pods() || !env.index.anti_affine().empty()) {
        other.topology = PodTopology(env, cycle.wish, gone);
        other.spread = Spread(env, cycle.wish, gone);
    }
    return refusals(other, node).empty();
}

struct Cost {
    Cost() = default;
    std::size_t violations = 0;
    std::int64_t highest = 0, sum = 0;
    std::size_t count = 0;
    auto operator<=>(const Cost&) const = default;
};

struct Choice {
    Choice() = default;
    Victims victims;
    Cost cost;
};

// All of lower priority are thought away, and as many as possible put back: first those whose budget forbids
// their going, then those of higher priority.
std::optional<Choice> choose_on(const Env& env, const Cycle& cycle, const std::string& name) {
    const auto* facts = env.index.nodes().find(name);
    if (facts == nullptr) return std::nullopt;
    NodeFacts node = *facts;
    std::vector<ObjectPtr> lower;
    std::set<Key> gone;
    for (const auto& key : env.index.pods_on(name)) {
        auto pod = env.get(kPods, key);
        if (!pod || is_finished(*pod) || priority_of(*pod) >= cycle.wish.priority) continue;
        take_away(node, *pod, 1);
        gone.insert(key);
        lower.push_back(std::move(pod));
    }
    if (lower.empty() || !fits_without(env, cycle, node, gone)) return std::nullopt;
    std::map<std::string, std::int64_t> spent;
    std::set<Key> guarded;
    for (const auto& pod : lower) {
        if (violates_budget(env, *pod, spent)) guarded.emplace(namespace_of(*pod), name_of(*pod));
    }
    const auto rank = [&guarded](const ObjectPtr& pod) {
        return std::tuple(!guarded.contains(Key(namespace_of(*pod), name_of(*pod))), -priority_of(*pod),
                          base::get_string(*pod, "status.startTime"), name_of(*pod));
    };
    std::sort(lower.begin(), lower.end(),
              [&rank](const ObjectPtr& a, const ObjectPtr& b) { return rank(a) < rank(b); });
    Choice choice;
    choice.victims.node = name;
    for (const auto& pod : lower) {
        const Key key(namespace_of(*pod), name_of(*pod));
        take_away(node, *pod, -1);
        gone.erase(key);
        if (fits_without(env, cycle, node, gone)) continue;
        take_away(node, *pod, 1);
        gone.insert(key);
        choice.victims.pods.push_back(pod);
        if (guarded.contains(key)) ++choice.cost.violations;
        choice.cost.highest = std::max(choice.cost.highest, priority_of(*pod));
        choice.cost.sum += priority_of(*pod) + 2'147'483'648;
        ++choice.cost.count;
    }
    return choice;
}

}  // namespace

Victims find_victims(const Env& env, const Cycle& cycle, const std::vector<std::string>& candidates) {
    std::optional<Choice> best;
    for (std::size_t i = 0; i < candidates.size() && i < kCandidatesMost; ++i) {
        auto choice = choose_on(env, cycle, candidates[i]);
        if (choice && (!best || choice->cost < best->cost)) best = std::move(choice);
    }
    return best ? std::move(best->victims) : Victims();
}

void evict_victims(Env& env, const Cycle& cycle, const Victims& victims) {
    const auto uid = base::get_string(*cycle.wish.pod, "metadata.uid");
    for (const auto& victim : victims.pods) {
        if (is_terminating(*victim)) continue;
        mark_disruption(env, *victim, "PreemptionByScheduler",
                        "default-scheduler: preempting to accommodate a higher priority pod");
        env.remove(kPods, Key(namespace_of(*victim), name_of(*victim)));
        env.events.write(*victim, "Normal", "Preempted",
                         "Preempted by pod " + uid + " on node " + victims.node, "default-scheduler");
    }
}

}  // namespace instantstart::twin::kube::controllers
