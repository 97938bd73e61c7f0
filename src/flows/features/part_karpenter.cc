// Parts of managed autoscaling: the switch of the HyperPod cluster, and the HyperpodNodeClass that names the
// instance groups. Karpenter runs on AWS's side: there is no pod to look at.
#include "domain/instance_group.h"
#include "flows/components.h"
#include "flows/features/karpenter.h"
#include "flows/features/kinds.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::flows {

namespace {

constexpr const char* kClassVersion = "karpenter.sagemaker.amazonaws.com/v1";

JsonObject object_head(std::string_view version, std::string_view kind) {
    return {{"apiVersion", version}, {"kind", kind}, {"metadata", {{"name", kNodeClassName}}}};
}

// --- the switch

Task<PartState> look_switch(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    const auto& scaling = base::get_object(cluster, "AutoScaling");
    const auto status = base::get_string(scaling, "Status");
    if (base::get_string(scaling, "Mode") != "Enable") {
        if (status != "Deleting") co_return of_state("absent");
        auto leaving = of_state("starting", "SageMaker says Deleting");
        leaving.ours = base::get_string(cluster, "ClusterRole") == part_role_arn(call, part.args);
        co_return leaving;
    }
    PartState state(status == "InService" ? "ready" : status == "Failed" ? "failed" : "starting");
    if (state.state != "ready") state.detail = "SageMaker says AutoScaling is " + status;
    if (status == "Failed")
        state.detail += ": " + domain::clean_text(base::get_string(scaling, "FailureMessage"), 300);
    // The role cannot change while it is on: with another one it was not switched on here, and it stays.
    state.ours = base::get_string(cluster, "ClusterRole") == part_role_arn(call, part.args);
    state.maker = state.ours ? part.tag : "";
    co_return state;
}

Task<JsonObject> drop_switch(Clusters& env, StepCall call, Part) {
    JsonObject parameters{{"ClusterName", hyperpod_name(call)}, {"AutoScaling", {{"Mode", "Disable"}}}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(parameters)));
    co_return JsonObject{};
}

// Groups are not sent: those that are not listed keep all their settings. What failed is switched off first.
Task<JsonObject> make_switch(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    if (base::get_string(cluster, "AutoScaling.Status") == "Failed") {
        CO_CHECK_OK(co_await drop_switch(env, call, part));
        co_return JsonObject{{"removed_in", call.attempt}};
    }
    JsonObject parameters{{"ClusterName", hyperpod_name(call)},
                          {"ClusterRole", part_role_arn(call, part.args)},
                          {"AutoScaling", {{"Mode", "Enable"}, {"AutoScalerType", "Karpenter"}}}};
    CO_CHECK_OK(co_await mutate(env, call, "sagemaker", "UpdateCluster", std::move(parameters)));
    co_return made(env, "autoscaling");
}

// --- the class

Task<JsonObject> node_class(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto cluster, co_await describe_hyperpod(env, call));
    JsonArray names;
    for (const auto& name : groups_to_scale(cluster, base::get_array(part.args, "groups")))
        names.emplace_back(name);
    auto object = object_head(kClassVersion, "HyperpodNodeClass");
    object["spec"] = JsonObject{{"instanceGroups", std::move(names)}};
    std::vector<JsonObject> objects{std::move(object)};
    mark_objects(objects, part.feature);
    co_return objects.front();
}

Task<PartState> look_class(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    auto live = co_await live_object(client, call.context, object_head(kClassVersion, "HyperpodNodeClass"));
    // Without Karpenter the cluster does not know the kind.
    if (!live && is_absent(live.error())) co_return of_state("absent");
    CO_TRY(auto object, std::move(live));
    if (object.empty()) co_return of_state("absent");
    PartState state("ready");
    const auto* labels = base::find_path(object, "metadata.labels");
    state.ours =
        labels != nullptr && domain::tag_of(*labels, "app.kubernetes.io/managed-by") == "instantstart";
    state.maker = state.ours ? part.tag : "";
    if (base::find_path(object, "metadata.deletionTimestamp") != nullptr) {
        state.state = "starting";
        state.detail = "it is being deleted: Karpenter drains its nodes first";
        co_return state;
    }
    CO_TRY(auto wanted, co_await node_class(env, call, part));
    if (!covers(object, wanted)) {
        state.state = "drifted";
        state.detail = "it names other instance groups";
    }
    co_return state;
}

