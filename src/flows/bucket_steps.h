// Steps of the cluster's bucket: lifecycle script and S3 storage live in it.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// "bucket" (result: name), "bucket_settings". The bucket is params.bucket.
void add_bucket(Steps& steps);
// "lifecycle_script": the script that HyperPod runs on each new node; result {uri, file}.
void add_lifecycle_script(Steps& steps);

// Empty where the bucket is there and ours to use; Error{not_found} where there is none, Error{conflict,
// "bucket_taken"} where it belongs to another account.
Task<void> check_bucket(Clusters& env, Context context, std::string bucket, std::string account);

}  // namespace instantstart::flows
