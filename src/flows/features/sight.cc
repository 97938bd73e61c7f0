#include "flows/features/sight.h"

#include <algorithm>

#include "flows/components.h"
#include "flows/eks_steps.h"
#include "flows/features/kinds.h"
#include "flows/storage_steps.h"

namespace instantstart::flows {

StepCall sight_call(Context context, JsonObject params, const JsonObject& eks) {
    StepCall call;
    call.context = std::move(context);
    call.params = std::move(params);
    call.results["eks"] = eks_facts(eks);
    return call;
}

Task<PartState> Sight::state_of(Part part) {
    const auto key = part.shared.empty() ? part.tag : part.shared;
    if (const auto known = seen_.find(key); known != seen_.end()) co_return known->second;
    auto state = co_await part.kind->look(env_, call_, part);
    if (!state) {
        const auto& error = state.error();
        if (error.kind == base::ErrorKind::cancelled) co_return std::move(state).error();
        const bool foreign = error.code == "not_ours" || error.code == "bucket_taken";
        if (!foreign && !is_unreachable(error)) co_return std::move(state).error();
        state = of_state(foreign ? "failed" : "unknown", domain::clean_text(error.message, 300));
    }
    seen_[key] = *state;
    co_return std::move(*state);
}

namespace {

bool is_own(const SeenPart& seen) {
    return seen.part.shared.empty() && seen.part.kind->remove != nullptr;
}

// A feature that is wanted: on where all is well, working where what is missing is on its way.
std::string status_when_wanted(const SeenFeature& seen) {
    bool way = false;
    for (const auto& [part, state] : seen.parts) {
        if (state.is_well()) continue;
        if (state.state != "starting") return "drifted";
        way = true;
    }
    return way ? "working" : "on";
}

// One that is not: nothing of ours may be left.
std::string status_when_not(const SeenFeature& seen) {
    const bool left = std::any_of(seen.parts.begin(), seen.parts.end(), [](const SeenPart& each) {
        return is_own(each) && each.state.stands() && each.state.ours;
    });
    return left ? "drifted" : "off";
}

void add_reasons(SeenFeature& seen) {
    for (const auto& each : seen.parts) {
        const auto& state = each.state;
        const auto because = state.detail.empty() ? "" : ": " + state.detail;
        if (seen.enabled && !state.is_well()) {
            seen.reasons.push_back(each.part.name + " is " + state.state + because);
        }
        if (!seen.enabled && is_own(each) && state.stands()) {
            seen.reasons.push_back(each.part.name + (state.ours
                                                         ? " is left over"
                                                         : " is there and was not made here: it stays"));
        }
    }
}

}  // namespace

Task<SeenFeature> Sight::look(const Feature& feature, JsonObject settings) {
    SeenFeature seen;
    seen.feature = &feature;
    seen.enabled = base::get_bool(settings, "enabled");
    call_.params["desired"] = with_wish(base::get_object(call_.params, "desired"), feature.id, settings);
    seen.settings = std::move(settings);
    for (auto& part : parts_of(feature, seen.settings)) {
        SeenPart row;
        row.part = filled(std::move(part), call_);
        CO_TRY(row.state, co_await state_of(row.part));
        seen.parts.push_back(std::move(row));
    }
    seen.status = seen.enabled ? status_when_wanted(seen) : status_when_not(seen);
    add_reasons(seen);
    co_return seen;
}

Task<bool> Sight::found_on(const Feature& feature) {
    for (auto& part : parts_of(feature, feature.defaults)) {
        if (!part.anchor) continue;
        auto whole = filled(std::move(part), call_);
        CO_TRY(auto state, co_await state_of(whole));
        if (state.stands() && state.state != "unknown") co_return true;
    }
    co_return false;
}

namespace {

// Another feature that is wanted and has the same part; "" where none has.
std::string other_user(const JsonObject& desired, const Part& part) {
    for (const auto& feature : features()) {
        if (feature.id == part.feature) continue;
        const auto settings = settings_in(desired, feature);
        if (!base::get_bool(settings, "enabled")) continue;
        for (const auto& other : parts_of(feature, settings)) {
            if (other.shared == part.shared) return feature.title;
        }
    }
    return "";
}

bool made_by_a_feature(const PartState& state) {
    return state.maker.find('.') != std::string::npos;
}

// The kind of storage that stands on it; "" where none does.
std::string storage_on(const Part& part) {
    if (part.shared == "component/fsx_csi") return "fsx_lustre";
    return part.shared == "oidc_provider" || part.shared == "component/s3_csi" ? "s3" : "";
}

Task<bool> has_storage(Clusters& env, StepCall call, std::string kind) {
    CO_TRY(auto rows, co_await storage_rows(env, call.context, eks_of(call)));
    co_return std::any_of(rows.begin(), rows.end(),
                          [&kind](const auto& row) { return base::get_string(row, "kind") == kind; });
}

Fate stays(std::string why) {
    Fate fate;
    fate.what = Fate::What::stays;
    fate.why = std::move(why);
    return fate;
}

}  // namespace

Task<Fate> fate_of(Clusters& env, StepCall call, Part part, PartState state) {
    Fate fate;
    if (!state.stands() || part.kind->remove == nullptr) co_return fate;
    if (!state.ours) co_return stays("it was not made here");
    if (!part.shared.empty()) {
        if (!made_by_a_feature(state)) co_return stays("it was there before");
        const auto user = other_user(base::get_object(call.params, "desired"), part);
        if (!user.empty()) co_return stays(user + " needs it");
        const auto* component = find_component(base::get_string(part.args, "component"));
        if (component != nullptr && component->base) co_return stays("every cluster needs it");
        if (const auto kind = storage_on(part); !kind.empty()) {
            CO_TRY(const bool needed, co_await has_storage(env, call, kind));
            if (needed) co_return stays("storage needs it");
        }
    }
    fate.what = Fate::What::goes;
    co_return fate;
}

namespace {

Task<std::size_t> count_of(Clusters& env, StepCall call, std::string api_version, std::string kind) {
    CO_TRY(auto client, co_await env.kube(call.context, eks_of(call)));
    auto resource = co_await client->resolve(call.context, api_version, kind);
    if (!resource && resource.error().kind == base::ErrorKind::not_found) co_return 0;
    if (!resource) co_return std::move(resource).error();
    auto list = co_await client->list(call.context, *resource, kube::ListOptions());
    if (!list && list.error().kind == base::ErrorKind::not_found) co_return 0;
    if (!list) co_return std::move(list).error();
    co_return base::get_array(*list, "items").size();
}

}  // namespace

Task<std::vector<std::string>> losses_of(Clusters& env, StepCall call, const Feature& feature) {
    std::vector<std::string> list;
    if (!feature.loss.empty()) list.push_back(feature.loss);
    for (const auto& [api_version, kind] : feature.kinds) {
        CO_TRY(const auto count, co_await count_of(env, call, api_version, kind));
        if (count > 0) list.push_back(std::to_string(count) + " " + kind + " with all their pods");
    }
    co_return list;
}

}  // namespace instantstart::flows
