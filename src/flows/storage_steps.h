// Steps of S3 storage: Mountpoint's add-on with its role, and one static volume with its claim.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// params.storage: {name, kind: "s3", bucket, namespace, own_bucket}. Needs "eks" and "kubernetes_access".
void add_s3_storage(Steps& steps, const JsonObject& params);
// The reverse: claim, volume, and the bucket's policy on the role. The bucket stays.
void add_storage_removal(Steps& steps);

// The volume and claim of a storage.
std::vector<JsonObject> storage_objects(const std::string& cluster, const std::string& region,
                                        const JsonObject& storage);

// All storages of a cluster: claims bound to volumes of the S3 driver. Rows {name, kind, namespace, bucket,
// status, …}.
Task<JsonArray> storage_rows(Clusters& env, Context context, std::string eks_name);

}  // namespace instantstart::flows
