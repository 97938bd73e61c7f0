#include "twin/kube/controllers/volumes.h"

#include <algorithm>

#include "twin/kube/controllers/object.h"
#include "twin/kube/metadata.h"

namespace instantstart::twin::kube::controllers {

std::string claim_name_of(const JsonValue& volume_source, const JsonObject& pod) {
    if (base::find_path(volume_source, "ephemeral") != nullptr)
        return name_of(pod) + "-" + base::get_string(volume_source, "name");
    return base::get_string(volume_source, "persistentVolumeClaim.claimName");
}

bool volume_serves(const JsonObject& volume, const JsonObject& claim) {
    if (base::get_string(volume, "spec.storageClassName") != base::get_string(claim, "spec.storageClassName"))
        return false;
    if (base::get_string(volume, "spec.volumeMode", "Filesystem") !=
        base::get_string(claim, "spec.volumeMode", "Filesystem"))
        return false;
    if (!selector_matches(base::get_object(claim, "spec.selector"),
                          base::get_object(volume, "metadata.labels")))
        return false;
    const auto& modes = base::get_array(volume, "spec.accessModes");
    for (const auto& mode : base::get_array(claim, "spec.accessModes")) {
        if (std::find(modes.begin(), modes.end(), mode) == modes.end()) return false;
    }
    return parse_milli(base::get_string(volume, "spec.capacity.storage")) >=
           parse_milli(base::get_string(claim, "spec.resources.requests.storage"));
}

}  // namespace instantstart::twin::kube::controllers
