#include "twin/kube/controllers/scheduling/scheduler.h"

#include <algorithm>

#include "twin/kube/controllers/scheduling/preemption.h"
#include "twin/kube/controllers/scheduling/scores.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::size_t kBatch = 50;  // pods in one turn of the queue
const Key kTurn("", "turn");
constexpr std::string_view kGroup = "group";  // namespace of items that name a group

bool wants_scheduling(const JsonObject& pod) {
    return base::get_string(pod, "spec.nodeName").empty() && !is_terminating(pod) && !is_finished(pod) &&
           base::get_string(pod, "spec.schedulerName", "default-scheduler") == "default-scheduler";
}

bool same_at(const Change& change, std::string_view path) {
    const auto* before = base::find_path(*change.previous, path);
    const auto* after = base::find_path(*change.object, path);
    return before == nullptr || after == nullptr ? before == after : *before == *after;
}

// What of a node matters for placement.
bool node_helps(const Change& change) {
    if (change.type == Change::Type::deleted) return false;
    if (!change.previous) return true;
    return !same_at(change, "metadata.labels") || !same_at(change, "spec") ||
           !same_at(change, "status.allocatable");
}

// As kube-scheduler: in a large cluster a part of the possible nodes is enough to choose from.
std::size_t enough_nodes(std::size_t nodes) {
    if (nodes < 100) return nodes;
    const std::size_t percent = nodes / 125 >= 45 ? 5 : 50 - nodes / 125;
    return std::max<std::size_t>(100, nodes * percent / 100);
}

bool has_leaving_pod(const Env& env, const std::string& node, std::int64_t below) {
    const auto& pods = env.index.pods_on(node);
    return std::any_of(pods.begin(), pods.end(), [&](const Key& key) {
        const auto pod = env.get(kPods, key);
        return pod && is_terminating(*pod) && !is_finished(*pod) &&
               base::get_int(*pod, "spec.priority") < below;
    });
}

}  // namespace

void Scheduler::clear() {
    pending_.clear();
    turns_.clear();
    groups_.clear();
    waiting_.clear();
    nominations_.clear();
}

void Scheduler::changed(const Change& change) {
    if (change.kind == kPods) return pod_changed(change);
    const bool volumes = change.kind == kClaims || change.kind == kVolumes;
    if (change.kind == kNodes ? node_helps(change) : volumes) wake("");
}

void Scheduler::pod_changed(const Change& change) {
    const JsonObject& pod = *change.object;
    const Key key(namespace_of(pod), name_of(pod));
    const auto node = base::get_string(pod, "spec.nodeName");
    if (change.type == Change::Type::deleted) {
        forget(key);
        if (!node.empty()) wake(node);
        return;
    }
    if (!node.empty()) {
        forget(key);
        const bool ended = change.previous && is_finished(pod) && !is_finished(*change.previous);
        const bool moved =
            !change.previous || !same_at(change, "metadata.labels") || !same_at(change, "spec.nodeName");
        if (ended) wake(node);
        if (moved) wake(node, true);
        return;
    }
    if (!wants_scheduling(pod)) return forget(key);
    // Its own note that it found no node is no reason to try again.
    const bool asks_anew =
        !change.previous || !same_at(change, "spec") || !same_at(change, "metadata.labels");
    if (!waiting_.contains(key) || asks_anew) enqueue(pod);
}

void Scheduler::enqueue(const JsonObject& pod) {
    const Key key(namespace_of(pod), name_of(pod));
    if (turns_.contains(key)) return;
    const Turn turn({-base::get_int(pod, "spec.priority"), ++sequence_}, key);
    pending_.insert(turn);
    turns_.emplace(key, turn);
    env_.queue.add(this, kTurn);
}

