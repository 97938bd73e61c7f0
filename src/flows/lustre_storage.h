// Steps of FSx for Lustre storage: the CSI driver's add-on, the rules between nodes and file system, and one
// static volume with its claim. A static mount calls no AWS API, so the driver gets no role. The file system
// is the user's: it is never made, changed or deleted here.
#pragma once

#include "flows/step_kit.h"

namespace instantstart::flows {

// params.storage: {name, kind: "fsx_lustre", file_system_id, dns_name, mount_name, capacity_gib, namespace,
// rules: [{group, peer}] that our own group lacks}. Needs "eks" and "kubernetes_access". Ends with "storage".
void add_lustre_storage(Steps& steps, const JsonObject& params);
// After `needs`: the rules of our group that no other storage uses.
void add_lustre_removal(Steps& steps, std::vector<std::string> needs);

// The volume's spec.csi and mount options, into the volume that all kinds of storage share.
void put_lustre_volume(const JsonObject& storage, JsonObject& spec);
// A row of storage.list from a volume of the driver; {} where it is not one.
JsonObject lustre_row(const JsonValue& volume);

}  // namespace instantstart::flows
