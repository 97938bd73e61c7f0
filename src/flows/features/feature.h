// Features: what can be switched on in a running cluster, as a table. A feature is a chain of parts, each of
// which is looked at for real, brought, and removed again. From this table come feature.list, the plans of
// feature.update and the steps of its flow; nothing of a feature stands anywhere else.
//
// Who made a part is written on the part itself: AWS objects carry our tags, their step tag being
// "<feature>.<part>"; Kubernetes objects carry the label managed-by and "instantstart.dev/feature". So a part
// that stood before, or that others made, is used and never removed. What is wanted is in the store
// (desired.h).
//
// To add one: a file <feature>.cc with a function that returns its Feature, a row in table.cc, its switch in
// app/feature_inputs.h, its calls in app/used_calls.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domain/instance_group.h"
#include "flows/step_kit.h"

namespace instantstart::flows {

struct Part;

// How a part stands.
struct PartState {
    PartState() = default;
    explicit PartState(std::string state) : state(std::move(state)) {}
    // absent, drifted (there, and not as it should be), starting, waiting_for_nodes, failed, ready; unknown
    // where the API server says nothing (never in a step).
    std::string state = "absent";
    std::string detail;  // why, in words
    bool ours = false;   // carries our marks
    std::string maker;   // ours: "<feature>.<part>", or the step of another operation ("cert_manager")
    bool stands() const { return state != "absent"; }
    bool is_well() const { return state == "ready" || state == "waiting_for_nodes"; }
};
PartState of_state(std::string state, std::string detail = "");

using PartLook = Task<PartState> (*)(Clusters& env, StepCall call, Part part);
using PartAct = Task<JsonObject> (*)(Clusters& env, StepCall call, Part part);

// A kind of part. `make` brings it or repairs it, with one look before: it is repeated until `look` is well.
// Without `make` it is only waited for; without `remove` there is nothing to take back.
struct PartKind {
    std::string_view noun;                                                  // "role", shown
    std::string (*name)(const StepCall& call, const Part& part) = nullptr;  // of a part without one
    PartLook look = nullptr;
    PartAct make = nullptr;
    PartAct remove = nullptr;
    bool iam = false;          // a role made moments ago may not be known to it yet
    bool hyperpod = false;     // one at a time with all that changes the HyperPod cluster
    bool looks_first = false;  // its create call has neither token nor unique name: after an unknown outcome
                               // it is looked for before it is made again
    double minutes = 0.1;      // AWS's typical time to bring it
};

struct Part {
    Part() = default;
    Part(std::string id, const PartKind& kind, std::string name, JsonObject args)
        : id(std::move(id)), name(std::move(name)), kind(&kind), args(std::move(args)) {}
    std::string id;    // unique in its feature: "role"
    std::string name;  // what users know it by; "$path" is filled in: "EKS add-on cert-manager"
    const PartKind* kind = nullptr;
    JsonObject args;      // of its kind; "$desired.<feature>.<setting>" and other parameters are filled in
    std::string tag;      // "<feature>.<id>", set by the table
    std::string feature;  // set by the table
    // Parts of several features with the same key are one object ("component/cert_manager"): removed only
    // where a feature brought it and nobody else wants it.
    std::string shared;
    bool anchor =
        false;  // the feature counts as on where this stands, in a cluster of which no wish is known
    std::string (*document)(const StepCall&) = nullptr;  // of a role: its permissions
    base::Result<std::vector<JsonObject>> (*objects)(const StepCall&) = nullptr;  // of Kubernetes objects
    JsonObject (*configuration)(const StepCall&) =
        nullptr;  // of an add-on: its configuration, checked for drift
    Part&& anchors() &&;
    Part&& configured(JsonObject (*values)(const StepCall&)) &&;
    Part&& grants(std::string (*permissions)(const StepCall&)) &&;
    Part&& applies(base::Result<std::vector<JsonObject>> (*made)(const StepCall&)) &&;
};

struct Exclusion {
    Exclusion() = default;
    Exclusion(std::string feature, std::string why) : feature(std::move(feature)), why(std::move(why)) {}
    std::string feature;
    std::string why;  // "the add-on brings KEDA of its own"
};

struct Feature {
    Feature() = default;
    std::string id;                  // "tiered_checkpointing"
    std::string title;               // "Managed tiered checkpointing"
    std::string summary;             // one sentence on what it gives
    JsonObject defaults;             // its settings beside "enabled"
    std::vector<std::string> needs;  // features that must be on
    std::vector<Exclusion> excludes;
    bool needs_hyperpod = false;
    bool needs_nodes = false;  // its pods want a Ready node
    bool alone = false;  // begins once all other chains of the request have ended; stands last in the table
    std::string loss;    // what is lost beside the parts when it is switched off
    // Kinds that go with it, with all their objects: {apiVersion, kind}.
    std::vector<std::pair<std::string, std::string>> kinds;
    // Its parts in order, each after the one before; removed in the reverse order. From its settings alone.
    std::vector<Part> (*parts)(const JsonObject& settings) = nullptr;
    // Why it cannot be switched on here and now, with the way out: one sentence each.
    Task<std::vector<std::string>> (*obstacles)(Clusters& env, StepCall call) = nullptr;
    // What is wrong with its settings by themselves; pointers below the feature's own. May be null.
    std::vector<base::FieldError> (*faults)(const JsonObject& settings) = nullptr;
    // What would stop it in a cluster that is only being made, with these groups; pointers below the
    // feature's own. May be null.
    std::vector<base::FieldError> (*launch_faults)(const std::vector<domain::InstanceGroup>& groups,
                                                   const JsonObject& settings) = nullptr;
    // Its settings as the HyperPod cluster shows them, where no wish is known; may be null.
    JsonObject (*seen)(const JsonObject& hyperpod) = nullptr;
};

const std::vector<Feature>& features();
const Feature* find_feature(std::string_view id);
// Its parts with tag and feature set.
std::vector<Part> parts_of(const Feature& feature, const JsonObject& settings);
// `args` and `name` with parameters and results filled in.
Part filled(Part part, const StepCall& call);
// Settings of a feature in the wished state, completed by its defaults ({"enabled": …} included).
JsonObject settings_in(const JsonObject& desired, const Feature& feature);

// `desired` with these settings of one feature.
JsonObject with_wish(JsonObject desired, const std::string& feature, JsonObject settings);

}  // namespace instantstart::flows