Task<JsonObject> make_class(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto object, co_await node_class(env, call, part));
    if (base::get_array(object, "spec.instanceGroups").empty()) {
        co_return base::conflict_error("no_autoscaled_group",
                                       "no instance group is there that autoscaling could scale")
            .with_hint("Add one with instance_group.add, autoscaled and count 0, then retry.");
    }
    std::vector<JsonObject> objects{std::move(object)};
    co_return co_await apply_objects(env, call, std::move(objects));
}

Task<JsonObject> drop_class(Clusters& env, StepCall call, Part) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_TRY(auto resource, co_await client->resolve(call.context, kClassVersion, "HyperpodNodeClass"));
    auto gone = co_await client->remove(call.context, resource, "", kNodeClassName, "Background");
    if (!gone && !is_absent(gone.error())) co_return std::move(gone).error();
    co_return JsonObject{};
}

// --- the pool

Task<PartState> look_pool(Clusters& env, StepCall call, Part part) {
    CO_TRY(auto state, co_await objects_kind().look(env, call, part));
    if (state.state != "ready") co_return state;
    CO_TRY(const auto objects, part.objects(call));
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    CO_TRY(auto live, co_await live_object(client, call.context, objects.front()));
    if (base::find_path(live, "metadata.deletionTimestamp") != nullptr) {
        state.state = "starting";
        state.detail = "it is being deleted: Karpenter drains its nodes first";
    } else if (!covers(base::get_object(objects.front(), "spec.limits"),
                       base::get_object(live, "spec.limits"))) {
        state.state = "drifted";
        state.detail = "it has other limits";
    }
    co_return state;
}

// --- readiness

// What the Ready condition says; "" where it is True.
std::string unready(const JsonObject& object) {
    for (const auto& condition : base::get_array(object, "status.conditions")) {
        if (base::get_string(condition, "type") != "Ready") continue;
        if (base::get_string(condition, "status") == "True") return "";
        return domain::clean_text(base::get_string(condition, "message", "Karpenter does not say why"), 300);
    }
    return "Karpenter has not looked at it yet";
}

Task<PartState> look_ready(Clusters& env, StepCall call, Part) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    const JsonObject wanted[] = {object_head(kClassVersion, "HyperpodNodeClass"),
                                 object_head("karpenter.sh/v1", "NodePool")};
    for (const auto& object : wanted) {
        auto live = co_await live_object(client, call.context, object);
        if (!live && is_absent(live.error())) co_return of_state("starting", "Karpenter is not there");
        CO_TRY(auto seen, std::move(live));
        const auto why = unready(seen);
        if (!why.empty())
            co_return of_state("starting", base::get_string(object, "kind") + " is not Ready: " + why);
    }
    co_return of_state("ready");
}

PartKind switch_row() {
    PartKind kind;
    kind.noun = "hyperpod_setting";
    kind.look = &look_switch;
    kind.make = &make_switch;
    kind.remove = &drop_switch;
    kind.iam = true;
    kind.hyperpod = true;
    kind.minutes = 3;
    return kind;
}

PartKind class_row() {
    PartKind kind;
    kind.noun = "kubernetes_objects";
    kind.look = &look_class;
    kind.make = &make_class;
    kind.remove = &drop_class;
    kind.minutes = 0.2;
    return kind;
}

PartKind pool_row() {
    PartKind kind = objects_kind();
    kind.look = &look_pool;
    return kind;
}

PartKind ready_row() {
    PartKind kind;
    kind.noun = "readiness";
    kind.look = &look_ready;
    kind.minutes = 0.3;
    return kind;
}

}  // namespace

const PartKind& karpenter_kind() {
    static const auto kKind = switch_row();
    return kKind;
}

const PartKind& node_class_kind() {
    static const auto kKind = class_row();
    return kKind;
}

const PartKind& node_pool_kind() {
    static const auto kKind = pool_row();
    return kKind;
}

const PartKind& karpenter_ready_kind() {
    static const auto kKind = ready_row();
    return kKind;
}

std::vector<std::string> groups_to_scale(const JsonObject& hyperpod, const JsonArray& chosen) {
    std::vector<std::string> names;
    for (const auto& name : chosen) names.emplace_back(name.as_string());
    if (!names.empty()) return names;
    for (const auto& group : base::get_array(hyperpod, "InstanceGroups")) {
        const auto* labels = base::find_path(group, "KubernetesConfig.DesiredLabels");
        if (labels != nullptr && domain::tag_of(*labels, domain::kAutoscaledLabel) == "true")
            names.push_back(base::get_string(group, "InstanceGroupName"));
    }
    return names;
}

}  // namespace instantstart::flows
