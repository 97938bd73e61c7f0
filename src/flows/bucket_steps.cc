#include "flows/bucket_steps.h"

#include "base/digest.h"
#include "base/text.h"
#include "ops/proof.h"

namespace instantstart::flows {

namespace {

constexpr const char* kScriptKey = "instantstart/lifecycle/on_create.sh";
// HyperPod's image already joins the EKS cluster by itself; the script is where a user hooks in. Line feeds
// only.
constexpr const char* kScript =
    "#!/bin/bash\nset -euo pipefail\necho \"InstantStart: node is set up by the HyperPod image\"\nexit 0\n";

JsonObject bucket_call(const StepCall& call) {
    return {{"Bucket", base::get_string(call.params, "bucket")},
            {"ExpectedBucketOwner", base::get_string(call.params, "account")}};
}

}  // namespace

Task<void> check_bucket(Clusters& env, Context context, std::string bucket, std::string account) {
    JsonObject parameters{{"Bucket", bucket}, {"ExpectedBucketOwner", account}};
    auto answer = co_await env.aws().call(context, "s3", "HeadBucket", std::move(parameters));
    if (answer) co_return base::ok();
    if (is_absent(answer.error())) co_return base::not_found_error("bucket \"" + bucket + "\"");
    // The answer to HEAD has no words. A GET of the same right says whether it is the right that is missing.
    JsonObject listing{{"Bucket", bucket}, {"ExpectedBucketOwner", account}, {"MaxKeys", 1}};
    if (answer.error().kind == base::ErrorKind::denied) {
        auto listed = co_await env.aws().call(context, "s3", "ListObjectsV2", std::move(listing));
        if (listed) co_return base::ok();
        const auto& text = listed.error().message;
        if (text.find("is not authorized to perform") != std::string::npos)
            co_return std::move(listed).error();
    }
    const bool foreign = answer.error().kind == base::ErrorKind::denied &&
                         answer.error().code != "CredentialsExpired" &&
                         answer.error().code != "CredentialsUnavailable";
    if (foreign) {
        co_return base::conflict_error(
            "bucket_taken", "bucket \"" + bucket + "\" belongs to another account or is closed to us")
            .with_hint("Choose a bucket of this account.");
    }
    co_return std::move(answer).error();
}

namespace {

Task<bool> is_empty(Clusters& env, StepCall call) {
    auto parameters = bucket_call(call);
    parameters["MaxKeys"] = 1;
    CO_TRY(const auto page,
           co_await env.aws().call(call.context, "s3", "ListObjectsV2", std::move(parameters)));
    const bool none = base::get_array(page, "Contents").empty();
    co_return none;
}

}  // namespace

Task<Observation> observe_bucket(Clusters& env, StepCall call, JsonObject) {
    const auto bucket = base::get_string(call.params, "bucket");
    auto there = co_await check_bucket(env, call.context, bucket, base::get_string(call.params, "account"));
    if (there) {
        auto tags = co_await env.aws().call(call.context, "s3", "GetBucketTagging", bucket_call(call));
        if (!tags && !is_absent(tags.error())) co_return std::move(tags).error();
        const bool tagged =
            tags && !domain::tag_of(base::get_array(*tags, "TagSet"), domain::kTagCluster).empty();
        if (tagged) co_return ops::done({{"name", bucket}});
        // Without our tags it is ours only where this step made it, or where it holds nothing (a try that
        // died between the making and the tagging). Anything else belongs to the user.
        CO_TRY(const bool empty, co_await is_empty(env, call));
        if (call.acted || empty) co_return ops::absent();
        co_return ops::impossible(
            base::conflict_error("not_ours",
                                 "bucket \"" + bucket + "\" exists, holds objects and lacks our tags")
                .with_hint("Empty or rename it, or choose another cluster name."));
    }
    if (there.error().code == "bucket_taken") co_return ops::impossible(std::move(there).error());
    if (there.error().kind != base::ErrorKind::not_found) co_return std::move(there).error();
    if (is_fresh(env, call)) co_return ops::in_progress("waiting until S3 shows the bucket");
    co_return ops::absent();
}

namespace {

Task<void> create_bucket(Clusters& env, StepCall call) {
    const auto bucket = base::get_string(call.params, "bucket");
    const auto region = base::get_string(call.params, "region");
    JsonObject parameters{{"Bucket", bucket}};
    if (region != "us-east-1") parameters["CreateBucketConfiguration"] = {{"LocationConstraint", region}};
    auto answer = co_await env.aws().call(call.context, "s3", "CreateBucket", std::move(parameters));
    if (answer || is_duplicate(answer.error())) co_return base::ok();
    if (answer.error().code != "BucketAlreadyExists") co_return std::move(answer).error();
    co_return base::conflict_error("bucket_taken", "bucket \"" + bucket + "\" belongs to another account");
}

}  // namespace

Task<JsonObject> act_bucket(Clusters& env, StepCall call, JsonObject args) {
    const auto bucket = base::get_string(call.params, "bucket");
    auto there = co_await check_bucket(env, call.context, bucket, base::get_string(call.params, "account"));
    if (!there) CO_CHECK_OK(co_await create_bucket(env, call));
    // At once, so that nothing that fails elsewhere leaves a bucket that deleting would not know as ours.
    auto tagging = bucket_call(call);
    const auto role = base::get_string(args, "step", "bucket");
    tagging["Tagging"] = {{"TagSet", domain::tag_list(owner_of(call, role))}};
    CO_CHECK_OK(co_await mutate(env, call, "s3", "PutBucketTagging", std::move(tagging)));
    co_return ops::proven(made(env, bucket), {{"name", bucket}});
}

namespace {

Task<bool> has_settings(Clusters& env, StepCall call) {
    auto block = co_await env.aws().call(call.context, "s3", "GetPublicAccessBlock", bucket_call(call));
    if (!block) {
        if (is_absent(block.error())) co_return false;
        co_return std::move(block).error();
    }
    const auto& access = base::get_object(*block, "PublicAccessBlockConfiguration");
    for (const char* key :
         {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"}) {
        if (!base::get_bool(access, key)) co_return false;
    }
    for (const char* operation : {"GetBucketEncryption", "GetBucketPolicy"}) {
        auto seen = co_await env.aws().call(call.context, "s3", operation, bucket_call(call));
        if (!seen) {
            if (is_absent(seen.error())) co_return false;
            co_return std::move(seen).error();
        }
    }
    co_return true;
}

}  // namespace

Task<Observation> observe_bucket_settings(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(const bool settled, co_await has_settings(env, call));
    if (settled) co_return ops::done({});
    co_return ops::absent();
}

// Three writes that replace what is there: repeating them changes nothing.
Task<JsonObject> act_bucket_settings(Clusters& env, StepCall call, JsonObject) {
    const auto bucket = base::get_string(call.params, "bucket");
    auto parameters = bucket_call(call);
    parameters["PublicAccessBlockConfiguration"] = {{"BlockPublicAcls", true},
                                                    {"IgnorePublicAcls", true},
                                                    {"BlockPublicPolicy", true},
                                                    {"RestrictPublicBuckets", true}};
    CO_CHECK_OK(co_await mutate(env, call, "s3", "PutPublicAccessBlock", std::move(parameters)));
    const auto key = base::get_string(call.params, "kms_key_arn");
    JsonObject encryption{{"SSEAlgorithm", key.empty() ? "AES256" : "aws:kms"}};
    if (!key.empty()) encryption["KMSMasterKeyID"] = key;
    parameters = bucket_call(call);
    parameters["ServerSideEncryptionConfiguration"] = {
        {"Rules", JsonArray{JsonObject{{"ApplyServerSideEncryptionByDefault", std::move(encryption)}}}}};
    CO_CHECK_OK(co_await mutate(env, call, "s3", "PutBucketEncryption", std::move(parameters)));
    parameters = bucket_call(call);
    parameters["Policy"] = domain::tls_only_bucket_policy(scope_of(call), bucket);
    CO_CHECK_OK(co_await mutate(env, call, "s3", "PutBucketPolicy", std::move(parameters)));
    co_return ops::proven({}, {});
}

namespace {

JsonObject script_call(const StepCall& call) {
    auto parameters = bucket_call(call);
    parameters["Key"] = kScriptKey;
    return parameters;
}

JsonObject script_of(const StepCall& call) {
    return {{"uri", "s3://" + base::get_string(call.params, "bucket") + "/instantstart/lifecycle/"},
            {"file", "on_create.sh"}};
}

Task<Observation> observe_script(Clusters& env, StepCall call, JsonObject) {
    auto head = co_await env.aws().call(call.context, "s3", "HeadObject", script_call(call));
    if (!head) {
        if (is_absent(head.error())) co_return ops::absent();
        co_return std::move(head).error();
    }
    const bool whole =
        base::get_int(*head, "ContentLength") == static_cast<std::int64_t>(std::string_view(kScript).size());
    if (whole) co_return ops::done(script_of(call));
    co_return ops::absent();
}

Task<JsonObject> act_script(Clusters& env, StepCall call, JsonObject) {
    auto parameters = script_call(call);
    parameters["Body"] = kScript;
    parameters["ContentType"] = "text/x-shellscript";
    CO_CHECK_OK(co_await mutate(env, call, "s3", "PutObject", std::move(parameters)));
    co_return ops::proven({}, script_of(call));
}

}  // namespace

void add_bucket(Steps& steps) {
    if (steps.has("bucket")) return;
    steps.add(Row("bucket", "Create bucket", {}).does(&observe_bucket, &act_bucket));
    steps.add(Row("bucket_settings", "Close and encrypt the bucket", {"bucket"})
                  .does(&observe_bucket_settings, &act_bucket_settings));
}

void add_lifecycle_script(Steps& steps) {
    add_bucket(steps);
    steps.add(Row("lifecycle_script", "Write the lifecycle script", {"bucket_settings"})
                  .does(&observe_script, &act_script));
}

}  // namespace instantstart::flows
