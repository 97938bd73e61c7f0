#include "twin/kube/controllers/scheduling/wish.h"

#include <algorithm>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

// The selector with what matchLabelKeys and mismatchLabelKeys take from the pod's own labels.
JsonObject whole_selector(const JsonValue& term, const JsonObject& pod) {
    JsonObject selector = base::get_object(term, "labelSelector");
    const auto& labels = base::get_object(pod, "metadata.labels");
    for (const auto& [member, op] :
         {std::pair("matchLabelKeys", "In"), std::pair("mismatchLabelKeys", "NotIn")}) {
        for (const auto& key : base::get_array(term, member)) {
            const auto* label = key.is_string() ? labels.if_contains(key.get_string()) : nullptr;
            if (label == nullptr) continue;
            list_at(selector, "matchExpressions")
                .push_back(JsonObject{{"key", key}, {"operator", op}, {"values", JsonArray{*label}}});
        }
    }
    return selector;
}

PodTerm read_term(const Env& env, const JsonValue& term, const JsonObject& pod) {
    PodTerm out;
    out.nobody = base::find_path(term, "labelSelector") == nullptr;
    out.selector = whole_selector(term, pod);
    out.topology_key = base::get_string(term, "topologyKey");
    for (const auto& ns : base::get_array(term, "namespaces")) {
        if (ns.is_string()) out.namespaces.emplace(ns.get_string());
    }
    const auto* chosen = base::find_path(term, "namespaceSelector");
    if (chosen != nullptr && chosen->is_object()) {
        for (const auto& ns : env.objects.list(kNamespaces)) {
            if (selector_matches(chosen->get_object(), base::get_object(*ns, "metadata.labels")))
                out.namespaces.insert(name_of(*ns));
        }
    } else if (out.namespaces.empty()) {
        out.namespaces.insert(namespace_of(pod));
    }
    return out;
}

std::vector<PodTerm> read_terms(const Env& env, const JsonObject& pod, std::string_view kind) {
    std::vector<PodTerm> out;
    const auto& affinity = base::get_object(pod, "spec.affinity");
    for (const auto& term : base::get_array(base::get_object(affinity, kind), kRequired))
        out.push_back(read_term(env, term, pod));
    return out;
}

void read_preferred(const Env& env, const JsonObject& pod, std::string_view kind, std::int64_t sign,
                    std::vector<PodTerm>& out) {
    const auto& affinity = base::get_object(pod, "spec.affinity");
    for (const auto& weighted : base::get_array(base::get_object(affinity, kind), kPreferred)) {
        const auto* term = base::find_path(weighted, "podAffinityTerm");
        if (term == nullptr) continue;
        out.push_back(read_term(env, *term, pod));
        out.back().weight = sign * base::get_int(weighted, "weight", 1);
    }
}

std::vector<SpreadRule> read_spread(const JsonObject& pod) {
    std::vector<SpreadRule> out;
    for (const auto& rule : base::get_array(pod, "spec.topologySpreadConstraints")) {
        SpreadRule made;
        made.selector = whole_selector(rule, pod);
        made.topology_key = base::get_string(rule, "topologyKey");
        made.max_skew = base::get_int(rule, "maxSkew", 1);
        made.min_domains = base::get_int(rule, "minDomains", 1);
        made.required = base::get_string(rule, "whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule";
        made.honors_affinity = base::get_string(rule, "nodeAffinityPolicy", "Honor") == "Honor";
        made.honors_taints = base::get_string(rule, "nodeTaintsPolicy", "Ignore") == "Honor";
        out.push_back(std::move(made));
    }
    return out;
}

}  // namespace

bool PodTerm::speaks_of(const JsonObject& pod) const {
    return !nobody && namespaces.contains(namespace_of(pod)) &&
           selector_matches(selector, base::get_object(pod, "metadata.labels"));
}

bool Wish::has_preferences() const {
    const auto& of_nodes = base::get_object(*pod, "spec.affinity.nodeAffinity");
    const bool soft =
        std::any_of(spread.begin(), spread.end(), [](const auto& rule) { return !rule.required; });
    return soft || !preferred.empty() || !base::get_array(of_nodes, kPreferred).empty();
}

std::vector<PodTerm> anti_affinity_of(const Env& env, const JsonObject& pod) {
    return read_terms(env, pod, "podAntiAffinity");
}

Wish read_wish(const Env& env, const ObjectPtr& pod) {
    Wish out;
    out.pod = pod;
    out.key = Key(namespace_of(*pod), name_of(*pod));
    out.requests = pod_requests(*pod);
    out.ports = host_ports_of(*pod);
    out.priority = base::get_int(*pod, "spec.priority");
    out.may_preempt = base::get_string(*pod, "spec.preemptionPolicy", "PreemptLowerPriority") != "Never";
    if (base::find_path(*pod, "spec.affinity") != nullptr) {
        out.pinned = pinned_nodes(out.spec());
        out.affinity = read_terms(env, *pod, "podAffinity");
        out.anti_affinity = read_terms(env, *pod, "podAntiAffinity");
        read_preferred(env, *pod, "podAffinity", 1, out.preferred);
        read_preferred(env, *pod, "podAntiAffinity", -1, out.preferred);
    }
    out.spread = read_spread(*pod);
    read_volumes(env, out);
    return out;
}

std::string signature_of(const Wish& wish) {
    std::string out =
        wish.key.ns + "|" + std::to_string(wish.priority) + (wish.may_preempt ? "|" : "|never|");
    const auto& spec = wish.spec();
    for (const char* member : {"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"}) {
        if (const auto* value = spec.if_contains(member)) out += base::to_text(*value);
        out += "|";
    }
    for (const auto& [name, amount] : wish.requests) out += name + "=" + std::to_string(amount) + ",";
    for (const auto& port : wish.ports) out += port + ",";
    for (const auto& volume : base::get_array(spec, "volumes")) {
        const auto claim = base::get_string(volume, "persistentVolumeClaim.claimName");
        if (!claim.empty()) out += "claim " + claim + ",";
    }
    // Those that count pods by labels differ by their own.
    if (wish.looks_at_pods()) out += base::to_text(base::get_object(*wish.pod, "metadata.labels"));
    return out;
}

}  // namespace instantstart::twin::kube::controllers
