#include "flows/storage_steps.h"

#include "flows/bucket_steps.h"
#include "flows/components.h"
#include "flows/lustre_storage.h"
#include "flows/role_steps.h"

namespace instantstart::flows {

namespace {

constexpr const char* kStorageLabel = "instantstart.dev/storage";

std::string volume_name(const JsonObject& storage) {
    return "instantstart-" + base::get_string(storage, "namespace") + "-" + base::get_string(storage, "name");
}

JsonObject metadata(const std::string& name, const JsonObject& storage) {
    return {{"name", name},
            {"labels",
             {{"app.kubernetes.io/managed-by", "instantstart"},
              {kStorageLabel, base::get_string(storage, "name")}}}};
}

}  // namespace

namespace {

bool is_lustre(const JsonObject& storage) {
    return base::get_string(storage, "kind") == "fsx_lustre";
}

// The region must be said: nodes answer no metadata to pods.
void put_bucket_volume(const JsonObject& storage, const std::string& region, JsonObject& spec) {
    spec["mountOptions"] =
        JsonArray{JsonValue("region " + region), "allow-delete", "allow-overwrite", "allow-other"};
    spec["csi"] = JsonObject{{"driver", "s3.csi.aws.com"},
                             {"volumeHandle", volume_name(storage)},
                             {"volumeAttributes", {{"bucketName", base::get_string(storage, "bucket")}}}};
}

}  // namespace

std::vector<JsonObject> storage_objects(const std::string&, const std::string& region,
                                        const JsonObject& storage) {
    const auto name = base::get_string(storage, "name");
    const auto ns = base::get_string(storage, "namespace");
    // The size is demanded by Kubernetes and means nothing to S3.
    const auto size = std::to_string(base::get_int(storage, "capacity_gib", 1200)) + "Gi";
    JsonObject spec{{"capacity", {{"storage", size}}},
                    {"accessModes", JsonArray{"ReadWriteMany"}},
                    {"persistentVolumeReclaimPolicy", "Retain"},
                    {"storageClassName", ""},
                    {"claimRef", {{"namespace", ns}, {"name", name}}}};
    if (is_lustre(storage)) {
        put_lustre_volume(storage, spec);
    } else {
        put_bucket_volume(storage, region, spec);
    }
    JsonObject volume{{"apiVersion", "v1"},
                      {"kind", "PersistentVolume"},
                      {"metadata", metadata(volume_name(storage), storage)},
                      {"spec", std::move(spec)}};
    auto claim_metadata = metadata(name, storage);
    claim_metadata["namespace"] = ns;
    JsonObject claim{{"apiVersion", "v1"},
                     {"kind", "PersistentVolumeClaim"},
                     {"metadata", std::move(claim_metadata)},
                     {"spec",
                      {{"accessModes", JsonArray{"ReadWriteMany"}},
                       {"storageClassName", ""},
                       {"volumeName", volume_name(storage)},
                       {"resources", {{"requests", {{"storage", size}}}}}}}};
    return {std::move(volume), std::move(claim)};
}

namespace {

kube::Resource resource(std::string_view name) {
    auto known = kube::known_resource(name);
    CHECK(known.has_value());
    return *known;
}

std::vector<JsonObject> objects_of(const StepCall& call) {
    return storage_objects(cluster_of(call), base::get_string(call.params, "region"),
                           base::get_object(call.params, "storage"));
}

// Whether the volume is still bound to a claim that somebody deleted: a new one of the name waits in vain.
Task<bool> is_released(Clusters& env, StepCall call) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto name = volume_name(base::get_object(call.params, "storage"));
    auto volume = co_await client->get(call.context, resource("persistentvolumes"), "", name);
    if (!volume && volume.error().kind == base::ErrorKind::not_found) co_return false;
    CO_CHECK_OK(volume);
    co_return base::get_string(*volume, "status.phase") == "Released";
}

// Lets a new claim have it; what it holds stays.
Task<void> let_go_of_old_claim(Clusters& env, StepCall call) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const auto name = volume_name(base::get_object(call.params, "storage"));
    const JsonObject reference{{"uid", nullptr}, {"resourceVersion", nullptr}};
    JsonObject patch{{"spec", {{"claimRef", reference}}}};
    CO_CHECK_OK(co_await client->patch(call.context, resource("persistentvolumes"), "", name,
                                       JsonValue(std::move(patch)), "application/merge-patch+json", ""));
    co_return base::ok();
}

