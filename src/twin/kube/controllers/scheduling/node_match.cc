#include "twin/kube/controllers/scheduling/node_match.h"

#include <algorithm>
#include <charconv>

namespace instantstart::twin::kube::controllers {

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return out;
}

std::optional<std::int64_t> whole_number(const JsonArray& values) {
    if (values.size() != 1 || !values[0].is_string()) return std::nullopt;
    return whole_number(std::string_view(values[0].get_string()));
}

bool holds(const JsonArray& values, const std::string& text) {
    return std::any_of(values.begin(), values.end(), [&text](const JsonValue& value) {
        return value.is_string() && std::string_view(value.get_string()) == text;
    });
}

bool matches_expression(const JsonValue& expression, const std::string* label) {
    const auto op = base::get_string(expression, "operator");
    const auto& values = base::get_array(expression, "values");
    if (op == "In") return label != nullptr && holds(values, *label);
    if (op == "NotIn") return label == nullptr || !holds(values, *label);
    if (op == "Exists") return label != nullptr;
    if (op == "DoesNotExist") return label == nullptr;
    const auto left = label == nullptr ? std::nullopt : whole_number(*label);
    const auto right = whole_number(values);
    if (!left || !right) return false;
    return op == "Gt" ? *left > *right : op == "Lt" && *left < *right;
}

constexpr std::string_view kRequiredTerms =
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

}  // namespace

bool matches_node_term(const JsonValue& term, const NodeFacts& node) {
    const auto& expressions = base::get_array(term, "matchExpressions");
    const auto& fields = base::get_array(term, "matchFields");
    if (expressions.empty() && fields.empty()) return false;
    const bool labels = std::all_of(expressions.begin(), expressions.end(), [&node](const JsonValue& one) {
        return matches_expression(one, node.label(base::get_string(one, "key")));
    });
    return labels && std::all_of(fields.begin(), fields.end(), [&node](const JsonValue& one) {
               return base::get_string(one, "key") == "metadata.name" && matches_expression(one, &node.name);
           });
}

bool matches_node_terms(const JsonArray& terms, const NodeFacts& node) {
    return std::any_of(terms.begin(), terms.end(),
                       [&node](const JsonValue& term) { return matches_node_term(term, node); });
}

bool matches_node_affinity(const JsonObject& pod_spec, const NodeFacts& node) {
    for (const auto& wanted : base::get_object(pod_spec, "nodeSelector")) {
        const auto* label = node.label(wanted.key());
        const bool same = label != nullptr && wanted.value().is_string() &&
                          std::string_view(wanted.value().get_string()) == *label;
        if (!same) return false;
    }
    const auto* terms = base::find_path(pod_spec, kRequiredTerms);
    return terms == nullptr || !terms->is_array() || matches_node_terms(terms->get_array(), node);
}

std::vector<std::string> pinned_nodes(const JsonObject& pod_spec) {
    std::vector<std::string> out;
    for (const auto& term : base::get_array(pod_spec, kRequiredTerms)) {
        const auto& fields = base::get_array(term, "matchFields");
        const auto field = std::find_if(fields.begin(), fields.end(), [](const JsonValue& one) {
            return base::get_string(one, "key") == "metadata.name" &&
                   base::get_string(one, "operator") == "In";
        });
        if (field == fields.end()) return {};
        for (const auto& value : base::get_array(*field, "values")) {
            if (value.is_string()) out.emplace_back(value.get_string());
        }
    }
    return out;
}

bool tolerates(const JsonValue& toleration, const Taint& taint) {
    const auto effect = base::get_string(toleration, "effect");
    if (!effect.empty() && effect != taint.effect) return false;
    const auto key = base::get_string(toleration, "key");
    const bool exists = base::get_string(toleration, "operator") == "Exists";
    if (key.empty()) return exists;
    return key == taint.key && (exists || base::get_string(toleration, "value") == taint.value);
}

const Taint* untolerated_taint(const JsonArray& tolerations, const NodeFacts& node, bool no_execute_only) {
    for (const auto& taint : node.taints) {
        if (taint.effect == "PreferNoSchedule") continue;
        if (no_execute_only && taint.effect != "NoExecute") continue;
        const bool tolerated =
            std::any_of(tolerations.begin(), tolerations.end(),
                        [&taint](const JsonValue& toleration) { return tolerates(toleration, taint); });
        if (!tolerated) return &taint;
    }
    return nullptr;
}

}  // namespace instantstart::twin::kube::controllers
