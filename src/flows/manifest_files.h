// The YAML files of manifests/, built in: parsed once, since every look at a cluster reads them, and filled
// for the cluster at hand.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace instantstart::flows {

// What stands for each mark "${NAME}": any value where the mark is a whole scalar (`values: ${EFA_TYPES}`), a
// text where it is part of one.
using ManifestValues = std::map<std::string, base::JsonValue, std::less<>>;

inline constexpr const char* kMarkWithoutValue = "mark_without_value";

// The objects of a file ("efa_device_plugin.yaml", "features/keda.yaml"). Error{internal} where it is not
// built in; its code is kMarkWithoutValue where a mark is left.
base::Result<std::vector<base::JsonObject>> filled_manifest(const std::string& file,
                                                            const ManifestValues& values);

}  // namespace instantstart::flows