Task<Observation> observe_volume(Clusters& env, StepCall call, JsonObject) {
    auto objects = objects_of(call);
    auto seen = co_await observe_objects(env, call, objects);
    if (!seen || seen->presence != Presence::done) co_return seen;
    const auto& storage = base::get_object(call.params, "storage");
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_TRY(auto claim,
           co_await client->get(call.context, resource("persistentvolumeclaims"),
                                base::get_string(storage, "namespace"), base::get_string(storage, "name")));
    const auto phase = base::get_string(claim, "status.phase");
    if (phase != "Bound") {
        CO_TRY(const bool released, co_await is_released(env, call));
        if (released) co_return ops::absent();
    }
    if (phase == "Bound")
        co_return ops::done(is_lustre(storage)
                                ? JsonObject{{"claim", base::get_string(storage, "name")},
                                             {"file_system_id", base::get_string(storage, "file_system_id")}}
                                : JsonObject{{"claim", base::get_string(storage, "name")},
                                             {"bucket", base::get_string(storage, "bucket")}});
    co_return ops::in_progress("the claim is " + (phase.empty() ? std::string("new") : phase));
}

Task<JsonObject> act_volume(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(const bool released, co_await is_released(env, call));
    if (released) CO_CHECK_OK(co_await let_go_of_old_claim(env, call));
    auto objects = objects_of(call);
    co_return co_await apply_objects(env, call, std::move(objects));
}

Task<Observation> observe_given_bucket(Clusters& env, StepCall call, JsonObject) {
    const auto bucket = base::get_string(call.params, "storage.bucket");
    auto there = co_await check_bucket(env, call.context, bucket, base::get_string(call.params, "account"));
    if (there) co_return ops::done({{"name", bucket}});
    if (there.error().kind == base::ErrorKind::not_found || there.error().code == "bucket_taken") {
        co_return ops::impossible(std::move(there).error());
    }
    co_return std::move(there).error();
}

// --- removal: claim, volume, policy

Task<bool> is_there(Clusters& env, StepCall call, std::string kind, std::string ns, std::string name) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    auto seen = co_await client->get(call.context, resource(kind), ns, name);
    if (seen) co_return true;
    if (seen.error().kind == base::ErrorKind::not_found) co_return false;
    co_return std::move(seen).error();
}

std::pair<std::string, std::string> removed_object(const StepCall& call, const JsonObject& args) {
    const auto& storage = base::get_object(call.params, "storage");
    if (base::get_string(args, "kind") == "persistentvolumes")
        return {"", base::get_string(storage, "volume", volume_name(storage))};
    return {base::get_string(storage, "namespace"), base::get_string(storage, "name")};
}

Task<Observation> observe_removed(Clusters& env, StepCall call, JsonObject args) {
    const auto [ns, name] = removed_object(call, args);
    CO_TRY(const bool there, co_await is_there(env, call, base::get_string(args, "kind"), ns, name));
    if (!there) co_return ops::done({});
    if (base::get_bool(call.memory, "asked"))
        co_return ops::in_progress("waiting until " + name + " is gone");
    co_return ops::absent();
}

Task<JsonObject> act_removed(Clusters& env, StepCall call, JsonObject args) {
    const auto [ns, name] = removed_object(call, args);
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_CHECK_OK(co_await client->remove(call.context, resource(base::get_string(args, "kind")), ns, name,
                                        "Background"));
    co_return JsonObject{{"asked", true}};
}

std::string csi_role(const StepCall& call) {
    return domain::role_name(cluster_of(call), base::get_string(call.params, "region"), "s3");
}

Task<Observation> observe_policy_removed(Clusters& env, StepCall call, JsonObject) {
    const auto bucket = base::get_string(call.params, "storage.bucket");
    CO_TRY(auto rows, co_await storage_rows(env, call.context, eks_of(call)));
    for (const auto& row : rows) {
        if (base::get_string(row, "bucket") == bucket)
            co_return ops::skipped("another storage uses the bucket");
    }
    JsonObject parameters{{"RoleName", csi_role(call)}, {"PolicyName", "bucket-" + bucket}};
    auto policy = co_await env.aws().call(call.context, "iam", "GetRolePolicy", std::move(parameters));
    if (policy) co_return ops::absent();
    if (is_absent(policy.error())) co_return ops::done({});
    co_return std::move(policy).error();
}

