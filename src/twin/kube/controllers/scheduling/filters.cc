#include "twin/kube/controllers/scheduling/filters.h"

#include <algorithm>

#include "base/text.h"

namespace instantstart::twin::kube::controllers {

namespace {

using Refusals = std::vector<Refusal>;

bool tolerates_cordon(const Wish& wish) {
    Taint cordon;
    cordon.key = "node.kubernetes.io/unschedulable";
    cordon.effect = "NoSchedule";
    const auto& tolerations = wish.tolerations();
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&cordon](const JsonValue& one) { return tolerates(one, cordon); });
}

void check_cordon(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    if (node.unschedulable && !tolerates_cordon(cycle.wish))
        out.emplace_back("node(s) were unschedulable", false);
}

void check_taints(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    const auto* taint = untolerated_taint(cycle.wish.tolerations(), node);
    if (taint != nullptr)
        out.emplace_back("node(s) had untolerated taint {" + taint->key + ": " + taint->value + "}", false);
}

void check_node_affinity(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    if (!matches_node_affinity(cycle.wish.spec(), node))
        out.emplace_back("node(s) didn't match Pod's node affinity/selector", false);
}

void check_ports(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    if (cycle.wish.ports.empty()) return;
    const auto taken = [&node](const std::string& port) {
        const auto parts = base::split(port, '/');  // protocol, address, number
        return std::any_of(node.ports.begin(), node.ports.end(), [&parts](const auto& used) {
            const auto other = base::split(used.first, '/');
            return other[0] == parts[0] && other[2] == parts[2] &&
                   (other[1] == parts[1] || other[1] == "0.0.0.0" || parts[1] == "0.0.0.0");
        });
    };
    if (std::any_of(cycle.wish.ports.begin(), cycle.wish.ports.end(), taken))
        out.emplace_back("node(s) didn't have free ports for the requested pod ports", true);
}

std::int64_t amount_in(const Amounts& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? 0 : found->second;
}

// A request greater than the whole node cannot be helped by anyone's going.
void check_resources(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    const auto reserved = cycle.nominations.reserved(node.name, cycle.wish.key, cycle.wish.priority);
    for (const auto& [name, amount] : cycle.wish.requests) {
        const auto has = amount_in(node.allocatable, name);
        if (amount == 0 || amount <= has - amount_in(node.used, name) - amount_in(reserved, name)) continue;
        out.emplace_back(name == "pods" ? "Too many pods" : "Insufficient " + name, amount <= has);
    }
}

bool in_topology(const JsonArray& terms, const NodeFacts& node) {
    return std::any_of(terms.begin(), terms.end(), [&node](const JsonValue& term) {
        const auto& labels = base::get_array(term, "matchLabelExpressions");
        return std::all_of(labels.begin(), labels.end(), [&node](const JsonValue& one) {
            const auto* label = node.label(base::get_string(one, "key"));
            const auto& values = base::get_array(one, "values");
            return label != nullptr &&
                   std::find(values.begin(), values.end(), JsonValue(*label)) != values.end();
        });
    });
}

void check_volumes(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    for (const auto& volume : cycle.wish.volumes) {
        if (!volume.node_terms.empty() && !matches_node_terms(volume.node_terms, node)) {
            out.emplace_back("node(s) had volume node affinity conflict", false);
            return;
        }
        const bool free =
            !volume.only_static ||
            std::any_of(volume.free.begin(), volume.free.end(), [&node](const JsonArray& terms) {
                return terms.empty() || matches_node_terms(terms, node);
            });
        const bool allowed = volume.allowed_topology.empty() || in_topology(volume.allowed_topology, node);
        if (free && allowed) continue;
        out.emplace_back("node(s) didn't find available persistent volumes to bind", false);
        return;
    }
}

void check_spread(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    if (cycle.wish.spread.empty()) return;
    const auto verdict = cycle.spread.check(cycle.wish, node);
    const std::string reason = "node(s) didn't match pod topology spread constraints";
    if (verdict == Spread::Verdict::skewed) out.emplace_back(reason, true);
    if (verdict == Spread::Verdict::missing_label)
        out.emplace_back(reason + " (missing required label)", false);
}

void check_pods(const Cycle& cycle, const NodeFacts& node, Refusals& out) {
    if (!cycle.topology.affinity_holds(cycle.wish, node)) {
        out.emplace_back("node(s) didn't match pod affinity rules", false);
    } else if (!cycle.topology.anti_affinity_holds(cycle.wish, node)) {
        out.emplace_back("node(s) didn't match pod anti-affinity rules", true);
    } else if (!cycle.topology.others_allow(node)) {
        out.emplace_back("node(s) didn't satisfy existing pods anti-affinity rules", true);
    }
}

using Filter = void (*)(const Cycle&, const NodeFacts&, Refusals&);
constexpr Filter kFilters[] = {check_cordon,    check_taints,  check_node_affinity, check_ports,
                               check_resources, check_volumes, check_spread,        check_pods};

std::string counted(std::size_t nodes, const std::map<std::string, std::size_t>& reasons) {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : reasons) {
        if (count > 0) parts.push_back(std::to_string(count) + " " + reason);
    }
    std::sort(parts.begin(), parts.end());
    return "0/" + std::to_string(nodes) + " nodes are available: " + base::join(parts, ", ") + ".";
}

}  // namespace

void Nominations::set(const Key& pod, const std::string& node, std::int64_t priority, Amounts requests) {
    auto& nominee = pods_[pod];
    nominee.node = node;
    nominee.priority = priority;
    nominee.requests = std::move(requests);
}

void Nominations::drop(const Key& pod) {
    pods_.erase(pod);
}

const std::string* Nominations::node_of(const Key& pod) const {
    const auto found = pods_.find(pod);
    return found == pods_.end() ? nullptr : &found->second.node;
}

Amounts Nominations::reserved(const std::string& node, const Key& pod, std::int64_t priority) const {
    Amounts out;
    for (const auto& [key, nominee] : pods_) {
        if (nominee.node != node || nominee.priority < priority || key == pod) continue;
        for (const auto& [name, amount] : nominee.requests) out[name] += amount;
    }
    return out;
}

Cycle::Cycle(const Env& env, Wish made, const Nominations& kept)
    : wish(std::move(made)), topology(env, wish), spread(env, wish), nominations(kept) {}

std::vector<Refusal> refusals(const Cycle& cycle, const NodeFacts& node) {
    Refusals out;
    for (const auto filter : kFilters) {
        filter(cycle, node, out);
        if (!out.empty()) return out;
    }
    return out;
}

void Verdict::add(const std::vector<Refusal>& refused) {
    for (const auto& one : refused) ++reasons_[one.reason];
    if (std::all_of(refused.begin(), refused.end(), [](const Refusal& one) { return one.helped; })) ++helped_;
}

void Verdict::add_unnamed(std::size_t nodes) {
    if (nodes > 0) reasons_["node(s) didn't satisfy plugin(s) [NodeAffinity]"] += nodes;
}

std::string Verdict::text(std::size_t nodes) const {
    return counted(nodes, reasons_);
}

std::string Verdict::preemption_text(std::size_t nodes) const {
    return "preemption: " + counted(nodes, {{"No preemption victims found for incoming pod", helped_},
                                            {"Preemption is not helpful for scheduling", nodes - helped_}});
}

}  // namespace instantstart::twin::kube::controllers
