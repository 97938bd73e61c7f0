#include "domain/instance_group.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/instance_type.h"

namespace instantstart::domain {

namespace {

using base::FieldError;

FieldError fault(std::string pointer, std::string message) {
    FieldError made;
    made.pointer = std::move(pointer);
    made.message = std::move(message);
    return made;
}

void check_types(const InstanceGroup& group, const std::string& at, std::vector<FieldError>& faults) {
    if (group.instance_type.has_value() == group.instance_types.has_value()) {
        faults.push_back(fault(at + "/instance_type", "give either instance_type or instance_types"));
        return;
    }
    std::size_t index = 0;
    std::set<std::string> seen;
    for (const auto& name : group.types()) {
        const auto pointer =
            group.instance_type ? at + "/instance_type" : at + "/instance_types/" + std::to_string(index);
        ++index;
        if (!seen.insert(name).second) faults.push_back(fault(pointer, "is named twice"));
        if (find_instance_type(name) != nullptr) continue;
        auto unknown = fault(pointer, "is no instance type of HyperPod");
        std::vector<std::string> known;
        for (const auto& type : instance_types()) known.push_back(type.name);
        unknown.did_you_mean = base::nearest(name, known);
        faults.push_back(std::move(unknown));
    }
}

void add_properties_of_types(const InstanceGroup& group, Properties& found) {
    for (const auto& name : group.types()) {
        const auto* type = find_instance_type(name);
        if (type == nullptr) continue;
        const bool checkable = type->is_gpu() || type->name.starts_with("ml.trn");
        if (!checkable) found.emplace("type_without_checks", name);
        if (!type->training_plan) found.emplace("type_without_plan", name);
        if (type->efa_interfaces == 0) found.emplace("type_without_efa", name);
        if (type->arch != "arm64") continue;
        found.emplace("one_thread_type", name);  // such processors have no second thread
        found.emplace("arm64_type", name);
    }
}

void check_own_things(const InstanceGroup& group, const std::string& at, std::vector<FieldError>& faults) {
    if (group.kms_key_arn && !group.volume_size_gib) {
        faults.push_back(fault(at + "/kms_key_arn", "encrypts the extra volume: give volume_size_gib, too"));
    }
    if (group.security_group_ids && !group.subnet_id) {
        faults.push_back(
            fault(at + "/security_group_ids", "are of the VPC that subnet_id names: give subnet_id, too"));
    }
    for (const auto& [key, value] : group.labels.value_or(std::map<std::string, std::string>())) {
        if (key.starts_with(kOwnLabels)) {
            faults.push_back(fault(at + "/labels/" + key,
                                   "is one of this product's own labels: leave it out; autoscaled sets it"));
        }
    }
    if (group.lifecycle_script && !group.lifecycle_script->starts_with("s3://sagemaker-")) {
        faults.push_back(fault(at + "/lifecycle_script",
                               "must begin with s3://sagemaker-: the nodes' role reads no other bucket"));
    }
}

}  // namespace

std::vector<std::string> InstanceGroup::types() const {
    if (instance_types) return *instance_types;
    return instance_type ? std::vector<std::string>{*instance_type} : std::vector<std::string>{};
}

Properties properties_of(const InstanceGroup& group) {
    Properties found;
    const auto type = group.capacity ? group.capacity->type : "on_demand";
    const bool plan = group.capacity && group.capacity->training_plan_arn;
    found.emplace(type == "training_plan" ? "plan_type" : type, "");
    found.emplace(plan ? "plan_arn" : "no_plan_arn", "");
    if (group.types().size() > 1) found.emplace("flexible", "");
    if (group.deep_health_checks && !group.deep_health_checks->empty()) found.emplace("deep_checks", "");
    if (group.taints && !group.taints->empty()) found.emplace("custom_taints", "");
    if (group.interface_type) found.emplace("interface_mode", "interface_type " + *group.interface_type);
    if (group.threads_per_core == 2) found.emplace("two_threads", "");
    if (group.autoscaled.value_or(false)) found.emplace("autoscaled", "");
    if (group.count > 0) found.emplace("own_count", "count " + std::to_string(group.count));
    if (group.min_count.value_or(0) > 0) {
        found.emplace("minimum", "min_count " + std::to_string(*group.min_count));
        if (*group.min_count > group.count)
            found.emplace("smaller_count", "count " + std::to_string(group.count));
    }
    add_properties_of_types(group, found);
    return found;
}

std::vector<FieldError> check_group(const InstanceGroup& group, const std::string& at) {
    std::vector<FieldError> faults;
    check_types(group, at, faults);
    for (auto& pair : excluded(properties_of(group), at)) faults.push_back(std::move(pair));
    check_own_things(group, at, faults);
    return faults;
}

std::vector<FieldError> check_groups(const std::vector<InstanceGroup>& groups, const std::string& at,
                                     const std::vector<std::string>& taken) {
    std::vector<FieldError> faults;
    std::set<std::string> names(taken.begin(), taken.end());
    for (std::size_t index = 0; index < groups.size(); ++index) {
        const auto pointer = at + "/" + std::to_string(index);
        auto of_group = check_group(groups[index], pointer);
        faults.insert(faults.end(), of_group.begin(), of_group.end());
        if (!names.insert(groups[index].name).second) {
            faults.push_back(fault(pointer + "/name", "another group has this name"));
        }
    }
    return faults;
}

std::int64_t addresses_per_node(const InstanceGroup& group) {
    std::int64_t most = 0;
    for (const auto& name : group.types()) {
        const auto* type = find_instance_type(name);
        if (type == nullptr) continue;
        const auto first_card =
            type->ipv4_per_interface > 0 ? std::min<std::int64_t>(type->ipv4_per_interface, 50) : 50;
        const bool bare = group.interface_type == "efa-only";
        const auto further = bare ? 0 : std::max<std::int64_t>(0, type->network_cards - 1);
        most = std::max(most, first_card + further);
    }
    return most;
}

}  // namespace instantstart::domain
