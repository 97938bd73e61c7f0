// instance_group.update: what of an instance group can change; everything else is refused with the way round.
#include <algorithm>
#include <set>

#include "app/cluster_planning.h"
#include "app/domain_makers.h"
#include "app/group_standing.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"
#include "base/text.h"
#include "domain/group_change.h"
#include "flows/group_change_steps.h"

namespace instantstart::app {

namespace {

struct InstanceGroupUpdate : domain::GroupChange {
    InstanceGroupUpdate() = default;
    std::string cluster;
    std::string group;
};
BOOST_DESCRIBE_STRUCT(InstanceGroupUpdate, (domain::GroupChange), (cluster, group))

base::Error immutable(const std::string& group, std::vector<base::FieldError> faults) {
    std::vector<std::string> names;
    names.reserve(faults.size());
    for (const auto& fault : faults) names.push_back(fault.pointer.substr(1));
    auto error =
        base::conflict_error("immutable_field",
                             base::join(names, ", ") + " of instance group " + group + " cannot be changed")
            .with_hint("Add a new group with what is wanted (instance_group.add), drain the nodes of " +
                       group + " (kubectl drain), then delete it (instance_group.delete).");
    error.fields = std::move(faults);
    return error;
}

// What is asked for beyond what the group has already, as flows take it.
JsonObject changes_of(const InstanceGroupUpdate& input) {
    const auto all = to_json(static_cast<const domain::GroupChange&>(input));
    JsonObject changes;
    for (const char* name : {"count", "min_count", "labels", "taints", "deep_health_checks",
                             "training_plan_arn", "lifecycle_script", "autoscaled"}) {
        if (const auto* value = all.if_contains(name); value != nullptr && !value->is_null())
            changes[name] = *value;
    }
    return changes;
}

base::Result<void> check_managed(const GroupStanding& standing, const InstanceGroupUpdate& input) {
    const bool moves = input.count && *input.count != standing.group.count;
    const bool least = input.min_count.value_or(0) > standing.group.min_count.value_or(0);
    const bool leaves = input.autoscaled && !*input.autoscaled;
    if (standing.classes.empty() || (!moves && !least && !leaves)) return base::ok();
    return base::conflict_error("autoscaled_group", "managed autoscaling sets the count of instance group " +
                                                        input.group + ": HyperpodNodeClass " +
                                                        base::join(standing.classes, ", ") + " names it")
        .with_hint(
            "Change what its pods ask for or the NodePool's limits; or take the group out of the class "
            "(feature.update autoscaling with instance_groups, those that it keeps, or enabled false), then "
            "set its count.");
}

// A group that is only marked for managed autoscaling, which no class names, is its owner's: who gives it
// nodes takes the mark away, or the scaler would take the nodes away when it is switched on next.
void drop_mark(const GroupStanding& standing, InstanceGroupUpdate& input) {
    const bool marked = standing.classes.empty() && standing.group.autoscaled.value_or(false);
    const bool own = input.count.value_or(0) > 0 || input.min_count.value_or(0) > 0;
    if (marked && own && !input.autoscaled) input.autoscaled = false;
}

// Faults that the change brings; those that the group has already are none of its business.
std::vector<base::FieldError> new_faults(const domain::InstanceGroup& now,
                                         const domain::InstanceGroup& then) {
    std::set<std::string> known;
    for (const auto& fault : domain::check_group(now, "")) known.insert(fault.pointer + fault.message);
    auto faults = domain::check_group(then, "");
    std::erase_if(faults,
                  [&known](const auto& fault) { return known.contains(fault.pointer + fault.message); });
    for (auto& fault : faults) {
        if (fault.pointer == "/capacity/training_plan_arn") fault.pointer = "/training_plan_arn";
    }
    return faults;
}

// Quotas, addresses and the zone's offer, for the instances that come on top.
Task<void> check_growth(Call call, Target target, domain::InstanceGroup now, domain::InstanceGroup then,
                        Findings& found) {
    if (then.count <= now.count) co_return base::ok();
    domain::InstanceGroup more;
    more.name = now.name;
    more.instance_type = now.instance_type;
    more.instance_types = now.instance_types;
    more.interface_type = now.interface_type;
    if (now.capacity && now.capacity->type == "spot") more.capacity = now.capacity;  // its quota
    more.zone = now.zone;
    more.subnet_id = now.subnet_id;
    more.count = then.count - now.count;
    GroupRequest request;
    request.groups = {std::move(more)};
    request.at = "";
    request.cluster = target.ref.name;
    request.hyperpod = target.hyperpod;
    CO_TRY(auto growth, co_await check_instance_groups(call, std::move(request)));
    for (auto& fault : growth.faults) fault.pointer = "/count";
    merge(found, std::move(growth));
    co_return base::ok();
}

Task<void> check_plan_of(Call call, domain::InstanceGroup now, domain::InstanceGroup then, Findings& found) {
    if (!then.capacity || !then.capacity->training_plan_arn) co_return base::ok();
    const bool same = now.capacity && now.capacity->training_plan_arn == then.capacity->training_plan_arn;
    if (same && then.count <= now.count) co_return base::ok();
    // A plan that the group has already gave it what it has.
    if (same) then.count -= now.count;
    GroupRequest request;
    request.groups = {std::move(then)};
    request.at = "";
    Findings plans;
    CO_CHECK_OK(co_await check_training_plans(call, std::move(request), plans));
    for (auto& fault : plans.faults) {
        if (fault.pointer == "/capacity/training_plan_arn") fault.pointer = "/training_plan_arn";
        if (fault.pointer == "/instance_type" || fault.pointer == "/zone")
            fault.pointer = "/training_plan_arn";
    }
    merge(found, std::move(plans));
    co_return base::ok();
}

std::string count_text(std::int64_t count) {
    return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

void say_what_changes(const domain::InstanceGroup& now, const JsonObject& changes, Plan& plan) {
    for (const auto& [key, value] : changes) {
        const std::string name(key);
        if (name == "count") {
            plan.changes.push_back(now.name + ": count from " + std::to_string(now.count) + " to " +
                                   base::to_text(value));
        } else if (name == "autoscaled") {
            plan.changes.push_back(now.name + (value == JsonValue(true)
                                                   ? ": managed autoscaling may take it"
                                                   : ": managed autoscaling does not take it any more"));
        } else if (name == "training_plan_arn" && value == JsonValue("")) {
            plan.changes.push_back(now.name + ": no training plan any more");
        } else {
            plan.changes.push_back(now.name + ": " + name + " " + base::to_text(value));
        }
    }
}

void say_what_is_lost(const domain::InstanceGroup& now, const domain::InstanceGroup& then, Plan& plan) {
    const auto fewer = now.count - then.count;
    if (fewer <= 0) return;
    plan.removes.push_back(
        count_text(fewer) + " of " + std::to_string(now.count) + " of instance group " + now.name +
        " with their root and extra volumes, and what runs on them; HyperPod chooses: those "
        "that do not run, then the newest (node.delete removes chosen ones)");
}

Plan nothing_to_do(Plan plan, const GroupStanding& standing) {
    plan.no_change = true;
    plan.no_change_result =
        JsonObject{{"instance_group", standing.group.name}, {"target_count", standing.group.count}};
    return plan;
}

Task<Plan> plan(Call call, InstanceGroupUpdate input) {
    CO_TRY(auto target, co_await find_target(call, input.cluster));
    Findings found;
    CO_TRY(auto standing, co_await find_group(call, target, input.group, found));
    const auto& now = standing.group;
    auto fixed = domain::fixed_fields(now, input);
    if (!fixed.empty()) co_return immutable(now.name, std::move(fixed));
    Plan made;
    made.resource = "cluster/" + target.ref.name + "/instance-group/" + now.name;
    made.confirm_value = input.group;
    CO_CHECK_OK(check_managed(standing, input));
    drop_mark(standing, input);
    auto changes = changes_of(input);
    if (flows::is_as_asked(standing.details, changes)) co_return nothing_to_do(std::move(made), standing);
    const auto then = domain::changed(now, input);
    found.faults = new_faults(now, then);
    if (!found.faults.empty()) co_return faults_error(std::move(found.faults));
    CO_CHECK_OK(check_provisioning(target.hyperpod, domain::properties_of(then)));
    CO_CHECK_OK(co_await check_growth(call, target, now, then, found));
    CO_CHECK_OK(co_await check_plan_of(call, now, then, found));
    say_what_changes(now, changes, made);
    say_what_is_lost(now, then, made);
    if (changes.contains("lifecycle_script"))
        found.warnings.emplace_back("the script runs on nodes that start from now on");
    if (input.autoscaled.value_or(false) && standing.classes.empty()) warn_of_waiting(found);
    CO_TRY(auto params, co_await base_params(call, target));
    params["group"] = now.name;
    params["changes"] = std::move(changes);
    params["details"] = standing.details;
    params["groups"] = JsonArray{to_json(then)};  // what the plan's cost is of
    made.flow = "instance_group_update";
    made.flow_params = std::move(params);
    co_return co_await finish_plan(call, std::move(made), std::move(found));
}

// The fields of a group that a change may name, as they are there; nothing is filled in.
std::vector<Field> change_fields() {
    std::set<std::string> named;
    for (const auto& member : shape_of<domain::GroupChange>().members) named.insert(member.name);
    std::vector<Field> fields;
    for (auto& field : group_fields("")) {
        const auto top = field.name.substr(0, field.name.find('.'));
        if (!named.contains(top)) continue;
        field.default_value = nullptr;
        if (top == "deep_health_checks") field.min_length = 0;
        fields.push_back(std::move(field));
    }
    fields.push_back(Field("training_plan_arn", "The training plan whose capacity is used; \"\" for none.")
                         .length(0, 2048)
                         .matches("^$|" + std::string("^arn:aws[a-z-]*:sagemaker:.+:training-plan/.+$"))
                         .like("arn:aws:sagemaker:us-west-2:111122223333:training-plan/plan"));
    return fields;
}

}  // namespace

std::unique_ptr<Operation> make_instance_group_update() {
    Meta meta;
    meta.id = "instance_group.update";
    meta.method = "PATCH";
    meta.path = "/clusters/{cluster}/instance-groups/{group}";
    meta.summary =
        "Change an instance group: count, min_count, labels, taints, deep_health_checks, training plan, "
        "script or autoscaled; only what is named. A lower count removes nodes and asks for confirmation.";
    meta.role = Role::operator_role;
    meta.removes = Removes::by_plan;
    meta.area = "instance_groups";
    meta.shows_result = "instance_group.list";
    meta.uses = used_by_group_change();
    return make_long_running<InstanceGroupUpdate>(
        std::move(meta), joined({{cluster_field(), group_field()}, change_fields()}), &plan);
}

}  // namespace instantstart::app
