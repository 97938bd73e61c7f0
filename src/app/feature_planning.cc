#include "app/feature_planning.h"

#include <algorithm>

#include "app/schema.h"
#include "base/text.h"
#include "flows/eks_steps.h"
#include "flows/features/desired.h"

namespace instantstart::app {

using flows::Fate;
using flows::Feature;
using flows::SeenFeature;

flows::StepCall scene_call(const Call& call, const FeatureScene& scene, JsonObject desired) {
    JsonObject params = scene.params;
    params["desired"] = std::move(desired);
    return flows::sight_call(call.context, std::move(params), scene.target.eks);
}

namespace {

// A feature of which no wish is known counts as wanted where it is found switched on.
Task<JsonObject> found_settings(Call call, const FeatureScene& scene, const Feature& feature) {
    auto settings = flows::settings_in(JsonObject(), feature);
    flows::Sight sight(call.services->clusters, scene_call(call, scene, {}));
    CO_TRY(const bool on, co_await sight.found_on(feature));
    settings["enabled"] = on;
    if (!on || feature.seen == nullptr) co_return settings;
    for (const auto& [key, value] : feature.seen(scene.target.hyperpod)) settings[key] = value;
    co_return settings;
}

}  // namespace

Task<FeatureScene> feature_scene(Call call, std::string cluster) {
    FeatureScene scene;
    auto& clusters = call.services->clusters;
    CO_TRY(scene.target, co_await find_target(call, cluster));
    CO_TRY(scene.params, co_await base_params(call, scene.target));
    scene.params["hyperpod_arn"] = base::get_string(scene.target.hyperpod, "ClusterArn");
    CO_TRY(scene.stored, co_await flows::desired_features(clusters, call.context, scene.target.ref.name));
    for (const auto& feature : flows::features()) {
        if (scene.stored.contains(feature.id)) {
            scene.desired[feature.id] = flows::settings_in(scene.stored, feature);
            continue;
        }
        CO_TRY(auto settings, co_await found_settings(call, scene, feature));
        scene.desired[feature.id] = std::move(settings);
    }
    co_return scene;
}

JsonObject wish_of(const FeaturesInput& input) {
    return to_json_value(input).as_object();
}

Wanted wanted_after(const JsonObject& desired, const JsonObject& wish, const std::string& at) {
    Wanted wanted;
    wanted.desired = desired;
    if (wish.empty()) wanted.faults.push_back(fault(at, "names no feature: say what changes"));
    for (const auto& feature : flows::features()) {
        const auto* asked = wish.if_contains(feature.id);
        if (asked == nullptr) continue;
        const auto before = flows::settings_in(desired, feature);
        auto after = before;
        for (const auto& [key, value] : asked->as_object()) after[key] = value;
        const bool on = base::get_bool(after, "enabled");
        const bool with_settings =
            asked->as_object().size() > (asked->as_object().contains("enabled") ? 1U : 0U);
        if (!on && with_settings) {
            wanted.faults.push_back(fault(at + "/" + feature.id + "/enabled",
                                          "must be true where a setting is given: the feature is off"));
        }
        if (!on) {
            after = before;
            after["enabled"] = false;
        }
        if (on && feature.faults != nullptr) {
            for (auto& wrong : feature.faults(after)) {
                wrong.pointer = at + "/" + feature.id + wrong.pointer;
                wanted.faults.push_back(std::move(wrong));
            }
        }
        wanted.changed[feature.id] = after;
        wanted.desired[feature.id] = std::move(after);
    }
    return wanted;
}

namespace {

bool is_on(const JsonObject& desired, const std::string& feature) {
    return base::get_bool(base::get_object(desired, feature), "enabled");
}

base::Error exclusion_error(const Feature& feature, const Feature& other, const std::string& why) {
    return base::conflict_error("features_exclude_each_other",
                                feature.id + " and " + other.id + " cannot be on together: " + why)
        .with_hint("Switch one of them off in the same request, such as {\"" + other.id +
                   "\": {\"enabled\": false}}.");
}

}  // namespace

base::Result<void> check_pairs(const JsonObject& desired, const JsonObject& wish) {
    for (const auto& feature : flows::features()) {
        if (!is_on(desired, feature.id)) continue;
        for (const auto& exclusion : feature.excludes) {
            const auto* other = flows::find_feature(exclusion.feature);
            const bool asked = wish.contains(feature.id) || wish.contains(exclusion.feature);
            if (other != nullptr && asked && is_on(desired, other->id))
                return exclusion_error(feature, *other, exclusion.why);
        }
        for (const auto& need : feature.needs) {
            if (is_on(desired, need)) continue;
            return base::conflict_error("feature_needed",
                                        feature.id + " needs " + need + ", which would be off")
                .with_hint("Ask for both in one request, or switch " + feature.id + " off first.");
        }
    }
    return base::ok();
}

namespace {

// --- plans

std::string title_of(const SeenFeature& seen) {
    return " (" + seen.feature->title + ")";
}

void put_brought(const SeenFeature& seen, Plan& plan) {
    for (const auto& [part, state] : seen.parts) {
        if (part.kind->make == nullptr || state.is_well()) continue;
        if (!state.stands()) plan.creates.push_back(part.name + title_of(seen));
        if (state.state == "drifted" || state.state == "failed") {
            plan.changes.push_back(part.name + ": " + (state.detail.empty() ? state.state : state.detail) +
                                   title_of(seen));
        }
    }
}

Task<void> put_removed(Call call, flows::StepCall look, SeenFeature seen, Plan& plan) {
    auto& clusters = call.services->clusters;
    auto parts = seen.parts;
    std::reverse(parts.begin(), parts.end());
    bool any = false;
    for (const auto& [part, state] : parts) {
        CO_TRY(const auto fate, co_await flows::fate_of(clusters, look, part, state));
        const auto known =
            std::find(plan.removes.begin(), plan.removes.end(), part.name) != plan.removes.end();
        if (fate.what == Fate::What::goes) any = true;
        if (fate.what == Fate::What::goes && !known) plan.removes.push_back(part.name);
        if (fate.what == Fate::What::stays && part.shared.empty())
            plan.warnings.push_back(part.name + " stays: " + fate.why);
    }
    if (!any) co_return base::ok();
    CO_TRY(const auto losses, co_await flows::losses_of(clusters, look, *seen.feature));
    plan.removes.insert(plan.removes.end(), losses.begin(), losses.end());
    co_return base::ok();
}

// Whether what is asked of a feature is so already, in the account and in our books.
bool is_settled(const FeatureScene& scene, const SeenFeature& seen) {
    const auto* stored = scene.stored.if_contains(seen.feature->id);
    if (stored != nullptr && *stored != JsonValue(seen.settings)) return false;
    return seen.status == (seen.enabled ? "on" : "off");
}

base::Error blocked(const Feature& feature, const std::vector<std::string>& reasons) {
    return base::conflict_error("feature_blocked",
                                feature.id + " cannot be switched on: " + base::join(reasons, "; "))
        .with_hint("Do what is named, then ask again. Nothing was changed.");
}

Task<void> check_obstacles(Call call, const FeatureScene& scene, flows::StepCall look,
                           const Feature& feature) {
    std::vector<std::string> reasons;
    if (feature.needs_hyperpod && scene.target.hyperpod.empty())
        reasons.emplace_back("it needs a HyperPod cluster (hyperpod.create makes one)");
    if (feature.needs_nodes && reasons.empty()) {
        CO_TRY(const bool nodes, co_await flows::has_nodes(call.services->clusters, look));
        if (!nodes)
            reasons.emplace_back(
                "its pods need a Ready node (instance_group.add or node_group.add brings one)");
    }
    if (feature.obstacles != nullptr && reasons.empty()) {
        CO_TRY(reasons, co_await feature.obstacles(call.services->clusters, look));
    }
    if (!reasons.empty()) co_return blocked(feature, reasons);
    co_return base::ok();
}

}  // namespace

Task<void> plan_features(Call call, FeatureScene scene, Wanted wanted, Plan& plan) {
    auto look = scene_call(call, scene, wanted.desired);
    look.params["features"] = wanted.changed;
    flows::Sight sight(call.services->clusters, look);
    plan.no_change = true;
    JsonObject states;
    for (const auto& feature : flows::features()) {
        if (!wanted.changed.contains(feature.id)) continue;
        CO_TRY(auto seen, co_await sight.look(feature, flows::settings_in(wanted.changed, feature)));
        states[feature.id] = seen.status;
        if (is_settled(scene, seen)) continue;
        plan.no_change = false;
        if (seen.enabled) {
            CO_CHECK_OK(co_await check_obstacles(call, scene, look, feature));
            put_brought(seen, plan);
        } else {
            CO_CHECK_OK(co_await put_removed(call, look, seen, plan));
        }
    }
    plan.no_change_result = JsonObject{{"cluster", scene.target.ref.name}, {"features", std::move(states)}};
    plan.flow_params["features"] = std::move(wanted.changed);
    plan.flow_params["desired"] = std::move(wanted.desired);
    co_return base::ok();
}

namespace {

void check_launch(const Feature& feature, const std::vector<domain::InstanceGroup>& groups, Wanted& wanted) {
    const auto at = "/features/" + feature.id;
    const bool nodes =
        std::any_of(groups.begin(), groups.end(), [](const auto& group) { return group.count > 0; });
    if (feature.needs_nodes && !nodes) {
        wanted.faults.push_back(
            fault(at, "its pods need nodes: give an instance group with a count above 0, or leave it out"));
        return;
    }
    if (feature.launch_faults == nullptr) return;
    for (auto& wrong : feature.launch_faults(groups, base::get_object(wanted.desired, feature.id))) {
        wrong.pointer = at + wrong.pointer;
        wanted.faults.push_back(std::move(wrong));
    }
}

}  // namespace

base::Result<Wanted> first_features(const FeaturesInput& input,
                                    const std::vector<domain::InstanceGroup>& groups) {
    const auto wish = wish_of(input);
    auto wanted = wanted_after(JsonObject(), wish, "/features");
    CHECK_OK(check_pairs(wanted.desired, wish));
    for (const auto& feature : flows::features()) {
        if (is_on(wanted.desired, feature.id)) {
            check_launch(feature, groups, wanted);
        } else {
            wanted.changed.erase(feature.id);  // what is off in a new cluster is so by itself
        }
    }
    return wanted;
}

void plan_first_features(const Wanted& wanted, Plan& plan) {
    if (wanted.changed.empty()) return;
    for (const auto& feature : flows::features()) {
        if (is_on(wanted.changed, feature.id)) plan.creates.push_back("feature " + feature.id);
    }
    plan.flow_params["features"] = wanted.changed;
    plan.flow_params["desired"] = wanted.desired;
}

}  // namespace instantstart::app
