// Steps of the cluster's bucket: lifecycle script and S3 storage live in it.
#pragma once

#include <string>

#include "flows/step_kit.h"

namespace instantstart::flows {

// "bucket" (result: name), "bucket_settings". The bucket is params.bucket.
void add_bucket(Steps& steps);
// Their bodies, for others that bring a bucket (params.bucket) as part of something larger. args: step (value
// of the step tag; "bucket" where left out).
Task<Observation> observe_bucket(Clusters& env, StepCall call, JsonObject args);
Task<JsonObject> act_bucket(Clusters& env, StepCall call, JsonObject args);
Task<Observation> observe_bucket_settings(Clusters& env, StepCall call, JsonObject args);
Task<JsonObject> act_bucket_settings(Clusters& env, StepCall call, JsonObject args);
// "lifecycle_script": the script that HyperPod runs on each new node; result {uri, file}.
void add_lifecycle_script(Steps& steps);

// Empty where the bucket is there and ours to use; Error{not_found} where there is none, Error{conflict,
// "bucket_taken"} where it belongs to another account.
Task<void> check_bucket(Clusters& env, Context context, std::string bucket, std::string account);

}  // namespace instantstart::flows
