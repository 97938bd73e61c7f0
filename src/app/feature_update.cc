// feature.update: switches features on and off, changes their settings, repairs what drifted.
#include <cstdlib>

#include "app/domain_makers.h"
#include "app/feature_planning.h"
#include "app/prices.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "flows/features/karpenter.h"
#include "flows/hyperpod_steps.h"

namespace instantstart::app {

namespace {

struct FeatureUpdate : FeaturesInput {
    FeatureUpdate() = default;
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(FeatureUpdate, (FeaturesInput), (cluster))

// What autoscaling may start at most, as groups that cost something; empty where it is not asked for.
JsonArray most_nodes(const FeatureScene& scene, const JsonObject& features, Plan& plan) {
    const auto& settings = base::get_object(features, "autoscaling");
    if (!base::get_bool(settings, "enabled")) return {};
    const auto* nodes = base::get_object(settings, "limits").if_contains("nodes");
    if (nodes == nullptr) {
        plan.warnings.emplace_back(
            "autoscaling has no limit of nodes, so neither has its cost: limits.nodes sets one");
        return {};
    }
    JsonArray types;
    for (const auto& name :
         flows::groups_to_scale(scene.target.hyperpod, base::get_array(settings, "instance_groups"))) {
        const auto* group = flows::group_in(scene.target.hyperpod, name);
        if (group == nullptr) continue;
        const auto& several = base::get_array(*group, "InstanceRequirements.DesiredInstanceTypes");
        types.insert(types.end(), several.begin(), several.end());
        if (several.empty()) types.emplace_back(base::get_string(*group, "InstanceType"));
    }
    if (types.empty()) return {};
    const auto most = nodes->is_string() ? std::strtoll(nodes->get_string().c_str(), nullptr, 10)
                                         : nodes->to_number<std::int64_t>();
    return {
        JsonObject{{"name", "autoscaling, at most"}, {"instance_types", std::move(types)}, {"count", most}}};
}

Task<Plan> plan(Call call, FeatureUpdate input) {
    CO_TRY(auto scene, co_await feature_scene(call, input.cluster));
    const auto wish = wish_of(input);
    auto wanted = wanted_after(scene.desired, wish, "");
    if (!wanted.faults.empty()) co_return faults_error(std::move(wanted.faults));
    auto paired = check_pairs(wanted.desired, wish);
    if (!paired) co_return std::move(paired).error();
    Plan made;
    made.resource = "cluster/" + scene.target.ref.name + "/features";
    made.flow = "feature_update";
    made.flow_params = scene.params;
    CO_CHECK_OK(co_await plan_features(call, scene, std::move(wanted), made));
    if (made.no_change) co_return made;
    CO_CHECK_OK(co_await add_cluster_settings(call, scene.target, made.flow_params));
    if (!made.removes.empty()) made.confirm_value = scene.target.ref.name;
    auto most = most_nodes(scene, base::get_object(made.flow_params, "features"), made);
    CO_CHECK_OK(co_await put_cost(call, std::move(most), made));
    co_return made;
}

}  // namespace

std::unique_ptr<Operation> make_feature_update() {
    Meta meta;
    meta.id = "feature.update";
    meta.method = "PATCH";
    meta.path = "/clusters/{cluster}/features";
    meta.summary =
        "Switch features of a cluster on or off, change their settings, or repair them; switching off "
        "removes "
        "exactly what switching on made. Send only what changes.";
    meta.role = Role::admin;
    meta.removes = Removes::by_plan;
    meta.area = "features";
    meta.shows_result = "feature.list";
    meta.uses = used_by_feature_update();
    return make_long_running<FeatureUpdate>(std::move(meta), joined({{cluster_field()}, feature_fields("")}),
                                            &plan);
}

}  // namespace instantstart::app
