#include "twin/kube/metadata.h"

namespace instantstart::twin::kube {

JsonObject& object_at(JsonObject& object, std::string_view key) {
    auto& slot = object[key];
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
