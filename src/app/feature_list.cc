// feature.list: what can be switched on in a cluster, what is wanted, how it really stands and why.
#include <algorithm>

#include "app/domain_makers.h"
#include "app/feature_planning.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"

namespace instantstart::app {

namespace {

using flows::Fate;
using flows::SeenFeature;

struct FeatureList {
    std::string cluster;
};
BOOST_DESCRIBE_STRUCT(FeatureList, (), (cluster))

JsonArray texts(const std::vector<std::string>& list) {
    JsonArray made;
    for (const auto& text : list) made.emplace_back(text);
    return made;
}

JsonArray part_rows(const SeenFeature& seen) {
    JsonArray rows;
    std::string former;
    for (const auto& [part, state] : seen.parts) {
        JsonObject row{{"id", part.id},
                       {"title", part.name},
                       {"kind", part.kind->noun},
                       {"state", state.state},
                       {"shared", !part.shared.empty()}};
        if (state.stands() && part.kind->remove != nullptr) row["ours"] = state.ours;
        if (!state.detail.empty()) row["detail"] = domain::clean_text(state.detail, 300);
        if (!former.empty()) row["needs"] = JsonArray{JsonValue(former)};
        former = part.id;
        rows.push_back(std::move(row));
    }
    return rows;
}

JsonObject settings_row(const SeenFeature& seen) {
    JsonObject settings = seen.settings;
    settings.erase("enabled");
    return settings;
}

JsonArray exclusion_rows(const flows::Feature& feature) {
    JsonArray rows;
    for (const auto& exclusion : feature.excludes)
        rows.push_back(JsonObject{{"feature", exclusion.feature}, {"reason", exclusion.why}});
    return rows;
}

// What switching it off would take away, and what would stay and why.
Task<void> add_fates(Call call, const FeatureScene& scene, const SeenFeature& seen, JsonObject& row) {
    auto settings = seen.settings;
    settings["enabled"] = false;
    const auto look =
        scene_call(call, scene, flows::with_wish(scene.desired, seen.feature->id, std::move(settings)));
    JsonArray removes, keeps;
    for (auto at = seen.parts.rbegin(); at != seen.parts.rend(); ++at) {
        CO_TRY(const auto fate, co_await flows::fate_of(call.services->clusters, look, at->part, at->state));
        if (fate.what == Fate::What::goes) removes.emplace_back(at->part.name);
        if (fate.what == Fate::What::stays) keeps.emplace_back(at->part.name + ": " + fate.why);
    }
    if (!removes.empty() && !seen.feature->loss.empty()) removes.emplace_back(seen.feature->loss);
    row["removes"] = std::move(removes);
    row["keeps"] = std::move(keeps);
    co_return base::ok();
}

// The operation that switches features of the cluster, or launches it; {} where none runs.
Task<JsonObject> running_operation(Call call, std::string cluster) {
    for (const char* state : {"running", "waiting", "pending"}) {
        ops::Engine::ListQuery query;
        query.resource_prefix = "cluster/" + cluster;
        query.state = state;
        CO_TRY(const auto page, co_await call.services->engine.list(call.context, query));
        for (const auto& operation : page.operations) {
            const auto name = base::get_string(operation, "name");
            if (name == "feature.update" || name == "cluster.launch") co_return operation;
        }
    }
    co_return JsonObject{};
}

bool has_steps_of(const JsonObject& operation, const std::string& feature) {
    const auto& steps = base::get_array(operation, "steps");
    return std::any_of(steps.begin(), steps.end(), [&feature](const auto& step) {
        return base::get_string(step, "id").starts_with(feature + ".");
    });
}

Task<JsonObject> row_of(Call call, const FeatureScene& scene, const SeenFeature& seen,
                        const JsonObject& operation) {
    const auto& feature = *seen.feature;
    const bool moving = has_steps_of(operation, feature.id);
    JsonObject row{{"name", feature.id},
                   {"title", feature.title},
                   {"summary", feature.summary},
                   {"enabled", seen.enabled},
                   {"settings", settings_row(seen)},
                   {"status", moving ? "working" : seen.status},
                   {"reasons", texts(seen.reasons)},
                   {"requires", texts(feature.needs)},
                   {"excludes", exclusion_rows(feature)},
                   {"parts", part_rows(seen)}};
    if (moving) row["operation_id"] = base::get_string(operation, "id");
    CO_CHECK_OK(co_await add_fates(call, scene, seen, row));
    co_return row;
}

Task<Answer> run(Call call, FeatureList input) {
    CO_TRY(const auto scene, co_await feature_scene(call, input.cluster));
    CO_TRY(const auto operation, co_await running_operation(call, scene.target.ref.name));
    flows::Sight sight(call.services->clusters, scene_call(call, scene, scene.desired));
    JsonArray rows;
    std::int64_t on = 0;
    std::vector<std::string> drifted;
    for (const auto& feature : flows::features()) {
        CO_TRY(const auto seen, co_await sight.look(feature, flows::settings_in(scene.desired, feature)));
        CO_TRY(auto row, co_await row_of(call, scene, seen, operation));
        const auto status = base::get_string(row, "status");
        on += status == "on" ? 1 : 0;
        if (status == "drifted") drifted.push_back(feature.id);
        rows.push_back(std::move(row));
    }
    Answer answer;
    answer.cluster = scene.target.ref.name;
    answer.summary = std::to_string(on) + " of " + std::to_string(rows.size()) + " features are on" +
                     (drifted.empty() ? "." : "; not as wanted: " + base::join(drifted, ", ") + ".");
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["features"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_feature_list() {
    Meta meta;
    meta.id = "feature.list";
    meta.method = "GET";
    meta.path = "/clusters/{cluster}/features";
    meta.summary =
        "The features of a cluster: wanted or not, how each really stands with its parts and why, what it "
        "needs, "
        "and what switching it off would remove.";
    meta.area = "features";
    meta.uses = used_by_feature_list();
    return make_query<FeatureList>(std::move(meta), {cluster_field()}, &run);
}

}  // namespace instantstart::app
