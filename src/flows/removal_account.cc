#include <set>

#include "flows/bucket_steps.h"
#include "flows/features/desired.h"
#include "flows/features/kinds.h"
#include "flows/removal_steps.h"

namespace instantstart::flows {

namespace {

bool tags_match(const JsonArray& tags, const StepCall& call) {
    return domain::tag_of(tags, domain::kTagCluster) == cluster_of(call) &&
           domain::tag_of(tags, domain::kTagRegion) == base::get_string(call.params, "region");
}

// Whether a call came well or found nothing to remove.
Task<void> gone_or(Clusters& env, StepCall call, std::string service, std::string operation,
                   JsonObject parameters) {
    auto answer = co_await env.aws().call(call.context, service, operation, std::move(parameters));
    if (answer || is_absent(answer.error())) co_return base::ok();
    co_return answer.error().wrapped(service + ":" + operation);
}

// --- roles: by their tags, among those with our prefix

Task<std::vector<std::string>> our_roles(Clusters& env, StepCall call, std::string purpose) {
    CO_TRY(auto roles, co_await env.aws().collect(call.context, "iam", "ListRoles", JsonObject{}));
    std::vector<std::string> names;
    for (const auto& role : roles) {
        const auto name = base::get_string(role, "RoleName");
        const bool prefix =
            name.starts_with("instantstart-") || name.starts_with("SageMakerHyperPodInference");
        // Ours have no path: a role such as the one that this product runs with may bear the prefix, too.
        if (base::get_string(role, "Path", "/") != "/") continue;
        if (!prefix || !name.ends_with(purpose.empty() ? "" : "-" + purpose)) continue;
        JsonObject parameters{{"RoleName", name}};
        auto tags = co_await env.aws().call(call.context, "iam", "ListRoleTags", std::move(parameters));
        if (!tags) {
            if (is_absent(tags.error())) continue;
            co_return std::move(tags).error();
        }
        if (tags_match(base::get_array(*tags, "Tags"), call)) names.push_back(name);
    }
    co_return names;
}

Task<void> empty_role(Clusters& env, StepCall call, std::string role) {
    const JsonObject of_role{{"RoleName", role}};
    CO_TRY(auto attached, co_await env.aws().call(call.context, "iam", "ListAttachedRolePolicies", of_role));
    for (const auto& policy : base::get_array(attached, "AttachedPolicies")) {
        JsonObject parameters{{"RoleName", role}, {"PolicyArn", base::get_string(policy, "PolicyArn")}};
        CO_CHECK_OK(co_await gone_or(env, call, "iam", "DetachRolePolicy", std::move(parameters)));
    }
    CO_TRY(auto inline_policies, co_await env.aws().call(call.context, "iam", "ListRolePolicies", of_role));
    for (const auto& policy : base::get_array(inline_policies, "PolicyNames")) {
        JsonObject parameters{{"RoleName", role}, {"PolicyName", policy}};
        CO_CHECK_OK(co_await gone_or(env, call, "iam", "DeleteRolePolicy", std::move(parameters)));
    }
    CO_TRY(auto profiles,
           co_await env.aws().call(call.context, "iam", "ListInstanceProfilesForRole", of_role));
    for (const auto& profile : base::get_array(profiles, "InstanceProfiles")) {
        const auto name = base::get_string(profile, "InstanceProfileName");
        JsonObject parameters{{"RoleName", role}, {"InstanceProfileName", name}};
        CO_CHECK_OK(
            co_await gone_or(env, call, "iam", "RemoveRoleFromInstanceProfile", std::move(parameters)));
    }
    co_return base::ok();
}

Task<Observation> observe_roles(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto names, co_await our_roles(env, call, base::get_string(args, "purpose")));
    if (names.empty()) co_return ops::done({});
    co_return ops::absent();
}

}  // namespace

Task<void> remove_role(Clusters& env, StepCall call, std::string name) {
    auto emptied = co_await empty_role(env, call, name);
    if (!emptied && !is_absent(emptied.error())) co_return std::move(emptied).error();
    JsonObject parameters{{"RoleName", name}};
    co_return co_await gone_or(env, call, "iam", "DeleteRole", std::move(parameters));
}

