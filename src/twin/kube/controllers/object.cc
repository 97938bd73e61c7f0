#include "twin/kube/controllers/object.h"

#include <algorithm>
#include <cstdlib>

#include "base/digest.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

namespace {

bool is_text(const JsonValue& value, std::string_view text) {
    return value.is_string() && std::string_view(value.get_string()) == text;
}

}  // namespace

std::string controller_uid(const JsonObject& object) {
    for (const auto& owner : base::get_array(object, "metadata.ownerReferences")) {
        if (base::get_bool(owner, "controller")) return base::get_string(owner, "uid");
    }
    return {};
}

bool is_finished(const JsonObject& pod) {
    const auto phase = base::get_string(pod, "status.phase");
    return phase == "Succeeded" || phase == "Failed";
}

bool condition_is(const JsonObject& object, std::string_view type, std::string_view status) {
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        if (base::get_string(condition, "type") == type)
            return base::get_string(condition, "status") == status;
    }
    return false;
}

bool is_ready(const JsonObject& pod) {
    return condition_is(pod, "Ready", "True");
}

JsonArray& list_at(JsonObject& object, std::string_view key) {
    auto* found = object.if_contains(key);  // object[key] would move what callers hold, as in object_at
    auto& value = found == nullptr ? object[key] : *found;
    return value.is_array() ? value.get_array() : value.emplace_array();
}

JsonArray& conditions_of(JsonObject& object) {
    return list_at(object_at(object, "status"), "conditions");
}

bool set_condition(JsonArray& conditions, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, base::TimePoint now) {
    JsonObject made;
    made["type"] = type;
    made["status"] = status ? "True" : "False";
    if (!reason.empty()) made["reason"] = reason;
    if (!message.empty()) made["message"] = message;
    for (auto& value : conditions) {
        if (base::get_string(value, "type") != type) continue;
        const bool same_status = base::get_string(value, "status") == base::get_string(made, "status");
        if (same_status && base::get_string(value, "reason") == reason &&
            base::get_string(value, "message") == message)
            return false;
        made["lastTransitionTime"] =
            same_status ? base::get_string(value, "lastTransitionTime") : base::format_time(now);
        if (base::find_path(value, "lastUpdateTime") != nullptr)
            made["lastUpdateTime"] = base::format_time(now);
        value = std::move(made);
        return true;
    }
    made["lastTransitionTime"] = base::format_time(now);
    conditions.push_back(std::move(made));
    return true;
}

JsonObject owner_reference(std::string_view api_version, std::string_view kind, const JsonObject& owner) {
    return {{"apiVersion", api_version}, {"kind", kind},
            {"name", name_of(owner)},    {"uid", base::get_string(owner, "metadata.uid")},
            {"controller", true},        {"blockOwnerDeletion", true}};
}

bool has_finalizer(const JsonObject& object, std::string_view finalizer) {
    const auto& list = base::get_array(object, "metadata.finalizers");
    return std::any_of(list.begin(), list.end(),
                       [&](const JsonValue& value) { return is_text(value, finalizer); });
}

bool remove_finalizer(JsonObject& object, std::string_view finalizer) {
    if (!has_finalizer(object, finalizer)) return false;
    auto& list = list_at(metadata_of(object), "finalizers");
    list.erase(std::remove_if(list.begin(), list.end(),
                              [&](const JsonValue& value) { return is_text(value, finalizer); }),
               list.end());
    if (list.empty()) metadata_of(object).erase("finalizers");
    return true;
}

JsonObject pod_from_template(const JsonObject& pod_template, const std::string& ns, const std::string& name,
                             JsonObject owner) {
    JsonObject pod;
    pod["apiVersion"] = "v1";
    pod["kind"] = "Pod";
    JsonObject& metadata = metadata_of(pod);
    metadata["name"] = name;
    metadata["namespace"] = ns;
    for (const char* key : {"labels", "annotations"}) {
        const auto& values = base::get_object(pod_template, std::string("metadata.") + key);
        if (!values.empty()) metadata[key] = values;
    }
    metadata["ownerReferences"] = JsonArray{std::move(owner)};
    pod["spec"] = base::get_object(pod_template, "spec");
    return pod;
}

bool selector_matches(const JsonObject& selector, const JsonObject& labels) {
    for (const auto& wanted : base::get_object(selector, "matchLabels")) {
        const auto* label = labels.if_contains(wanted.key());
        if (label == nullptr || *label != wanted.value()) return false;
    }
    for (const auto& expression : base::get_array(selector, "matchExpressions")) {
        const auto* label = labels.if_contains(base::get_string(expression, "key"));
        const auto& values = base::get_array(expression, "values");
        const bool in = label != nullptr && std::find(values.begin(), values.end(), *label) != values.end();
        const auto op = base::get_string(expression, "operator");
        if (op == "In" && !in) return false;
        if (op == "NotIn" && in) return false;
        if (op == "Exists" && label == nullptr) return false;
        if (op == "DoesNotExist" && label != nullptr) return false;
    }
    return true;
}

std::string short_hash(const JsonValue& value) {
    return base::sha256_hex(base::canonical_text(value)).substr(0, 10);
}

std::int64_t share_of(const JsonValue* value, std::int64_t total, bool up, std::int64_t fallback) {
    if (value == nullptr) return fallback;
    if (value->is_int64()) return value->get_int64();
    if (!value->is_string()) return fallback;
    const std::int64_t percent = std::strtoll(value->get_string().c_str(), nullptr, 10);
    return (total * percent + (up ? 99 : 0)) / 100;
}

}  // namespace instantstart::twin::kube::controllers
