// The parts of validation that validate.cc puts together. Each adds a cause for every fault it finds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "twin/kube/validate.h"

namespace instantstart::twin::kube {

using Causes = std::vector<Cause>;

void required(Causes& causes, std::string field, std::string_view note = "");
void invalid(Causes& causes, std::string field, const JsonValue& value, std::string_view why);
void not_supported(Causes& causes, std::string field, std::string_view value, std::string_view choices);

// Name, labels, annotations, finalizers, owner references.
void check_metadata(const KindInfo& kind, const JsonObject& object, Causes& causes);
// What may not change in metadata: no new finalizer once the object is being deleted.
void check_metadata_change(const JsonObject& before, const JsonObject& after, Causes& causes);
// `path` is where the pod's spec stands: "spec" or "spec.template.spec".
void check_pod_spec(const JsonObject& spec, const std::string& path, Causes& causes);
// A pod's spec is fixed but for images, deadline and further tolerations.
void check_pod_change(const JsonObject& before, const JsonObject& after, Causes& causes);

}  // namespace instantstart::twin::kube
