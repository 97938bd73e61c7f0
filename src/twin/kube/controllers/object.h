// Small readers and edits of objects that several controllers need.
#pragma once

#include <string>

#include "twin/kube/controllers/queue.h"

namespace instantstart::twin::kube::controllers {

// The uid of the owner that manages the object, "" for none.
std::string controller_uid(const JsonObject& object);
// A pod that has ended for good.
bool is_finished(const JsonObject& pod);
bool condition_is(const JsonObject& object, std::string_view type, std::string_view status);
bool is_ready(const JsonObject& pod);

// The list at status.conditions, made where it is missing.
JsonArray& conditions_of(JsonObject& object);
// Sets or adds a condition; its time of transition moves only when the status does. True when anything
// changed.
bool set_condition(JsonArray& conditions, std::string_view type, bool status, std::string_view reason,
                   std::string_view message, base::TimePoint now);
JsonObject owner_reference(std::string_view api_version, std::string_view kind, const JsonObject& owner);
JsonArray& list_at(JsonObject& object, std::string_view key);
bool remove_finalizer(JsonObject& object, std::string_view finalizer);  // true when it was there
bool has_finalizer(const JsonObject& object, std::string_view finalizer);
// A pod made from a template: labels, annotations, specification, owner.
JsonObject pod_from_template(const JsonObject& pod_template, const std::string& ns, const std::string& name,
                             JsonObject owner);
// matchLabels and matchExpressions of a label selector object; an empty selector matches everything.
bool selector_matches(const JsonObject& selector, const JsonObject& labels);
// Short hash of a template, as pod-template-hash shows it.
std::string short_hash(const JsonValue& value);
// "25%" or 3 of `total`, rounded up or down.
std::int64_t share_of(const JsonValue* value, std::int64_t total, bool up, std::int64_t fallback);

}  // namespace instantstart::twin::kube::controllers
