#include "twin/kube/controllers/placement.h"

#include <algorithm>
#include <cstdlib>

#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool matches_expression(const JsonObject& expression, const JsonValue* label) {
    const auto op = base::get_string(expression, "operator");
    const auto& values = base::get_array(expression, "values");
    const bool in = label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
    if (op == "In") return in;
    if (op == "NotIn") return !in;
    if (op == "Exists") return label != nullptr;
    if (op == "DoesNotExist") return label == nullptr;
    if (label == nullptr || !label->is_string() || values.empty() || !values[0].is_string()) return false;
    const auto left = std::strtoll(label->get_string().c_str(), nullptr, 10);
    const auto right = std::strtoll(values[0].get_string().c_str(), nullptr, 10);
    return op == "Gt" ? left > right : op == "Lt" && left < right;
}

bool matches_term(const JsonObject& term, const JsonObject& node) {
    const auto& labels = base::get_object(node, "metadata.labels");
    const auto& expressions = base::get_array(term, "matchExpressions");
    const auto& fields = base::get_array(term, "matchFields");
    if (expressions.empty() && fields.empty()) return false;
    for (const auto& expression : expressions) {
        if (!expression.is_object()) return false;
        if (!matches_expression(expression.get_object(),
                                labels.if_contains(base::get_string(expression, "key"))))
            return false;
    }
    const JsonValue name(name_of(node));
    return std::all_of(fields.begin(), fields.end(), [&](const JsonValue& field) {
        return field.is_object() && base::get_string(field, "key") == "metadata.name" &&
               matches_expression(field.get_object(), &name);
    });
}

bool tolerates(const JsonObject& toleration, const JsonObject& taint) {
    const auto effect = base::get_string(toleration, "effect");
    if (!effect.empty() && effect != base::get_string(taint, "effect")) return false;
    const auto key = base::get_string(toleration, "key");
    const bool exists = base::get_string(toleration, "operator") == "Exists";
    if (key.empty()) return exists;
    if (key != base::get_string(taint, "key")) return false;
    return exists || base::get_string(toleration, "value") == base::get_string(taint, "value");
}

}  // namespace

bool matches_node_affinity(const JsonObject& pod_spec, const JsonObject& node) {
    const auto& labels = base::get_object(node, "metadata.labels");
    for (const auto& wanted : base::get_object(pod_spec, "nodeSelector")) {
        const auto* label = labels.if_contains(wanted.key());
        if (label == nullptr || *label != wanted.value()) return false;
    }
    const auto* terms = base::find_path(
        pod_spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    if (terms == nullptr || !terms->is_array()) return true;
    const auto& list = terms->get_array();
    return std::any_of(list.begin(), list.end(), [&](const JsonValue& term) {
        return term.is_object() && matches_term(term.get_object(), node);
    });
}

std::string untolerated_taint(const JsonObject& pod_spec, const JsonObject& node, bool no_execute_only) {
    const auto& tolerations = base::get_array(pod_spec, "tolerations");
    for (const auto& value : base::get_array(node, "spec.taints")) {
        if (!value.is_object()) continue;
        const auto& taint = value.get_object();
        const auto effect = base::get_string(taint, "effect");
        if (effect == "PreferNoSchedule" || (no_execute_only && effect != "NoExecute")) continue;
        const bool tolerated =
            std::any_of(tolerations.begin(), tolerations.end(), [&](const JsonValue& toleration) {
                return toleration.is_object() && tolerates(toleration.get_object(), taint);
            });
        if (!tolerated)
            return "{" + base::get_string(taint, "key") + ": " + base::get_string(taint, "value") + "}";
    }
    return {};
}

std::vector<std::string> refusals(const JsonObject& pod, const Amounts& requests, const JsonObject& node,
                                  const Amounts& used) {
    const auto& spec = base::get_object(pod, "spec");
    const auto taint = untolerated_taint(spec, node);
    if (base::get_bool(node, "spec.unschedulable") &&
        taint.starts_with("{node.kubernetes.io/unschedulable")) {
        return {"node(s) were unschedulable"};
    }
    if (!taint.empty()) return {"node(s) had untolerated taint " + taint};
    if (!matches_node_affinity(spec, node)) return {"node(s) didn't match Pod's node affinity/selector"};
    std::vector<std::string> out;
    const auto allocatable = amounts_of(base::get_object(node, "status.allocatable"));
    for (const auto& [name, amount] : requests) {
        const auto has = allocatable.find(name);
        const auto taken = used.find(name);
        const std::int64_t free =
            (has == allocatable.end() ? 0 : has->second) - (taken == used.end() ? 0 : taken->second);
        if (amount == 0 || amount <= free) continue;
        out.push_back(name == "pods" ? "Too many pods" : "Insufficient " + name);
    }
    return out;
}

}  // namespace instantstart::twin::kube::controllers