Task<JsonObject> act_policy_removed(Clusters& env, StepCall call, JsonObject) {
    JsonObject parameters{{"RoleName", csi_role(call)},
                          {"PolicyName", "bucket-" + base::get_string(call.params, "storage.bucket")}};
    auto answer = co_await mutate(env, call, "iam", "DeleteRolePolicy", std::move(parameters));
    if (!answer && !is_absent(answer.error())) co_return std::move(answer).error();
    co_return JsonObject{};
}

}  // namespace

void add_s3_storage(Steps& steps, const JsonObject& params) {
    const auto& storage = base::get_object(params, "storage");
    const auto bucket = base::get_string(storage, "bucket");
    std::vector<std::string> role_needs = steps.those_of({"eks", "oidc_provider"});
    if (base::get_bool(storage, "own_bucket")) {
        add_bucket(steps);
    } else {
        steps.add(Row("storage_bucket", "Find bucket " + bucket, {})
                      .does(&observe_given_bucket, nullptr)
                      .as("check"));
    }
    RolePlan role("s3_role", "S3 storage", "s3");
    role.service_account = "kube-system:s3-csi-driver-sa";
    role.needs = std::move(role_needs);
    role.inline_kind = "bucket";
    role.inline_name = "bucket-" + bucket;
    role.bucket = bucket;
    add_role(steps, role);
    const auto* component = find_component("s3_csi");
    AddonPlan plan("s3_csi", component->addon, {"s3_role_policies", "kubernetes_access"});
    for (const auto& id : steps.those_of(component->after)) plan.needs.push_back(id);
    plan.role_arn = "@s3_role.arn";
    plan.configuration = component->configuration;
    plan.needs_nodes = true;
    add_addon(steps, plan);
    auto needs = steps.those_of({"bucket_settings", "storage_bucket", "kubernetes_access"});
    needs.emplace_back("s3_csi");
    add_volume(steps, base::get_string(storage, "name"), std::move(needs));
}

void add_volume(Steps& steps, const std::string& name, std::vector<std::string> needs) {
    steps.add(Row("storage", "Create volume and claim " + name, std::move(needs))
                  .does(&observe_volume, &act_volume));
}

void add_storage_removal(Steps& steps, const JsonObject& params) {
    steps.add(Row("claim_removed", "Delete the claim", {})
                  .does(&observe_removed, &act_removed)
                  .with({{"kind", "persistentvolumeclaims"}})
                  .as("delete"));
    steps.add(Row("volume_removed", "Delete the volume", {"claim_removed"})
                  .does(&observe_removed, &act_removed)
                  .with({{"kind", "persistentvolumes"}})
                  .as("delete"));
    if (is_lustre(base::get_object(params, "storage"))) return add_lustre_removal(steps, {"volume_removed"});
    steps.add(Row("policy_removed", "Take back the bucket's permission", {"volume_removed"})
                  .does(&observe_policy_removed, &act_policy_removed)
                  .as("delete"));
}

namespace {

// What a volume mounts; {} where it is none of ours to show.
JsonObject behind_volume(const JsonValue& volume) {
    if (base::get_string(volume, "spec.csi.driver") != "s3.csi.aws.com") return lustre_row(volume);
    return {{"kind", "s3"}, {"bucket", base::get_string(volume, "spec.csi.volumeAttributes.bucketName")}};
}

}  // namespace

Task<JsonArray> storage_rows(Clusters& env, Context context, std::string eks_name) {
    CO_TRY(auto client, co_await env.kube(context, eks_name));
    kube::ListOptions options;
    CO_TRY(auto volumes, co_await client->list(context, resource("persistentvolumes"), options));
    JsonArray rows;
    for (const auto& volume : base::get_array(volumes, "items")) {
        auto row = behind_volume(volume);
        if (row.empty()) continue;
        const auto claim = base::get_string(volume, "spec.claimRef.name");
        const auto name = base::get_string(volume, "metadata.name");
        row["name"] = claim.empty() ? name : claim;
        row["namespace"] = base::get_string(volume, "spec.claimRef.namespace");
        row["volume"] = name;
        row["status"] = base::get_string(volume, "status.phase");
        row["managed"] = name.starts_with("instantstart-");
        rows.push_back(std::move(row));
    }
    co_return rows;
}

}  // namespace instantstart::flows
