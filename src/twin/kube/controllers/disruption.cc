#include "twin/kube/controllers/disruption.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool guards(const JsonObject& budget, const JsonObject& pod) {
    const auto* selector = base::find_path(budget, "spec.selector");
    return selector != nullptr && selector->is_object() &&
           selector_matches(selector->get_object(), base::get_object(pod, "metadata.labels"));
}

const Kind* scaled_kind(std::string_view owner) {
    static const std::map<std::string, Kind, std::less<>> kKinds = {
        {"ReplicaSet", kReplicaSets}, {"StatefulSet", kStatefulSets}, {"Deployment", kDeployments}};
    const auto found = kKinds.find(owner);
    return found == kKinds.end() ? nullptr : &found->second;
}

}  // namespace

void Disruption::changed(const Change& change) {
    const auto ns = namespace_of(*change.object);
    if (change.kind == kBudgets) {
        env_.queue.add(this, Key(ns, name_of(*change.object)));
    } else if (change.kind == kPods) {
        for (const auto& budget : env_.objects.list(kBudgets, ns)) {
            if (guards(*budget, *change.object)) env_.queue.add(this, Key(ns, name_of(*budget)));
        }
    }
}

// As many as the owners of the pods ask for; pods without one count for themselves.
std::int64_t Disruption::expected_pods(const std::vector<ObjectPtr>& pods) const {
    std::int64_t total = 0;
    std::set<std::string> seen;
    for (const auto& pod : pods) {
        const auto uid = controller_uid(*pod);
        if (uid.empty()) {
            ++total;
            continue;
        }
        if (!seen.insert(uid).second) continue;
        for (const auto& owner : base::get_array(*pod, "metadata.ownerReferences")) {
            if (base::get_string(owner, "uid") != uid) continue;
            const auto* kind = scaled_kind(base::get_string(owner, "kind"));
            const auto object =
                kind == nullptr ? nullptr
                                : env_.get(*kind, Key(namespace_of(*pod), base::get_string(owner, "name")));
            total += object ? base::get_int(*object, "spec.replicas", 1)
                            : static_cast<std::int64_t>(env_.index.pods_of(uid).size());
        }
    }
    return total;
}

void Disruption::sync(const Key& key) {
    const auto budget = env_.get(kBudgets, key);
    if (!budget || is_terminating(*budget)) return;
    std::vector<ObjectPtr> pods;
    std::int64_t healthy = 0;
    for (const auto& pod : env_.objects.list(kPods, key.ns)) {
        if (is_finished(*pod) || !guards(*budget, *pod)) continue;
        if (is_ready(*pod) && !is_terminating(*pod)) ++healthy;
        pods.push_back(pod);
    }
    const auto expected = expected_pods(pods);
    const auto* least = base::find_path(*budget, "spec.minAvailable");
    const auto wanted =
        least != nullptr
            ? share_of(least, expected, true, 1)
            : std::max<std::int64_t>(
                  0, expected - share_of(base::find_path(*budget, "spec.maxUnavailable"), expected, true, 1));
    const auto allowed = expected == 0 ? 0 : std::max<std::int64_t>(0, healthy - wanted);
    JsonArray conditions = base::get_array(*budget, "status.conditions");
    set_condition(conditions, "DisruptionAllowed", allowed > 0,
                  allowed > 0 ? "SufficientPods" : "InsufficientPods", "", env_.clock.now());
    JsonObject status{{"disruptionsAllowed", allowed},
                      {"currentHealthy", healthy},
                      {"desiredHealthy", wanted},
                      {"expectedPods", expected},
                      {"observedGeneration", base::get_int(*budget, "metadata.generation", 1)}};
    status["conditions"] = std::move(conditions);
    if (base::get_object(*budget, "status") == status) return;
    JsonObject next = *budget;
    metadata_of(next).erase("resourceVersion");
    next["status"] = std::move(status);
    env_.write(kBudgets, std::move(next));
}

bool violates_budget(const Env& env, const JsonObject& pod, std::map<std::string, std::int64_t>& spent) {
    bool violates = false;
    for (const auto& budget : env.objects.list(kBudgets, namespace_of(pod))) {
        if (!guards(*budget, pod)) continue;
        auto& gone = spent[base::get_string(*budget, "metadata.uid")];
        ++gone;
        violates = violates || gone > base::get_int(*budget, "status.disruptionsAllowed");
    }
    return violates;
}

void mark_disruption(Env& env, const JsonObject& pod, std::string_view reason, std::string_view message) {
    const auto present = env.get(kPods, Key(namespace_of(pod), name_of(pod)));
    if (!present) return;
    JsonObject next = *present;
    set_condition(conditions_of(next), "DisruptionTarget", true, reason, message, env.clock.now());
    env.write(kPods, std::move(next));
}

}  // namespace instantstart::twin::kube::controllers