namespace {

Task<JsonObject> act_roles(Clusters& env, StepCall call, JsonObject args) {
    CO_TRY(auto names, co_await our_roles(env, call, base::get_string(args, "purpose")));
    for (const auto& name : names) {
        CO_CHECK_OK(co_await remove_role(env, call, name));
    }
    co_return JsonObject{};
}

// --- OIDC provider

Task<std::vector<std::string>> our_providers(Clusters& env, StepCall call) {
    CO_TRY(auto list,
           co_await env.aws().call(call.context, "iam", "ListOpenIDConnectProviders", JsonObject{}));
    std::vector<std::string> arns;
    for (const auto& provider : base::get_array(list, "OpenIDConnectProviderList")) {
        const auto arn = base::get_string(provider, "Arn");
        // Others (of a code host, of other regions) are none of ours, and need not be ours to look at.
        const auto issuer = ":oidc-provider/oidc.eks." + base::get_string(call.params, "region") + ".";
        if (arn.find(issuer) == std::string::npos) continue;
        JsonObject parameters{{"OpenIDConnectProviderArn", arn}};
        auto tags = co_await env.aws().call(call.context, "iam", "ListOpenIDConnectProviderTags",
                                            std::move(parameters));
        if (!tags) {
            if (is_absent(tags.error())) continue;
            co_return std::move(tags).error();
        }
        if (tags_match(base::get_array(*tags, "Tags"), call)) arns.push_back(arn);
    }
    co_return arns;
}

Task<Observation> observe_providers(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto arns, co_await our_providers(env, call));
    if (arns.empty()) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_providers(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto arns, co_await our_providers(env, call));
    for (const auto& arn : arns) {
        JsonObject parameters{{"OpenIDConnectProviderArn", arn}};
        CO_CHECK_OK(co_await gone_or(env, call, "iam", "DeleteOpenIDConnectProvider", std::move(parameters)));
    }
    co_return JsonObject{};
}

// --- the bucket: only where it carries our tags, and holds nothing but our own objects unless asked
// otherwise

JsonObject bucket_call(const StepCall& call) {
    return {{"Bucket", base::get_string(call.params, "bucket")},
            {"ExpectedBucketOwner", base::get_string(call.params, "account")}};
}

enum class BucketFate : std::uint8_t { absent, foreign, holds_data, ours };

Task<BucketFate> bucket_fate(Clusters& env, StepCall call) {
    const auto bucket = base::get_string(call.params, "bucket");
    auto there = co_await check_bucket(env, call.context, bucket, base::get_string(call.params, "account"));
    if (!there) {
        if (there.error().kind == base::ErrorKind::not_found) co_return BucketFate::absent;
        if (there.error().code == "bucket_taken") co_return BucketFate::foreign;
        co_return std::move(there).error();
    }
    auto tags = co_await env.aws().call(call.context, "s3", "GetBucketTagging", bucket_call(call));
    if (!tags && !is_absent(tags.error())) co_return std::move(tags).error();
    if (!tags || domain::tag_of(base::get_array(*tags, "TagSet"), domain::kTagCluster) != cluster_of(call)) {
        co_return BucketFate::foreign;
    }
    if (base::get_bool(call.params, "delete_buckets")) co_return BucketFate::ours;
    auto parameters = bucket_call(call);
    parameters["MaxKeys"] = 1000;
    CO_TRY(auto page, co_await env.aws().call(call.context, "s3", "ListObjectsV2", std::move(parameters)));
    for (const auto& object : base::get_array(page, "Contents")) {
        if (!base::get_string(object, "Key").starts_with("instantstart/")) co_return BucketFate::holds_data;
    }
    co_return base::get_bool(page, "IsTruncated") ? BucketFate::holds_data : BucketFate::ours;
}

// A bucket other than the cluster's own, where the step names one.
StepCall of_bucket(StepCall call, const JsonObject& args) {
    if (base::get_string(args, "prefix").empty()) return call;
    call.params["bucket"] = part_bucket_name(call, args);
    call.params["delete_buckets"] = true;  // nobody keeps data of their own there
    return call;
}

Task<Observation> observe_bucket_gone(Clusters& env, StepCall call, JsonObject args) {
    call = of_bucket(std::move(call), args);
    const auto bucket = base::get_string(call.params, "bucket");
    if (bucket.empty()) co_return ops::skipped("no bucket of its own");
    CO_TRY(const auto fate, co_await bucket_fate(env, call));
    if (fate == BucketFate::ours) co_return ops::absent();
    if (fate == BucketFate::holds_data) co_return ops::done({{"kept", "bucket " + bucket + " holds data"}});
    co_return ops::done({});
}

}  // namespace

