// Step kit: short ways to write steps. A body is a free coroutine function that gets the services, the call
// and the row's own arguments; a step is a row that names them. Nothing here knows a particular flow.
#pragma once

#include <string>
#include <vector>

#include "domain/names.h"
#include "domain/policies.h"
#include "flows/clusters.h"
#include "ops/step.h"

namespace instantstart::flows {

using ops::Observation;
using ops::Presence;
using ops::Repeat;
using ops::Schedule;
using ops::Step;
using ops::StepCall;

using ObserveBody = Task<Observation> (*)(Clusters& env, StepCall call, JsonObject args);
using ActBody = Task<JsonObject> (*)(Clusters& env, StepCall call, JsonObject args);

// Schedules: cap of the poll interval and AWS's typical duration.
Schedule quick();  // answers at once
Schedule minutes_of(double typical_minutes, int cap_seconds);

// One row of a step table.
struct Row {
    Row() = default;
    Row(std::string id, std::string title, std::vector<std::string> needs)
        : id(std::move(id)), title(std::move(title)), needs(std::move(needs)) {}
    std::string id, title;
    std::vector<std::string> needs;
    ObserveBody observe = nullptr;
    ActBody act = nullptr;
    JsonObject args;
    Schedule schedule = quick();
    Repeat repeat = Repeat::repeatable;
    std::string action = "create";
    bool waits_for_iam = false;
    std::string lease;  // what must not be read and written by two steps at once
    base::Duration wait_budget = std::chrono::seconds(180);

    Row&& does(ObserveBody looks, ActBody acts) &&;
    Row&& with(JsonObject arguments) &&;
    Row&& takes(Schedule duration) &&;
    Row&& looks_first() &&;  // EC2's creates without token or unique name
    Row&& iam() &&;          // a role made moments ago may not be known yet
    Row&& as(std::string plan_action) &&;
    Row&& alone(std::string lease_name) &&;
    Row&& waits(base::Duration budget) &&;  // how long what waiting heals is waited for
};
Step make_step(Clusters& env, Row row);

// The steps of a flow under construction.
class Steps {
public:
    explicit Steps(Clusters& env) : env_(env) {}
    void add(Row row) { list_.push_back(make_step(env_, std::move(row))); }
    // A step that has nothing to do: its result is known from the parameters.
    void known(std::string id, std::string title, JsonObject result);
    bool has(std::string_view id) const;
    std::vector<Step> take() { return std::move(list_); }
    // Ids among `wanted` that this flow has: what a shared step waits for.
    std::vector<std::string> those_of(std::vector<std::string> wanted) const;
    std::vector<std::string> all_ids() const;

private:
    Clusters& env_;
    std::vector<Step> list_;
};

// "@step.key" → a member of that step's result, "$path" → of the flow's parameters; at every level.
JsonValue resolve(const JsonValue& value, const StepCall& call);
JsonObject resolved(const JsonObject& object, const StepCall& call);

// Who the step's object belongs to; `role` replaces the step's id where several flows make the same object.
domain::Owner owner_of(const StepCall& call, std::string_view role = "");
domain::PolicyScope scope_of(const StepCall& call);
std::string cluster_of(const StepCall& call);
std::string eks_of(const StepCall& call);

// EC2's tag filters for an object of this cluster with that role.
JsonArray tag_filters(const StepCall& call, std::string_view role);
JsonObject filter(std::string_view name, std::string_view value);

bool has_code(const base::Error& error, std::initializer_list<std::string_view> codes);
bool is_absent(const base::Error& error);         // NotFound in any of AWS's words
bool is_duplicate(const base::Error& error);      // it is already there
bool names_a_new_role(const base::Error& error);  // the service does not know the role yet

// For the one call that shows how far a step has come: while the step is on its way, it is made once, and
// what it misses now the next look sees.
aws::CallOptions look(const StepCall& call);

// An act's outcome where "already there" or "already gone" is as good as done.
Task<JsonObject> mutate(Clusters& env, StepCall call, std::string service, std::string operation,
                        JsonObject parameters);
// The same as the last word of a step: well answered, it is done.
Task<JsonObject> settle(Clusters& env, StepCall call, std::string service, std::string operation,
                        JsonObject parameters);
// True while an object made moments ago may still be hidden from Describe; `memory` is what the act returned.
bool is_fresh(Clusters& env, const StepCall& call);
// What an act returns: its object's id and when it was made.
JsonObject made(Clusters& env, std::string id);

}  // namespace instantstart::flows
