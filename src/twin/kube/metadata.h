// Readers of an object's metadata, used by store, server and controllers' neighbours.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "twin/kube/cluster.h"

namespace instantstart::twin::kube {

inline constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

inline std::string name_of(const JsonObject& object) {
    return base::get_string(object, "metadata.name");
}
inline std::string namespace_of(const JsonObject& object) {
    return base::get_string(object, "metadata.namespace");
}
inline std::int64_t revision_of(const JsonObject& object) {
    const auto text = base::get_string(object, "metadata.resourceVersion");
    return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10);
}
// The metadata object, made where it is missing or of another type.
JsonObject& metadata_of(JsonObject& object);
// The member `key` as an object, made where it is missing or of another type.
JsonObject& object_at(JsonObject& object, std::string_view key);
// True where metadata.deletionTimestamp is set.
inline bool is_terminating(const JsonObject& object) {
    return base::find_path(object, "metadata.deletionTimestamp") != nullptr;
}
// True where something must still be done before the object may go: metadata.finalizers, or a namespace's
// spec.finalizers.
bool has_finalizers(const Kind& kind, const JsonObject& object);

}  // namespace instantstart::twin::kube
