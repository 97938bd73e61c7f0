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

void check_capacity(const InstanceGroup& group, const std::string& at, std::vector<FieldError>& faults) {
    if (group.min_count && *group.min_count > group.count) {
        faults.push_back(
            fault(at + "/min_count", "must not be above count (" + std::to_string(group.count) + ")"));
    }
    const auto type = group.capacity ? group.capacity->type : "on_demand";
    const bool plan = group.capacity && group.capacity->training_plan_arn;
    if (type == "training_plan" && !plan) {
        faults.push_back(
            fault(at + "/capacity/training_plan_arn", "is needed with capacity type training_plan"));
    }
    if (type != "training_plan" && plan) {
        faults.push_back(
            fault(at + "/capacity/training_plan_arn", "goes with capacity type training_plan only"));
    }
    if (type == "training_plan" && group.types().size() > 1) {
        faults.push_back(fault(at + "/instance_types", "a training plan is for one instance type"));
    }
    if (type == "training_plan") {
        for (const auto& name : group.types()) {
            const auto* known = find_instance_type(name);
            if (known != nullptr && !known->training_plan) {
                faults.push_back(fault(at + "/instance_type", name + " cannot be had by a training plan"));
            }
        }
    }
    const bool managed = group.autoscaled.value_or(false);
    if (managed && type == "training_plan") {
        faults.push_back(fault(at + "/autoscaled", "managed autoscaling does not work with training plans"));
    }
    if (managed && group.deep_health_checks) {
        faults.push_back(
            fault(at + "/autoscaled", "managed autoscaling does not work with deep health checks"));
    }
    if (managed && group.count > 0) {
        faults.push_back(fault(at + "/count", "must be 0 for an autoscaled group: the scaler alone sets it"));
    }
}

// Arm processors, Grace among them, have no second thread.
bool one_thread_a_core(const InstanceType& type) {
    return type.arch == "arm64" || type.name.starts_with("ml.p6e-gb200.");
}

void check_hardware(const InstanceGroup& group, const std::string& at, std::vector<FieldError>& faults) {
    for (const auto& name : group.types()) {
        const auto* type = find_instance_type(name);
        if (type == nullptr) continue;
        const bool checkable = type->is_gpu() || type->name.starts_with("ml.trn");
        if (group.deep_health_checks && !checkable) {
            faults.push_back(
                fault(at + "/deep_health_checks", "run on GPU and Trainium types only, not on " + name));
        }
        if (group.interface_type && type->efa_interfaces == 0) {
            faults.push_back(fault(at + "/interface_type", name + " has no EFA interface"));
        }
        if (group.threads_per_core == 2 && one_thread_a_core(*type)) {
            faults.push_back(fault(at + "/threads_per_core", name + " has one thread a core"));
        }
    }
    if (group.deep_health_checks && group.taints && !group.taints->empty()) {
        faults.push_back(
            fault(at + "/taints", "custom taints are refused on groups with deep health checks"));
    }
    if (group.kms_key_arn && !group.volume_size_gib) {
        faults.push_back(fault(at + "/kms_key_arn", "encrypts the extra volume: give volume_size_gib, too"));
    }
    if (group.security_group_ids && !group.subnet_id) {
        faults.push_back(
            fault(at + "/security_group_ids", "are of the VPC that subnet_id names: give subnet_id, too"));
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

std::vector<FieldError> check_group(const InstanceGroup& group, const std::string& at) {
    std::vector<FieldError> faults;
    check_types(group, at, faults);
    check_capacity(group, at, faults);
    check_hardware(group, at, faults);
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
