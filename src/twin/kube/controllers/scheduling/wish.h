// Wish: what a pod asks of its place, read once from its specification.
#pragma once

#include <set>

#include "twin/kube/controllers/env.h"
#include "twin/kube/controllers/scheduling/node_match.h"

namespace instantstart::twin::kube::controllers {

// A term of pod affinity or anti-affinity: pods of these namespaces with these labels, in one topology.
struct PodTerm {
    PodTerm() = default;
    JsonObject selector;
    bool nobody = false;  // without a selector it speaks of no pod
    std::set<std::string, std::less<>> namespaces;
    std::string topology_key;
    std::int64_t weight = 0;  // of preferred terms; below zero for anti-affinity

    bool speaks_of(const JsonObject& pod) const;
};

struct SpreadRule {
    SpreadRule() = default;
    JsonObject selector;
    std::string topology_key;
    std::int64_t max_skew = 1, min_domains = 1;
    bool required = true, honors_affinity = true, honors_taints = false;
};

// Of the volumes that a pod wants: what they demand of its node.
struct VolumeDemand {
    VolumeDemand() = default;
    JsonArray node_terms;        // of a bound volume; empty for none
    JsonArray allowed_topology;  // of the class of one that is still to be made
    bool only_static = false;    // a class that makes none: a free volume must be there
    std::vector<JsonArray>
        free;  // node terms of the free volumes that would do; an empty one suits all nodes
};

struct Wish {
    Wish() = default;
    ObjectPtr pod;
    Key key;
    Amounts requests;
    HostPorts ports;
    std::int64_t priority = 0;
    bool may_preempt = true;
    std::vector<std::string> pinned;
    std::vector<PodTerm> affinity, anti_affinity, preferred;
    std::vector<SpreadRule> spread;
    std::vector<VolumeDemand> volumes;
    std::string problem;  // of the pod as a whole: no node can help

    const JsonObject& spec() const { return base::get_object(*pod, "spec"); }
    const JsonArray& tolerations() const { return base::get_array(*pod, "spec.tolerations"); }
    bool looks_at_pods() const { return !affinity.empty() || !anti_affinity.empty() || !spread.empty(); }
    // Choosing among the possible nodes takes more than their load.
    bool has_preferences() const;
};

Wish read_wish(const Env& env, const ObjectPtr& pod);
// The required anti-affinity of a pod that has its place.
std::vector<PodTerm> anti_affinity_of(const Env& env, const JsonObject& pod);
// Equal for pods that every node treats alike.
std::string signature_of(const Wish& wish);

// What the claims of the pod ask for, or why it cannot be placed yet.
void read_volumes(const Env& env, Wish& wish);
// Tells the claims that wait for their first consumer where it will run.
void choose_node_for_claims(Env& env, const JsonObject& pod, const std::string& node);

}  // namespace instantstart::twin::kube::controllers
