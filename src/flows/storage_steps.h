// Steps of storage: one static volume with its claim, whatever lies behind it; of S3 storage also
// Mountpoint's add-on with its role. FSx for Lustre has its own in lustre_storage.h.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// params.storage: {name, kind: "s3", bucket, namespace, own_bucket}. Needs "eks" and "kubernetes_access".
void add_s3_storage(Steps& steps, const JsonObject& params);
// The last step, "storage": the volume and its bound claim.
void add_volume(Steps& steps, const std::string& name, std::vector<std::string> needs);
// The reverse: claim, volume, and what only this storage needed: the bucket's policy on the role, or the
// rules of Lustre's ports. Bucket and file system stay.
void add_storage_removal(Steps& steps, const JsonObject& params);

// The volume and claim of a storage.
std::vector<JsonObject> storage_objects(const std::string& cluster, const std::string& region,
                                        const JsonObject& storage);

// All storages of a cluster: claims bound to volumes of the two drivers. Rows {name, kind, namespace, bucket,
// status, …}.
Task<JsonArray> storage_rows(Clusters& env, Context context, std::string eks_name);

}  // namespace instantstart::flows
