// Managed tiered checkpointing: checkpoints in the nodes' memory, written to the cluster's bucket now and
// then. The daemon is HyperPod's; pods reach the bucket with a service account of ours: AWS names
// neither its name nor its namespace, ours is "checkpointing" in "default".
#include "flows/features/elastic_jobs.h"
#include "flows/features/kinds.h"
#include "flows/features/table.h"

namespace instantstart::flows {

namespace {

constexpr const char* kAccount = "checkpointing";

std::string permissions(const StepCall& call) {
    return domain::checkpoint_policy(scope_of(call), base::get_string(call.params, "bucket"));
}

base::Result<std::vector<JsonObject>> service_account(const StepCall& call) {
    const auto role = part_role_arn(call, {{"purpose", "checkpoints"}});
    return std::vector<JsonObject>{JsonObject{{"apiVersion", "v1"},
                                              {"kind", "ServiceAccount"},
                                              {"metadata",
                                               {{"name", kAccount},
                                                {"namespace", "default"},
                                                {"annotations", {{"eks.amazonaws.com/role-arn", role}}}}}}};
}

JsonObject tiers(std::string_view mode) {
    return {{"TieredStorageConfig", {{"Mode", mode}}}};
}

std::vector<Part> parts(const JsonObject&) {
    const JsonObject on{
        {"TieredStorageConfig",
         {{"Mode", "Enable"},
          {"InstanceMemoryAllocationPercentage", "$desired.tiered_checkpointing.memory_percent"}}}};
    const JsonObject args{{"on", on}, {"is_on", tiers("Enable")}, {"off", tiers("Disable")}};
    return {oidc_part(),
            role_part("role", "checkpoints",
                      {{"trust", {{"service_account", std::string("default:") + kAccount}}}})
                .grants(&permissions),
            Part("service_account", objects_kind(),
                 std::string("service account default/") + kAccount + " with that role", {})
                .applies(&service_account),
            Part("setting", hyperpod_setting_kind(),
                 "tiered storage of HyperPod cluster $hyperpod_name with "
                 "$desired.tiered_checkpointing.memory_percent % of each node's memory",
                 args)
                .anchors()};
}

// Jobs that grow and shrink cannot have their checkpoints in the nodes' memory.
Task<std::vector<std::string>> obstacles(Clusters& env, StepCall call) {
    std::vector<std::string> reasons;
    CO_TRY(const auto jobs, co_await elastic_jobs(env, call.context, eks_of(call)));
    if (jobs.empty()) co_return reasons;
    const domain::Properties both{{"elastic_training", elastic_words(jobs)}, {"tiered_checkpointing", ""}};
    for (const auto& refused : domain::excluded(both, "")) reasons.push_back(refused.message);
    co_return reasons;
}

JsonObject seen(const JsonObject& hyperpod) {
    const auto percent = base::get_int(hyperpod, "TieredStorageConfig.InstanceMemoryAllocationPercentage");
    if (percent == 0) return {};
    return {{"memory_percent", percent}};
}

}  // namespace

Feature tiered_checkpointing() {
    Feature feature;
    feature.id = "tiered_checkpointing";
    feature.title = "Managed tiered checkpointing";
    feature.summary =
        "Training writes checkpoints into the nodes' memory and now and then to the cluster's bucket, so "
        "that it "
        "recovers in seconds.";
    // AWS's own inference stack takes 20; below that the guide calls it of no use.
    feature.defaults = {{"memory_percent", 20}};
    feature.needs_hyperpod = true;
    feature.loss = "checkpoints that are in memory only";
    feature.parts = &parts;
    feature.obstacles = &obstacles;
    feature.seen = &seen;
    return feature;
}

}  // namespace instantstart::flows
