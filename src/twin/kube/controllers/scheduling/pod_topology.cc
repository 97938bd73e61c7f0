#include "twin/kube/controllers/scheduling/pod_topology.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool all_speak_of(const std::vector<PodTerm>& terms, const JsonObject& pod) {
    return std::all_of(terms.begin(), terms.end(),
                       [&pod](const PodTerm& term) { return term.speaks_of(pod); });
}

}  // namespace

PodTopology::PodTopology(const Env& env, const Wish& wish, const std::set<Key>& without)
    : away_(wish.anti_affinity.size()), preferred_(wish.preferred.size()) {
    count_own_terms(env, wish, without);
    count_others(env, wish, without);
    near_itself_ = all_speak_of(wish.affinity, *wish.pod);
}

void PodTopology::count(const Wish& wish, const JsonObject& pod, const NodeFacts& node) {
    if (!wish.affinity.empty() && all_speak_of(wish.affinity, pod)) {
        nobody_near_ = false;
        for (const auto& term : wish.affinity) {
            if (const auto* value = node.label(term.topology_key)) ++near_[{term.topology_key, *value}];
        }
    }
    const auto by_term = [&](const std::vector<PodTerm>& terms, auto& counts) {
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const auto* value = node.label(terms[i].topology_key);
            if (value != nullptr && terms[i].speaks_of(pod)) ++counts[i][*value];
        }
    };
    by_term(wish.anti_affinity, away_);
    by_term(wish.preferred, preferred_);
}

void PodTopology::count_own_terms(const Env& env, const Wish& wish, const std::set<Key>& without) {
    std::set<std::string, std::less<>> namespaces;
    for (const auto* terms : {&wish.affinity, &wish.anti_affinity, &wish.preferred}) {
        for (const auto& term : *terms) namespaces.insert(term.namespaces.begin(), term.namespaces.end());
    }
    for (const auto& ns : namespaces) {
        for (const auto& pod : env.objects.list(kPods, ns)) {
            const auto* node = env.index.nodes().find(base::get_string(*pod, "spec.nodeName"));
            if (node == nullptr || is_finished(*pod) || without.contains(Key(ns, name_of(*pod)))) continue;
            count(wish, *pod, *node);
        }
    }
}

void PodTopology::count_others(const Env& env, const Wish& wish, const std::set<Key>& without) {
    for (const auto& key : env.index.anti_affine()) {
        const auto pod = without.contains(key) ? nullptr : env.get(kPods, key);
        const auto* node = pod ? env.index.nodes().find(base::get_string(*pod, "spec.nodeName")) : nullptr;
        if (node == nullptr) continue;
        for (const auto& term : anti_affinity_of(env, *pod)) {
            const auto* value = node->label(term.topology_key);
            if (value != nullptr && term.speaks_of(*wish.pod)) ++others_refuse_[{term.topology_key, *value}];
        }
    }
}

// The first of a group whose members want each other has nobody to be near: it may go anywhere.
bool PodTopology::affinity_holds(const Wish& wish, const NodeFacts& node) const {
    bool all_near = true;
    for (const auto& term : wish.affinity) {
        const auto* value = node.label(term.topology_key);
        if (value == nullptr) return false;
        all_near = all_near && near_.contains({term.topology_key, *value});
    }
    return all_near || (nobody_near_ && near_itself_);
}

bool PodTopology::anti_affinity_holds(const Wish& wish, const NodeFacts& node) const {
    for (std::size_t i = 0; i < wish.anti_affinity.size(); ++i) {
        const auto* value = node.label(wish.anti_affinity[i].topology_key);
        if (value != nullptr && away_[i].contains(*value)) return false;
    }
    return true;
}

bool PodTopology::others_allow(const NodeFacts& node) const {
    return std::none_of(others_refuse_.begin(), others_refuse_.end(), [&node](const auto& refused) {
        const auto* value = node.label(refused.first.first);
        return value != nullptr && *value == refused.first.second;
    });
}

std::int64_t PodTopology::preference(const Wish& wish, const NodeFacts& node) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < wish.preferred.size(); ++i) {
        const auto* value = node.label(wish.preferred[i].topology_key);
        const auto found = value == nullptr ? preferred_[i].end() : preferred_[i].find(*value);
        if (found != preferred_[i].end()) sum += wish.preferred[i].weight * found->second;
    }
    return sum;
}

}  // namespace instantstart::twin::kube::controllers
