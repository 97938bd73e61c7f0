#include "twin/kube/controllers/scheduling/spread.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

// Nodes whose pods count: they have the keys of all rules of this kind and pass the rule's policies.
bool is_eligible(const Wish& wish, const SpreadRule& rule, const NodeFacts& node) {
    const bool has_keys = std::all_of(wish.spread.begin(), wish.spread.end(), [&](const SpreadRule& other) {
        return other.required != rule.required || node.label(other.topology_key) != nullptr;
    });
    if (!has_keys) return false;
    if (rule.honors_affinity && !matches_node_affinity(wish.spec(), node)) return false;
    return !rule.honors_taints || untolerated_taint(wish.tolerations(), node) == nullptr;
}

}  // namespace

Spread::Spread(const Env& env, const Wish& wish, const std::set<Key>& without)
    : domains_(wish.spread.size()) {
    if (wish.spread.empty()) return;
    const auto pods = env.objects.list(kPods, wish.key.ns);
    for (std::size_t i = 0; i < wish.spread.size(); ++i) {
        const auto& rule = wish.spread[i];
        auto& domains = domains_[i];
        domains.counts_itself =
            selector_matches(rule.selector, base::get_object(*wish.pod, "metadata.labels"));
        for (const auto& [load, name] : env.index.nodes().by_load()) {
            const auto* node = env.index.nodes().find(name);
            if (is_eligible(wish, rule, *node)) domains.pods.emplace(*node->label(rule.topology_key), 0);
        }
        for (const auto& pod : pods) {
            const auto* node = env.index.nodes().find(base::get_string(*pod, "spec.nodeName"));
            if (node == nullptr || is_terminating(*pod) || is_finished(*pod) ||
                without.contains(Key(wish.key.ns, name_of(*pod))) || !is_eligible(wish, rule, *node) ||
                !selector_matches(rule.selector, base::get_object(*pod, "metadata.labels")))
                continue;
            ++domains.pods[*node->label(rule.topology_key)];
        }
        const auto fewest =
            std::min_element(domains.pods.begin(), domains.pods.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
        const bool enough = static_cast<std::int64_t>(domains.pods.size()) >= rule.min_domains;
        domains.least = fewest == domains.pods.end() || !enough ? 0 : fewest->second;
    }
}

Spread::Verdict Spread::check(const Wish& wish, const NodeFacts& node) const {
    for (std::size_t i = 0; i < wish.spread.size(); ++i) {
        const auto& rule = wish.spread[i];
        if (!rule.required) continue;
        const auto* value = node.label(rule.topology_key);
        if (value == nullptr) return Verdict::missing_label;
        const auto found = domains_[i].pods.find(*value);
        const std::int64_t here = found == domains_[i].pods.end() ? 0 : found->second;
        if (here + (domains_[i].counts_itself ? 1 : 0) - domains_[i].least > rule.max_skew)
            return Verdict::skewed;
    }
    return Verdict::fits;
}

std::int64_t Spread::crowd(const Wish& wish, const NodeFacts& node) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < wish.spread.size(); ++i) {
        const auto* value = wish.spread[i].required ? nullptr : node.label(wish.spread[i].topology_key);
        const auto found = value == nullptr ? domains_[i].pods.end() : domains_[i].pods.find(*value);
        if (found != domains_[i].pods.end()) sum += found->second;
    }
    return sum;
}

}  // namespace instantstart::twin::kube::controllers
