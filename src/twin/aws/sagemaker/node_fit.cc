#include "twin/aws/sagemaker/node_fit.h"

#include <algorithm>
#include <cstdlib>

namespace instantstart::twin::sagemaker {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

bool holds(const JsonValue& requirement, const JsonObject& labels) {
    const JsonValue* label = labels.if_contains(base::get_string(requirement, "key"));
    const std::string op = base::get_string(requirement, "operator");
    const JsonArray& values = base::get_array(requirement, "values");
    const bool in = label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
    if (op == "In") return in;
    if (op == "NotIn") return !in;
    if (op == "Exists") return label != nullptr;
    if (op == "DoesNotExist") return label == nullptr;
    if (label == nullptr || !label->is_string() || values.empty() || !values[0].is_string()) return false;
    const long long left = std::strtoll(label->get_string().c_str(), nullptr, 10),
                    right = std::strtoll(values[0].get_string().c_str(), nullptr, 10);
    return op == "Gt" ? left > right : op == "Lt" && left < right;
}

bool covers(const JsonValue& toleration, const JsonValue& taint) {
    const std::string effect = base::get_string(toleration, "effect");
    if (!effect.empty() && effect != base::get_string(taint, "effect")) return false;
    const std::string key = base::get_string(toleration, "key");
    const bool exists = base::get_string(toleration, "operator") == "Exists";
    if (key.empty()) return exists;
    return key == base::get_string(taint, "key") &&
           (exists || base::get_string(toleration, "value") == base::get_string(taint, "value"));
}

}  // namespace

bool meets(const JsonArray& requirements, const JsonObject& labels) {
    return std::all_of(requirements.begin(), requirements.end(),
                       [&labels](const JsonValue& each) { return holds(each, labels); });
}

bool selects(const JsonObject& pod_spec, const JsonObject& labels) {
    for (const auto& [key, value] : base::get_object(pod_spec, "nodeSelector")) {
        const JsonValue* label = labels.if_contains(key);
        if (label == nullptr || *label != value) return false;
    }
    const JsonValue* terms = base::find_path(
        pod_spec, "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    if (terms == nullptr || !terms->is_array()) return true;
    const JsonArray& list = terms->get_array();
    return std::any_of(list.begin(), list.end(), [&labels](const JsonValue& term) {
        const JsonArray& expressions = base::get_array(term, "matchExpressions");
        return !expressions.empty() && meets(expressions, labels);
    });
}

bool tolerates(const JsonObject& pod_spec, const JsonArray& taints) {
    const JsonArray& tolerations = base::get_array(pod_spec, "tolerations");
    return std::all_of(taints.begin(), taints.end(), [&tolerations](const JsonValue& taint) {
        if (base::get_string(taint, "effect") == "PreferNoSchedule") return true;
        return std::any_of(tolerations.begin(), tolerations.end(),
                           [&taint](const JsonValue& each) { return covers(each, taint); });
    });
}

}  // namespace instantstart::twin::sagemaker