void Scheduler::forget(const Key& key) {
    nominations_.drop(key);
    if (const auto turn = turns_.find(key); turn != turns_.end()) {
        pending_.erase(turn->second);
        turns_.erase(turn);
    }
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) return;
    const auto group = groups_.find(found->second);
    waiting_.erase(found);
    if (group == groups_.end()) return;
    group->second.pods.erase(key);
    if (group->second.pods.empty()) groups_.erase(group);
}

// Something has changed on `node` ("" for anywhere) that may help.
void Scheduler::wake(const std::string& node, bool by_pods_only) {
    if (!by_pods_only) ++generation_;
    for (auto& [signature, group] : groups_) {
        if (by_pods_only && !group.looks_at_pods) continue;
        const bool elsewhere =
            !node.empty() && !group.pinned.empty() &&
            std::find(group.pinned.begin(), group.pinned.end(), node) == group.pinned.end();
        if (elsewhere) continue;
        group.generation = 0;
        const base::Duration left = group.not_before - env_.clock.monotonic();
        if (left > base::Duration::zero()) {
            env_.queue.add_after(this, Key(std::string(kGroup), signature), left);
        } else {
            try_group(signature, group);
        }
    }
}

void Scheduler::try_group(const std::string&, Group& group) {
    if (group.pods.empty()) return;
    if (const auto pod = env_.get(kPods, *group.pods.begin())) enqueue(*pod);
}

void Scheduler::sync(const Key& key) {
    if (key.ns == kGroup) {
        const auto group = groups_.find(key.name);
        if (group != groups_.end()) try_group(group->first, group->second);
        return;
    }
    for (std::size_t i = 0; i < kBatch && !pending_.empty(); ++i) {
        const Key next = pending_.begin()->second;
        pending_.erase(pending_.begin());
        turns_.erase(next);
        schedule(next);
    }
    if (!pending_.empty()) env_.queue.add(this, kTurn);
}

void Scheduler::hold_back(const ObjectPtr& pod) {
    JsonObject next = *pod;
    if (set_condition(conditions_of(next), "PodScheduled", false, "SchedulingGated",
                      "Scheduling is blocked due to non-empty scheduling gates", env_.clock.now()))
        env_.write(kPods, std::move(next));
}

void Scheduler::schedule(const Key& key) {
    const auto pod = env_.get(kPods, key);
    if (!pod || !wants_scheduling(*pod)) return forget(key);
    if (!base::get_array(*pod, "spec.schedulingGates").empty()) return hold_back(pod);
    Wish wish = read_wish(env_, pod);
    const auto signature = signature_of(wish);
    if (const auto known = groups_.find(signature);
        known != groups_.end() && known->second.generation == generation_ && !known->second.looks_at_pods) {
        const auto message = known->second.message;
        waiting_[key] = signature;
        known->second.pods.insert(key);
        return write_refusal(*pod, message);
    }
    const Cycle cycle(env_, std::move(wish), nominations_);
    Verdict verdict;
    std::vector<std::string> helped;
    const auto* node = cycle.wish.problem.empty() ? choose(cycle, verdict, helped) : nullptr;
    if (node != nullptr) return place(cycle, signature, std::string(node->name));
    // Before anything is written: its own notes are no reason to try again.
    waiting_[key] = signature;
    groups_[signature].pods.insert(key);
    refuse(cycle, signature, explain(cycle, verdict, helped));
}

