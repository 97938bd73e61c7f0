// What HyperPod refuses of one group's specification, whatever else is there; and of managed autoscaling.
#include "domain/instance_type.h"
#include "twin/aws/sagemaker/deep_check.h"
#include "twin/aws/sagemaker/state.h"

namespace instantstart::twin::sagemaker {

namespace {

constexpr std::string_view kScalerPrincipal = "hyperpod.sagemaker.amazonaws.com";

using Verdict = std::optional<ServiceError>;

ServiceError refused(const JsonObject& group, const std::string& why) {
    return invalid("Invalid configuration of the instance group " +
                   base::get_string(group, "InstanceGroupName") + ": " + why);
}

std::vector<std::string> types_in(const JsonObject& group) {
    std::vector<std::string> types = strings(group, "InstanceRequirements.InstanceTypes");
    if (types.empty()) types = strings(group, "InstanceRequirements.DesiredInstanceTypes");
    if (types.empty()) types = {base::get_string(group, "InstanceType")};
    return types;
}

Verdict check_counts(const JsonObject& group, bool continuous) {
    const std::int64_t count = base::get_int(group, "InstanceCount"),
                       least = base::get_int(group, "MinInstanceCount");
    if (least > count) return refused(group, "MinInstanceCount must not exceed InstanceCount.");
    if (least > 0 && !continuous)
        return refused(group, "MinInstanceCount needs NodeProvisioningMode Continuous.");
    return std::nullopt;
}

Verdict check_capacity(const JsonObject& group, bool continuous) {
    const bool flexible = group.contains("InstanceRequirements");
    const bool spot = base::find_path(group, "CapacityRequirements.Spot") != nullptr;
    if (group.contains("InstanceType") == flexible && !group.contains("TargetCount"))
        return refused(group, "exactly one of InstanceType and InstanceRequirements must be given.");
    if (spot && base::find_path(group, "CapacityRequirements.OnDemand") != nullptr)
        return refused(group, "CapacityRequirements takes one of Spot and OnDemand.");
    if ((spot || flexible) && !continuous) {
        return refused(group, std::string(spot ? "Spot capacity" : "InstanceRequirements") +
                                  " needs NodeProvisioningMode Continuous.");
    }
    if (spot && group.contains("TrainingPlanArn"))
        return refused(group, "Spot capacity and a training plan exclude each other.");
    if (flexible && group.contains("TrainingPlanArn"))
        return refused(group, "InstanceRequirements and a training plan exclude each other.");
    return std::nullopt;
}

Verdict check_deep(const JsonObject& group) {
    if (base::get_array(group, "OnStartDeepHealthChecks").empty()) return std::nullopt;
    if (!base::get_array(group, "KubernetesConfig.Taints").empty())
        return refused(group, "custom taints are not supported with deep health checks.");
    for (const std::string& type : types_in(group)) {
        if (!supports_deep_checks(type))
            return refused(group, "deep health checks are not supported on " + type + ".");
    }
    return std::nullopt;
}

Verdict check_volume(const JsonObject& group, const JsonObject& volume) {
    const bool root = base::get_bool(volume, "RootVolume"), sized = volume.contains("VolumeSizeInGB");
    if (root && sized) return refused(group, "VolumeSizeInGB cannot be given for the root volume.");
    if (root && base::get_string(volume, "VolumeKmsKeyId").empty())
        return refused(group, "RootVolume needs VolumeKmsKeyId.");
    if (!root && !sized)
        return refused(group, "VolumeSizeInGB is required for a volume that is not the root.");
    return std::nullopt;
}

Verdict check_hardware(const JsonObject& group) {
    for (const JsonValue& storage : base::get_array(group, "InstanceStorageConfigs")) {
        if (!storage.get_object().contains("EbsVolumeConfig")) continue;
        if (auto bad = check_volume(group, base::get_object(storage, "EbsVolumeConfig"))) return bad;
    }
    const std::string interface = base::get_string(group, "NetworkInterface.InterfaceType");
    for (const std::string& name : types_in(group)) {
        const domain::InstanceType* type = domain::find_instance_type(name);
        if (type == nullptr) return refused(group, "unknown instance type " + name + ".");
        if (interface == "efa-only" && type->efa_interfaces == 0)
            return refused(group, name + " has no EFA interface.");
        // One hardware thread per core.
        if (base::get_int(group, "ThreadsPerCore") == 2 && type->arch == "arm64")
            return refused(group, "ThreadsPerCore 2 is not supported on " + name + ".");
    }
    return std::nullopt;
}

bool is_image(const std::string& id) {
    return id == "default" || id.starts_with("ami-");
}

}  // namespace

std::optional<ServiceError> check_group_rules(const JsonObject& group, bool continuous) {
    if (auto bad = check_counts(group, continuous)) return bad;
    if (auto bad = check_capacity(group, continuous)) return bad;
    if (auto bad = check_deep(group)) return bad;
    if (group.contains("SlurmConfig"))
        return refused(group, "SlurmConfig is not supported on clusters orchestrated by EKS.");
    if (!is_image(base::get_string(group, "ImageId", "default")))
        return refused(group, "ImageId must be the id of an AMI or default.");
    return check_hardware(group);
}

std::optional<ServiceError> check_scaling(State& state, const JsonObject& wanted, bool continuous,
                                          bool with_role) {
    const std::string role = base::get_string(wanted, "ClusterRole");
    const std::string mode = base::get_string(wanted, "AutoScaling.Mode");
    if (!role.empty() && with_role) {
        if (auto bad = check_role(state, role, kScalerPrincipal)) return bad;
    }
    if (mode != "Enable") return std::nullopt;
    if (base::get_string(wanted, "AutoScaling.AutoScalerType").empty())
        return invalid("AutoScalerType is required when AutoScaling is enabled.");
    if (!continuous) return invalid("AutoScaling needs NodeProvisioningMode Continuous.");
    if (role.empty()) return invalid("ClusterRole is required when AutoScaling is enabled.");
    if (base::get_string(wanted, "NodeRecovery") != "Automatic")
        return invalid("AutoScaling needs NodeRecovery Automatic.");
    return std::nullopt;
}

}  // namespace instantstart::twin::sagemaker
