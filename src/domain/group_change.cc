#include "domain/group_change.h"

namespace instantstart::domain {

namespace {

std::string text_of(const std::string& value) {
    return value;
}
std::string text_of(std::int64_t value) {
    return std::to_string(value);
}
std::string text_of(const std::vector<std::string>& values) {
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : ", ") + value;
    return text;
}

// What is not known of the group (`now` empty) cannot be compared: naming it is taken for another value.
template <class T>
void compare(const char* pointer, const std::optional<T>& now, const std::optional<T>& wanted,
             std::vector<base::FieldError>& faults) {
    if (!wanted || (now && *now == *wanted)) return;
    base::FieldError fault;
    fault.pointer = pointer;
    fault.message = "is fixed for the group's life" + (now ? ": it is " + text_of(*now) : std::string());
    if (now) fault.allowed = {text_of(*now)};
    faults.push_back(std::move(fault));
}

}  // namespace

std::vector<base::FieldError> fixed_fields(const InstanceGroup& now, const GroupChange& change) {
    std::vector<base::FieldError> faults;
    compare("/instance_type", now.instance_type, change.instance_type, faults);
    compare("/instance_types", now.instance_types, change.instance_types, faults);
    compare<std::string>("/zone", now.zone, change.zone, faults);
    compare("/interface_type", now.interface_type, change.interface_type, faults);
    compare("/subnet_id", now.subnet_id, change.subnet_id, faults);
    compare("/volume_size_gib", now.volume_size_gib, change.volume_size_gib, faults);
    compare("/threads_per_core", now.threads_per_core, change.threads_per_core, faults);
    if (!change.capacity) return faults;
    const std::optional<std::string> type = now.capacity ? now.capacity->type : "on_demand";
    compare("/capacity/type", type, change.capacity->type, faults);
    const auto plan = now.capacity ? now.capacity->training_plan_arn : std::nullopt;
    if (change.capacity->training_plan_arn && plan != change.capacity->training_plan_arn) {
        base::FieldError fault;
        fault.pointer = "/capacity/training_plan_arn";
        fault.message = "is changed by training_plan_arn, beside capacity";
        faults.push_back(std::move(fault));
    }
    return faults;
}

InstanceGroup changed(const InstanceGroup& now, const GroupChange& change) {
    InstanceGroup made = now;
    if (change.count) made.count = *change.count;
    if (change.min_count) made.min_count = change.min_count;
    if (change.labels) made.labels = change.labels;
    if (change.taints) made.taints = change.taints;
    if (change.deep_health_checks) made.deep_health_checks = change.deep_health_checks;
    if (change.lifecycle_script) made.lifecycle_script = change.lifecycle_script;
    if (change.autoscaled) made.autoscaled = change.autoscaled;
    if (!change.training_plan_arn) return made;
    if (!made.capacity) made.capacity.emplace();
    if (change.training_plan_arn->empty()) {
        made.capacity->training_plan_arn.reset();
        if (made.capacity->type == "training_plan") made.capacity->type = "on_demand";
        return made;
    }
    made.capacity->training_plan_arn = change.training_plan_arn;
    // Spot stays Spot: that the two exclude each other is said then.
    if (made.capacity->type == "on_demand") made.capacity->type = "training_plan";
    return made;
}

}  // namespace instantstart::domain
