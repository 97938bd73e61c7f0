#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

JsonObject& object_at(JsonObject& object, std::string_view key) {
    // Looked for first: object[key] makes room for one member more also where `key` is there, which moves the
    // members that callers hold.
    auto* found = object.if_contains(key);
    auto& slot = found == nullptr ? object[key] : *found;
    if (!slot.is_object()) slot.emplace_object();
    return slot.get_object();
}

JsonObject& metadata_of(JsonObject& object) {
    return object_at(object, "metadata");
}

bool has_finalizers(const Kind& kind, const JsonObject& object) {
    if (!base::get_array(object, "metadata.finalizers").empty()) return true;
    return kind.group.empty() && kind.plural == "namespaces" &&
           !base::get_array(object, "spec.finalizers").empty();
}

}  // namespace instantstart::twin::kube
