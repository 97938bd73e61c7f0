// Parts of the HyperPod cluster itself: its settings and its tags; and a bucket of a feature's own.
#include "flows/bucket_steps.h"
#include "flows/components.h"
#include "flows/features/kinds.h"
#include "flows/removal_steps.h"

namespace instantstart::flows {

namespace {

// Beside a tag of ours, so that it is known whose it is: tags of clusters cannot be given in an update.
constexpr const char* kTaggedBy = "instantstart:tagged-by";

std::string hyperpod_name(const StepCall& call) {
    return base::get_string(call.params, "hyperpod_name", cluster_of(call));
}

// SageMaker's description; {} where there is no such cluster.
Task<JsonObject> describe(Clusters& env, StepCall call) {
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}};
    auto answer = co_await env.aws().call(call.context, "sagemaker", "DescribeCluster", std::move(parameters),
                                          look(call));
    if (answer) co_return std::move(*answer);
    if (is_absent(answer.error())) co_return JsonObject{};
    co_return std::move(answer).error();
}

Task<PartState> look_setting(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe(env, call));
    const auto& present = base::get_object(part.args, "is_on");
    if (cluster.empty() || !covers(cluster, present)) co_return of_state("absent");
    PartState state("ready");
    state.ours = true;  // it carries no mark: whoever asks for its end means it
    state.maker = part.tag;
    const auto status = base::get_string(cluster, "ClusterStatus");
    if (!covers(cluster, base::get_object(part.args, "on"))) {
        state.state = "drifted";
        state.detail = "the HyperPod cluster has another value";
    } else if (status == "Updating") {
        state.state = "starting";
        state.detail = "SageMaker says Updating";
    }
    co_return state;
}

// Only what changes is sent: groups that are not listed are left alone, so none can lose a setting.
Task<JsonObject> update(Clusters& env, StepCall call, JsonObject members) {
    members["ClusterName"] = hyperpod_name(call);
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(members)));
    co_return JsonObject{};
}

Task<JsonObject> make_setting(Clusters& env, StepCall call, Part part) {
    co_return co_await update(env, call, base::get_object(part.args, "on"));
}

Task<JsonObject> drop_setting(Clusters& env, StepCall call, Part part) {
    co_return co_await update(env, call, base::get_object(part.args, "off"));
}

// --- tags

Task<PartState> look_tag(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe(env, call));
    if (cluster.empty()) co_return of_state("absent");
    JsonObject parameters{{"ResourceArn", base::get_string(cluster, "ClusterArn")}};
    CO_TRY(auto tags,
           co_await env.aws().collect(call.context, "sagemaker", "ListTags", std::move(parameters)));
    if (domain::tag_of(tags, base::get_string(part.args, "key")) != base::get_string(part.args, "value"))
        co_return of_state("absent");
    PartState state("ready");
    state.maker = domain::tag_of(tags, kTaggedBy);
    state.ours = !state.maker.empty();
    co_return state;
}

Task<JsonObject> make_tag(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe(env, call));
    const JsonObject tag{{"Key", base::get_string(part.args, "key")},
                         {"Value", base::get_string(part.args, "value")}};
    const JsonObject mark{{"Key", kTaggedBy}, {"Value", part.tag}};
    JsonObject parameters{{"ResourceArn", base::get_string(cluster, "ClusterArn")},
                          {"Tags", JsonArray{tag, mark}}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "AddTags", std::move(parameters)));
    co_return JsonObject{};
}

Task<JsonObject> drop_tag(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe(env, call));
    if (cluster.empty()) co_return JsonObject{};
    JsonObject parameters{{"ResourceArn", base::get_string(cluster, "ClusterArn")},
                          {"TagKeys", JsonArray{JsonValue(base::get_string(part.args, "key")), kTaggedBy}}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "DeleteTags", std::move(parameters)));
    co_return JsonObject{};
}

// --- buckets

StepCall of_bucket(StepCall call, const Part& part) {
    call.params["bucket"] = part_bucket_name(call, part.args);
    return call;
}

Task<PartState> look_bucket(Clusters& env, StepCall call, Part part) {
    const auto of = of_bucket(call, part);
    const auto name = part_bucket_name(call, part.args);
    auto there = co_await check_bucket(env, call.context, name, base::get_string(call.params, "account"));
    if (!there) {
        if (there.error().kind == base::ErrorKind::not_found) co_return of_state("absent");
        co_return std::move(there).error();
    }
    CO_TRY(auto seen, co_await observe_bucket(env, of, {}));
    if (seen.presence == Presence::impossible) co_return std::move(seen.error);
    if (seen.presence != Presence::done) co_return of_state("drifted", "the bucket lacks our tags");
    PartState state("ready");
    state.ours = true;
    state.maker = part.tag;
    CO_TRY(auto settings, co_await observe_bucket_settings(env, of, {}));
    if (settings.presence != Presence::done) {
        state.state = "drifted";
        state.detail = "the bucket is not closed and encrypted";
    }
    co_return state;
}

Task<JsonObject> make_bucket(Clusters& env, StepCall call, Part part) {
    const auto of = of_bucket(call, part);
    CO_TRY(auto seen, co_await observe_bucket(env, of, {}));
    if (seen.presence == Presence::absent) CO_CHECK_OK(co_await act_bucket(env, of, {{"step", part.tag}}));
    CO_CHECK_OK(co_await act_bucket_settings(env, of, {}));
    co_return made(env, part_bucket_name(call, part.args));
}

Task<JsonObject> drop_bucket(Clusters& env, StepCall call, Part part) {
    CO_CHECK_OK(co_await empty_and_delete_bucket(env, of_bucket(call, part)));
    co_return JsonObject{};
}

PartKind setting_row() {
    PartKind kind;
    kind.noun = "hyperpod_setting";
    kind.look = &look_setting;
    kind.make = &make_setting;
    kind.remove = &drop_setting;
    kind.iam = true;
    kind.hyperpod = true;
    kind.minutes = 0.5;
    return kind;
}

PartKind tag_row() {
    PartKind kind;
    kind.noun = "hyperpod_tag";
    kind.look = &look_tag;
    kind.make = &make_tag;
    kind.remove = &drop_tag;
    return kind;
}

std::string bucket_title(const StepCall& call, const Part& part) {
    return "bucket " + part_bucket_name(call, part.args);
}

PartKind bucket_row() {
    PartKind kind;
    kind.noun = "bucket";
    kind.name = &bucket_title;
    kind.look = &look_bucket;
    kind.make = &make_bucket;
    kind.remove = &drop_bucket;
    return kind;
}

}  // namespace

const PartKind& hyperpod_setting_kind() {
    static const auto kKind = setting_row();
    return kKind;
}

const PartKind& hyperpod_tag_kind() {
    static const auto kKind = tag_row();
    return kKind;
}

std::string part_bucket_name(const StepCall& call, const JsonObject& args) {
    return domain::shorten(base::get_string(args, "prefix") + cluster_of(call) + "-" +
                               base::get_string(call.params, "account") + "-" +
                               base::get_string(call.params, "region"),
                           63);
}

const PartKind& bucket_kind() {
    static const auto kKind = bucket_row();
    return kKind;
}

}  // namespace instantstart::flows