Task<void> empty_and_delete_bucket(Clusters& env, StepCall call) {
    for (int page = 0; page < 10'000; ++page) {
        auto versions = co_await env.aws().call(call.context, "s3", "ListObjectVersions", bucket_call(call));
        if (!versions) {
            if (is_absent(versions.error())) co_return base::ok();
            co_return std::move(versions).error();
        }
        JsonArray keys;
        for (const char* list : {"Versions", "DeleteMarkers"}) {
            for (const auto& version : base::get_array(*versions, list)) {
                if (keys.size() >= 1000) break;
                JsonObject key{{"Key", base::get_string(version, "Key")}};
                const auto id = base::get_string(version, "VersionId");
                if (!id.empty() && id != "null") key["VersionId"] = id;
                keys.push_back(std::move(key));
            }
        }
        if (keys.empty()) break;
        auto parameters = bucket_call(call);
        parameters["Delete"] = {{"Objects", std::move(keys)}, {"Quiet", true}};
        CO_CHECK_OK(co_await gone_or(env, call, "s3", "DeleteObjects", std::move(parameters)));
    }
    co_return co_await gone_or(env, call, "s3", "DeleteBucket", bucket_call(call));
}

namespace {

Task<JsonObject> act_bucket_gone(Clusters& env, StepCall call, JsonObject args) {
    CO_CHECK_OK(co_await empty_and_delete_bucket(env, of_bucket(std::move(call), args)));
    co_return JsonObject{};
}

// --- what is kept: told, not deleted

Task<Observation> observe_leftovers(Clusters& env, StepCall call, JsonObject) {
    JsonArray kept;
    const auto bucket = base::get_string(call.result_of("bucket_removed"), "kept");
    if (!bucket.empty()) kept.emplace_back(bucket);
    if (base::get_bool(call.params, "imported"))
        kept.emplace_back("EKS cluster " + eks_of(call) + " was imported");
    for (const auto& prefix :
         {"/aws/eks/" + eks_of(call) + "/",
          "/aws/sagemaker/Clusters/" + base::get_string(call.params, "hyperpod_name") + "/"}) {
        JsonObject parameters{{"logGroupNamePrefix", prefix}};
        auto groups =
            co_await env.aws().call(call.context, "logs", "DescribeLogGroups", std::move(parameters));
        if (!groups) {
            if (groups.error().kind == base::ErrorKind::cancelled) co_return std::move(groups).error();
            kept.emplace_back("log groups under " + std::string(prefix) +
                              " could not be looked up: " + groups.error().message);
            continue;
        }
        for (const auto& group : base::get_array(*groups, "logGroups")) {
            kept.emplace_back("log group " + base::get_string(group, "logGroupName"));
        }
    }
    const auto vpc = base::get_string(call.params, "kept_vpc");
    if (!vpc.empty()) kept.emplace_back("VPC " + vpc + " with its subnets was given, not made here");
    const auto workspace = base::get_string(call.params, "kept_workspace");
    if (!workspace.empty())
        kept.emplace_back("Prometheus workspace " + workspace + " was given, not made here");
    const auto unseen = base::get_string(call.params, "prometheus_unseen");
    if (!unseen.empty()) kept.emplace_back(unseen);
    CO_CHECK_OK(co_await forget_features(env, call.context, cluster_of(call)));
    CO_CHECK_OK(co_await env.forget_active(call.context, cluster_of(call)));
    if (base::get_bool(call.params, "imported")) {
        CO_CHECK_OK(co_await env.forget_import(call.context, cluster_of(call)));
    }
    co_return ops::done({{"kept", std::move(kept)}});
}

}  // namespace

void add_roles_gone(Steps& steps, std::string id, std::vector<std::string> needs, std::string purpose) {
    steps.add(Row(std::move(id), "Delete roles", std::move(needs))
                  .does(&observe_roles, &act_roles)
                  .with({{"purpose", std::move(purpose)}})
                  .as("delete"));
}

void add_account_gone(Steps& steps) {
    steps.add(Row("oidc_provider_removed", "Delete OIDC provider", {"eks_removed"})
                  .does(&observe_providers, &act_providers)
                  .as("delete"));
    // MLflow works with a role of ours and writes into the bucket as long as it is there.
    add_roles_gone(steps, "roles_removed", {"eks_removed", "hyperpod_removed", "mlflow_removed"}, "");
    steps.add(Row("bucket_removed", "Delete the bucket where it holds only our own",
                  {"hyperpod_removed", "mlflow_removed"})
                  .does(&observe_bucket_gone, &act_bucket_gone)
                  .as("delete"));
    steps.add(Row("tls_bucket_removed", "Delete the bucket of certificates", {"eks_removed"})
                  .does(&observe_bucket_gone, &act_bucket_gone)
                  .with({{"prefix", "hyperpod-tls-"}})
                  .as("delete"));
    steps.add(Row("leftovers", "Say what is kept",
                  {"vpc_removed", "oidc_provider_removed", "roles_removed", "bucket_removed",
                   "tls_bucket_removed", "prometheus_removed"})
                  .does(&observe_leftovers, nullptr)
                  .as("check"));
}

}  // namespace instantstart::flows
