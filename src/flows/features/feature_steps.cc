#include "flows/features/feature_steps.h"

#include <algorithm>
#include <map>

#include "flows/eks_steps.h"
#include "flows/features/desired.h"
#include "flows/features/kinds.h"
#include "flows/features/sight.h"
#include "ops/proof.h"

namespace instantstart::flows {

namespace {

const Feature& feature_of(const JsonObject& args) {
    const auto* feature = find_feature(base::get_string(args, "feature"));
    CHECK(feature != nullptr);
    return *feature;
}

// The part that a step is about, filled in.
Part part_of_step(const StepCall& call, const JsonObject& args) {
    const auto& feature = feature_of(args);
    const auto settings = settings_in(base::get_object(call.params, "features"), feature);
    Part found;
    for (auto& part : parts_of(feature, settings)) {
        if (part.id == base::get_string(args, "part")) found = std::move(part);
    }
    CHECK(found.kind != nullptr);
    return filled(std::move(found), call);
}

// What waiting does not heal: an object of somebody else's in the way.
bool is_final(const base::Error& error) {
    return has_code(error, {"not_ours", "bucket_taken", "addon_failed"});
}

Observation waiting_or(const PartState& state, Observation otherwise) {
    if (state.state != "starting") return otherwise;
    return ops::in_progress(state.detail);
}

Observation failed(const Part& part, const PartState& state) {
    return ops::impossible(
        base::conflict_error("part_failed", part.name + " failed: " + state.detail)
            .with_hint("Mend what it names, then retry the operation; operation.retry goes on from here."));
}

Task<Observation> observe_part(Clusters& env, StepCall call, JsonObject args) {
    const auto part = part_of_step(call, args);
    auto seen = co_await part.kind->look(env, call, part);
    if (!seen && is_final(seen.error())) co_return ops::impossible(std::move(seen).error());
    CO_TRY(auto state, std::move(seen));
    if (state.is_well()) co_return ops::done({{"state", state.state}});
    if (part.kind->make == nullptr) co_return ops::in_progress(state.detail);
    // One that failed is made once more from the ground up.
    if (state.state == "failed" && is_remade(call)) co_return failed(part, state);
    if (state.state == "absent" && is_fresh(env, call))
        co_return ops::in_progress("waiting until AWS shows " + part.name);
    auto missing = ops::absent();
    missing.detail = state.detail;
    co_return waiting_or(state, std::move(missing));
}

Task<JsonObject> make_part(Clusters& env, StepCall call, JsonObject args) {
    const auto part = part_of_step(call, args);
    CO_TRY(auto memory, co_await part.kind->make(env, call, part));
    if (is_remade(call)) memory["removed_in"] = call.attempt;
    env.forget(eks_of(call));
    co_return memory;
}

Task<Observation> observe_part_gone(Clusters& env, StepCall call, JsonObject args) {
    const auto part = part_of_step(call, args);
    auto seen = co_await part.kind->look(env, call, part);
    if (!seen && seen.error().code == "not_ours") co_return ops::skipped(seen.error().message);
    CO_TRY(auto state, std::move(seen));
    CO_TRY(auto fate, co_await fate_of(env, call, part, state));
    if (fate.what == Fate::What::stays) co_return ops::skipped("stays: " + fate.why);
    if (fate.what == Fate::What::gone) co_return ops::done({});
    if (base::get_bool(call.memory, "asked") && state.state == "starting")
        co_return ops::in_progress("waiting until " + part.name + " is gone");
    co_return ops::absent();
}

Task<JsonObject> remove_part(Clusters& env, StepCall call, JsonObject args) {
    const auto part = part_of_step(call, args);
    CO_CHECK_OK(co_await part.kind->remove(env, call, part));
    env.forget(eks_of(call));
    co_return JsonObject{{"asked", true}};
}

// --- what is wanted

Task<Observation> observe_desired(Clusters& env, StepCall call, JsonObject) {
    CO_TRY(auto known, co_await desired_features(env, call.context, cluster_of(call)));
    if (known == base::get_object(call.params, "desired")) co_return ops::done({});
    co_return ops::absent();
}

Task<JsonObject> act_desired(Clusters& env, StepCall call, JsonObject) {
    CO_CHECK_OK(co_await remember_features(env, call.context, cluster_of(call),
                                           base::get_object(call.params, "desired")));
    co_return JsonObject{};
}

// --- chains

using Ids = std::vector<std::string>;

// The step that brings or removes a part within this flow, by the part's shared key.
using SharedSteps = std::map<std::string, std::string>;

// A part that the surrounding flow brings by a step of its own.
std::string step_of_flow(const Steps& steps, const Part& part) {
    const auto component = base::get_string(part.args, "component");
    const auto id = component.empty() ? part.id : component;
    return !part.shared.empty() && steps.has(id) ? id : "";
}

Schedule schedule_of(const Part& part) {
    auto schedule = minutes_of(part.kind->minutes, 5);
    schedule.limit = std::chrono::minutes(30);
    return schedule;
}

Row row_of(const StepCall& call, const Part& part, std::string id, Ids needs, bool makes) {
    const auto name = filled(part, call).name;
    Row row(std::move(id), (makes ? "Bring " : "Remove ") + name, std::move(needs));
    row.args = {{"feature", part.feature}, {"part", part.id}};
    row.observe = makes ? &observe_part : &observe_part_gone;
    if (makes) {
        row.act = part.kind->make == nullptr ? nullptr : &make_part;
    } else {
        row.act = part.kind->remove == nullptr ? nullptr : &remove_part;
    }
    row.action = makes ? (row.act == nullptr ? "check" : "create") : "delete";
    row.waits_for_iam = part.kind->iam;
    if (part.kind->looks_first) row.repeat = Repeat::look_first;
    row.schedule = schedule_of(part);
    if (part.kind->hyperpod) row.lease = "hyperpod/" + cluster_of(call);
    return row;
}

struct Chains {
    StepCall call;  // parameters alone
    Ids first;      // what every chain waits for
    SharedSteps shared;
    std::map<std::string, Ids> ends;  // feature → steps that end its chain
};

// Steps of features that this one needs, or that had to go before it.
Ids before(const Chains& chains, const Feature& feature) {
    Ids ids = chains.first;
    const auto add = [&](const std::string& other) {
        if (const auto at = chains.ends.find(other); at != chains.ends.end())
            ids.insert(ids.end(), at->second.begin(), at->second.end());
    };
    for (const auto& other : feature.needs) add(other);
    for (const auto& other : feature.excludes) add(other.feature);
    if (feature.alone) {
        for (const auto& [other, ends] : chains.ends) add(other);
    }
    return ids;
}

void add_chain_on(Steps& steps, Chains& chains, const Feature& feature, const JsonObject& settings) {
    Ids needs = before(chains, feature);
    for (const auto& part : parts_of(feature, settings)) {
        auto id = step_of_flow(steps, part);
        if (id.empty() && chains.shared.contains(part.shared)) id = chains.shared[part.shared];
        if (id.empty()) {
            id = part.tag;
            steps.add(row_of(chains.call, part, id, needs, true));
            if (!part.shared.empty()) chains.shared[part.shared] = id;
        }
        // What is shared has other users' order; this chain goes on only after both.
        if (std::find(needs.begin(), needs.end(), id) == needs.end()) {
            if (!part.shared.empty()) {
                needs.push_back(id);
            } else {
                needs = {id};
            }
        }
    }
    chains.ends[feature.id] = needs;
}

// Shared parts go once all chains that end with them have let go.
void add_chain_off(Steps& steps, Chains& chains, const Feature& feature, const JsonObject& settings,
                   std::map<std::string, std::pair<Part, Ids>>& last) {
    Ids needs = chains.first;
    auto parts = parts_of(feature, settings);
    std::reverse(parts.begin(), parts.end());
    Ids ends;
    for (const auto& part : parts) {
        if (part.kind->remove == nullptr) continue;
        if (!part.shared.empty()) {
            auto& entry = last.try_emplace(part.shared, part, Ids()).first->second;
            entry.second.insert(entry.second.end(), needs.begin(), needs.end());
            continue;
        }
        auto id = part.tag + "_removed";
        steps.add(row_of(chains.call, part, id, needs, false));
        needs = {id};
    }
    chains.ends[feature.id] = needs;
}

Ids unique(Ids ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

void add_switched_off(Steps& steps, Chains& chains, const JsonObject& changed) {
    std::map<std::string, std::pair<Part, Ids>> last;
    Ids order;  // shared keys as they come in the reverse chains
    for (const auto& feature : features()) {
        const auto settings = settings_in(changed, feature);
        if (!changed.contains(feature.id) || base::get_bool(settings, "enabled")) continue;
        add_chain_off(steps, chains, feature, settings, last);
        for (const auto& part : parts_of(feature, settings)) {
            if (!part.shared.empty() && std::find(order.begin(), order.end(), part.shared) == order.end())
                order.push_back(part.shared);
        }
    }
    std::reverse(order.begin(), order.end());
    Ids former;
    for (const auto& key : order) {
        auto& [part, needs] = last.at(key);
        needs.insert(needs.end(), former.begin(), former.end());
        auto id = part.tag + "_removed";
        steps.add(row_of(chains.call, part, id, unique(needs), false));
        former = {id};
        for (auto& [feature, ends] : chains.ends) ends.push_back(id);
    }
}

void add_desired(Steps& steps, Ids needs) {
    steps.add(Row("desired", "Record what is wanted", std::move(needs))
                  .does(&observe_desired, &act_desired)
                  .as("change"));
}

}  // namespace

void add_features(Steps& steps, const JsonObject& params, std::vector<std::string> needs) {
    const auto& changed = base::get_object(params, "features");
    add_desired(steps, needs);
    Chains chains;
    chains.call.params = params;
    chains.first = std::move(needs);
    chains.first.emplace_back("desired");
    add_switched_off(steps, chains, changed);
    // Needed ones stand before those that need them in the table.
    for (const auto& feature : features()) {
        const auto settings = settings_in(changed, feature);
        if (!changed.contains(feature.id) || !base::get_bool(settings, "enabled")) continue;
        add_chain_on(steps, chains, feature, settings);
    }
}

std::vector<Step> feature_update_steps(Clusters& env, const JsonObject& params) {
    Steps steps(env);
    add_find_eks(steps);
    add_access(steps, params);
    add_features(steps, params, {"eks", "kubernetes_access"});
    return steps.take();
}

}  // namespace instantstart::flows
