// What scheduler, kubelet and the controller of claims all ask of claims and volumes.
#pragma once

#include "twin/kube/controllers/index.h"

namespace instantstart::twin::kube::controllers {

inline const Kind kStorageClasses("storage.k8s.io", "storageclasses");

// The claim that a volume of a pod names, or the pod's own for an ephemeral one; "" for other volumes.
std::string claim_name_of(const JsonValue& volume_source, const JsonObject& pod);
// A volume that no claim holds would do for the claim: class, modes, size, labels, kind of volume.
bool volume_serves(const JsonObject& volume, const JsonObject& claim);

}  // namespace instantstart::twin::kube::controllers