const NodeFacts* Scheduler::choose(const Cycle& cycle, Verdict& verdict,
                                   std::vector<std::string>& helped) const {
    const auto& nodes = env_.index.nodes();
    std::vector<const NodeFacts*> possible;
    const auto look_at = [&](const NodeFacts& node) {
        const auto refused = refusals(cycle, node);
        if (refused.empty()) return possible.push_back(&node);
        verdict.add(refused);
        if (std::all_of(refused.begin(), refused.end(), [](const Refusal& one) { return one.helped; }))
            helped.push_back(node.name);
    };
    if (!cycle.wish.pinned.empty()) {
        std::size_t named = 0;
        for (const auto& name : cycle.wish.pinned) {
            const auto* node = nodes.find(name);
            if (node == nullptr) continue;
            ++named;
            look_at(*node);
        }
        verdict.add_unnamed(nodes.size() - std::min(named, nodes.size()));
    } else {
        const bool chooses = cycle.wish.has_preferences() || nodes.any_prefers_none();
        const std::size_t enough = chooses ? enough_nodes(nodes.size()) : 1;
        for (const auto& [load, name] : nodes.by_load()) {
            look_at(*nodes.find(name));
            if (possible.size() >= enough) break;
        }
    }
    return possible.empty() ? nullptr : best_of(cycle, possible);
}

void Scheduler::place(const Cycle& cycle, const std::string& signature, const std::string& node) {
    const JsonObject& pod = *cycle.wish.pod;
    choose_node_for_claims(env_, pod, node);
    JsonObject next = pod;
    object_at(next, "spec")["nodeName"] = node;
    set_condition(conditions_of(next), "PodScheduled", true, "", "", env_.clock.now());
    object_at(next, "status").erase("nominatedNodeName");
    env_.write(kPods, std::move(next));
    env_.events.write(pod, "Normal", "Scheduled",
                      "Successfully assigned " + namespace_of(pod) + "/" + name_of(pod) + " to " + node,
                      "default-scheduler");
    // Its change has taken it out of its group; the next of the group may find a place too.
    const auto group = groups_.find(signature);
    if (group != groups_.end()) try_group(signature, group->second);
}

std::string Scheduler::explain(const Cycle& cycle, const Verdict& verdict,
                               const std::vector<std::string>& helped) {
    const std::size_t nodes = env_.index.nodes().size();
    if (nodes == 0) return "no nodes available to schedule pods";
    const auto& wish = cycle.wish;
    std::string head = wish.problem.empty()
                           ? verdict.text(nodes)
                           : "0/" + std::to_string(nodes) + " nodes are available: " + wish.problem + ".";
    if (!wish.may_preempt) return head + " preemption: not eligible due to preemptionPolicy=Never.";
    const auto* nominated = nominations_.node_of(wish.key);
    if (nominated != nullptr && has_leaving_pod(env_, *nominated, wish.priority))
        return head + " preemption: not eligible due to a terminating pod on the nominated node.";
    const auto victims = find_victims(env_, cycle, helped);
    if (victims.pods.empty()) return head + " " + verdict.preemption_text(nodes);
    nominations_.set(wish.key, victims.node, wish.priority, wish.requests);
    JsonObject next = *wish.pod;
    object_at(next, "status")["nominatedNodeName"] = victims.node;
    env_.write(kPods, std::move(next));
    evict_victims(env_, cycle, victims);
    return head;
}

void Scheduler::refuse(const Cycle& cycle, const std::string& signature, const std::string& message) {
    auto& group = groups_[signature];
    group.message = message;
    group.pinned = cycle.wish.pinned;
    group.looks_at_pods = cycle.wish.looks_at_pods();
    // One that has made room for itself is no measure for its fellows.
    group.generation = nominations_.node_of(cycle.wish.key) == nullptr ? generation_ : 0;
    const int doublings = std::min(group.failures++, 4);
    group.not_before =
        env_.clock.monotonic() + env_.scaled(std::min(10.0, static_cast<double>(1 << doublings)));
    if (const auto pod = env_.get(kPods, cycle.wish.key)) write_refusal(*pod, message);
}

void Scheduler::write_refusal(const JsonObject& pod, const std::string& message) {
    JsonObject next = pod;
    set_condition(conditions_of(next), "PodScheduled", false, "Unschedulable", message, env_.clock.now());
    env_.write(kPods, std::move(next));
    env_.events.write(pod, "Warning", "FailedScheduling", message, "default-scheduler");
}

}  // namespace instantstart::twin::kube::controllers
