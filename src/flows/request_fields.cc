#include "flows/request_fields.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <utility>

#include "aws/model/model.h"
#include "base/text.h"

namespace instantstart::flows {

namespace {

constexpr auto kRows = std::to_array<FieldRow>({
    {"ec2", "CreateVpc", "CidrBlock", "/network/vpc_cidr"},
    {"ec2", "CreateVpc", "TagSpecifications.*.Tags.*.**", "/tags/{Key}"},

    {"iam", "CreateRole", "PermissionsBoundary", "/permissions_boundary_arn"},
    {"iam", "CreateRole", "RoleName", "/name"},
    {"iam", "CreateRole", "Tags", "/tags"},
    {"iam", "CreateRole", "Tags.*.**", "/tags/{Key}"},

    {"eks", "CreateCluster", "name", "/name"},
    {"eks", "CreateCluster", "version", "/kubernetes_version"},
    {"eks", "CreateCluster", "resourcesVpcConfig.publicAccessCidrs.**", "/network/api_cidrs/**"},
    {"eks", "CreateCluster", "resourcesVpcConfig.subnetIds.**", "/network/subnet_ids/**"},
    {"eks", "CreateCluster", "logging.clusterLogging.*.types.*", "/log_types/*2"},
    {"eks", "CreateCluster", "encryptionConfig.*.provider.keyArn", "/kms_key_arn"},
    {"eks", "CreateCluster", "tags", "/tags"},
    {"eks", "CreateCluster", "tags.**", "/tags/**"},
    {"eks", "CreateAccessEntry", "clusterName", "/name"},
    {"eks", "CreateAccessEntry", "principalArn", "/admin_principals"},
    {"eks", "CreateAccessEntry", "tags", "/tags"},
    {"eks", "CreateAccessEntry", "tags.**", "/tags/**"},

    {"s3", "CreateBucket", "Bucket", "/name"},
    {"s3", "HeadBucket", "Bucket", "/storage/bucket"},

    {"sagemaker", "CreateCluster", "ClusterName", "/name"},
    {"sagemaker", "CreateCluster", "NodeRecovery", "/node_recovery"},
    {"sagemaker", "CreateCluster", "Tags", "/tags"},
    {"sagemaker", "CreateCluster", "Tags.*.**", "/tags/{Key}"},
    {"sagemaker", "CreateCluster", "VpcConfig.SecurityGroupIds.*", "/instance_groups/0/security_group_ids/*"},
    {"sagemaker", "CreateCluster", "VpcConfig.Subnets.*", "/instance_groups/0/subnet_id"},
    {"sagemaker", "CreateCluster", "InstanceGroups", "/instance_groups"},

    {"sagemaker", "UpdateCluster", "ClusterName", "/cluster"},
});

// Of one group, below InstanceGroups.N; the pointer below the group.
struct GroupRow {
    std::string_view path, pointer;
};
constexpr auto kGroupRows = std::to_array<GroupRow>({
    {"InstanceGroupName", "/name"},
    {"InstanceCount", "/count"},
    {"MinInstanceCount", "/min_count"},
    {"InstanceType", "/instance_type"},
    {"InstanceRequirements.InstanceTypes.**", "/instance_types/**"},
    {"ThreadsPerCore", "/threads_per_core"},
    {"OnStartDeepHealthChecks.**", "/deep_health_checks/**"},
    {"ImageId", "/image_id"},
    {"ExecutionRole", "/execution_role_arn"},
    {"LifeCycleConfig.SourceS3Uri", "/lifecycle_script"},
    {"LifeCycleConfig.OnCreate", "/lifecycle_script"},
    {"KubernetesConfig.Labels", "/labels"},
    {"KubernetesConfig.Labels.**", "/labels/**"},
    {"KubernetesConfig.Taints", "/taints"},
    {"KubernetesConfig.Taints.*.Key", "/taints/*/key"},
    {"KubernetesConfig.Taints.*.Value", "/taints/*/value"},
    {"KubernetesConfig.Taints.*.Effect", "/taints/*/effect"},
    {"InstanceStorageConfigs.*.EbsVolumeConfig.VolumeSizeInGB", "/volume_size_gib"},
    {"InstanceStorageConfigs.*.EbsVolumeConfig.VolumeKmsKeyId", "/kms_key_arn"},
    {"NetworkInterface.InterfaceType", "/interface_type"},
    {"TrainingPlanArn", "/capacity/training_plan_arn"},
    {"OverrideVpcConfig.SecurityGroupIds.*", "/security_group_ids/*"},
    {"OverrideVpcConfig.SecurityGroupIds", "/security_group_ids"},
    {"OverrideVpcConfig.Subnets.*", "/subnet_id"},
});

std::string escaped(std::string_view part) {
    std::string out;
    for (const char c : part) {
        if (c == '~') out += "~0";
        if (c == '/') out += "~1";
        if (c != '~' && c != '/') out += c;
    }
    return out;
}

struct Match {
    Match() = default;
    std::vector<std::string> stars;  // what each "*" stood for
    std::string rest;                // what "**" stood for
    std::string item;                // path of the item that the last "*" stands for
};

std::optional<Match> match(std::string_view pattern, const std::string& path) {
    Match found;
    const auto parts = base::split(path, '.');
    std::size_t at = 0;
    for (const std::string& wanted : base::split(pattern, '.')) {
        if (wanted == "**") {
            if (at >= parts.size()) return std::nullopt;
            found.rest = base::join({parts.begin() + static_cast<std::ptrdiff_t>(at), parts.end()}, ".");
            return found;
        }
        if (at >= parts.size()) return std::nullopt;
        if (wanted == "*") {
            found.stars.push_back(parts[at]);
            found.item =
                base::join({parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(at) + 1}, ".");
        } else if (wanted != parts[at]) {
            return std::nullopt;
        }
        ++at;
    }
    if (at != parts.size()) return std::nullopt;
    return found;
}

// The pointer with its marks filled in, in one pass: what is put in may hold marks of its own.
std::string filled(std::string_view pointer, const Match& found, const JsonObject& request) {
    std::string out;
    const auto takes = [&pointer](std::string_view mark) {
        if (!pointer.starts_with(mark)) return false;
        pointer.remove_prefix(mark.size());
        return true;
    };
    while (!pointer.empty()) {
        if (takes("{Key}")) {
            out += escaped(base::get_string(request, found.item + ".Key"));
        } else if (takes("**")) {
            out += escaped(found.rest);
        } else if (takes("*2")) {
            out += escaped(found.stars.at(1));
        } else if (takes("*")) {
            out += escaped(found.stars.back());
        } else {
            out += pointer.front();
            pointer.remove_prefix(1);
        }
    }
    return out;
}

// "InstanceGroups.2.ImageId": the group and the rest.
struct InGroup {
    InGroup() = default;
    std::string index, rest;
};
std::optional<InGroup> in_group(const std::string& service, const std::string& path) {
    constexpr std::string_view kStart = "InstanceGroups.";
    if (service != "sagemaker" || !path.starts_with(kStart)) return std::nullopt;
    InGroup out;
    const auto dot = path.find('.', kStart.size());
    out.index = path.substr(kStart.size(), dot == std::string::npos ? dot : dot - kStart.size());
    out.rest = dot == std::string::npos ? "" : path.substr(dot + 1);
    return out;
}

std::optional<std::string> group_field(const std::string& operation, const InGroup& place,
                                       const JsonObject& request) {
    // UpdateCluster is sent for the one group that is the body of instance_group.add.
    std::string group = operation == "UpdateCluster" ? "" : "/instance_groups/" + place.index;
    if (place.rest.empty()) return group;
    for (const GroupRow& row : kGroupRows) {
        const auto found = match(row.path, place.rest);
        if (found) return group + filled(row.pointer, *found, request);
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> field_behind(const std::string& service, const std::string& operation,
                                        const std::string& path, const JsonObject& request) {
    const auto place = in_group(service, path);
    if (place) return group_field(operation, *place, request);
    for (const FieldRow& row : kRows) {
        if (row.service != service || row.operation != operation) continue;
        const auto found = match(row.path, path);
        if (found) return filled(row.pointer, *found, request);
    }
    return std::nullopt;
}

std::vector<base::FieldError> planned_faults(const std::string& flow, const JsonObject& params) {
    std::vector<base::FieldError> faults;
    std::set<std::string> seen;
    for (const PlannedRequest& request : planned_requests(flow, params)) {
        const auto* service = aws::model::embedded(request.service);
        const auto* operation = service == nullptr ? nullptr : service->operation(request.operation);
        CHECK(operation != nullptr && operation->input != nullptr);
        for (const auto& found : aws::model::validate(*operation->input, JsonValue(request.parameters))) {
            const auto pointer =
                field_behind(request.service, request.operation, found.path, request.parameters);
            // Tags of a cluster that stands were judged when it was made.
            const bool elsewhere = flow == "hyperpod_create" && pointer && pointer->starts_with("/tags");
            if (!pointer || elsewhere || !seen.insert(*pointer).second) continue;
            base::FieldError fault;
            fault.pointer = *pointer;
            fault.message = found.message + " (" + request.service + ":" + request.operation + ")";
            faults.push_back(std::move(fault));
        }
    }
    return faults;
}

namespace {

// "instanceGroups.1.member.instanceCount", as services quote members in their refusals: names begin in lower
// case, lists count from 1 and say "member". The model's path; "" where the model has no such member.
std::string model_path(const aws::model::Shape& input, std::string_view quoted) {
    const aws::model::Shape* shape = &input;
    std::vector<std::string> path;
    bool after_index = false;
    for (const std::string& part : base::split(quoted, '.')) {
        if (part == "member" && std::exchange(after_index, false)) continue;
        after_index = shape->type == aws::model::ShapeType::list;
        if (shape->type == aws::model::ShapeType::structure) {
            const auto& members = shape->members;
            const auto found = std::find_if(members.begin(), members.end(), [&part](const auto& member) {
                return base::iequals(member.name, part);
            });
            if (found == members.end()) return "";
            path.push_back(found->name);
            shape = found->shape;
        } else if (shape->type == aws::model::ShapeType::list) {
            const int index = std::atoi(part.c_str());
            if (index < 1) return "";
            path.push_back(std::to_string(index - 1));
            shape = shape->element.shape;
        } else if (shape->type == aws::model::ShapeType::map) {
            path.push_back(part);
            shape = shape->element.shape;
        } else {
            return "";
        }
    }
    return base::join(path, ".");
}

// What stands in quotes after " at " in a message of AWS.
std::vector<std::string> quoted_members(const std::string& message) {
    constexpr std::string_view kBefore = " at '";
    std::vector<std::string> out;
    for (auto at = message.find(kBefore); at != std::string::npos; at = message.find(kBefore, at)) {
        at += kBefore.size();
        const auto end = message.find('\'', at);
        if (end == std::string::npos) break;
        out.push_back(message.substr(at, end - at));
    }
    return out;
}

void add_field(base::Error& error, std::string pointer, std::string message) {
    const bool known = std::any_of(error.fields.begin(), error.fields.end(),
                                   [&pointer](const auto& field) { return field.pointer == pointer; });
    if (known) return;
    base::FieldError field;
    field.pointer = std::move(pointer);
    field.message = std::move(message);
    error.fields.push_back(std::move(field));
}

}  // namespace

base::Error in_field_words(base::Error error, const std::string& service, const std::string& operation,
                           const JsonObject& request) {
    if (error.kind != base::ErrorKind::invalid) return error;
    const auto of_members = std::move(error.fields);
    error.fields.clear();
    for (const auto& member : of_members) {
        const auto path = base::join(base::split(member.pointer.substr(1), '/'), ".");
        const auto pointer = field_behind(service, operation, path, request);
        if (pointer) add_field(error, *pointer, member.message);
    }
    const auto* known = aws::model::embedded(service);
    const auto* called = known == nullptr ? nullptr : known->operation(operation);
    if (called == nullptr || called->input == nullptr) return error;
    for (const auto& quoted : quoted_members(error.message)) {
        const auto path = model_path(*called->input, quoted);
        const auto pointer = path.empty() ? std::nullopt : field_behind(service, operation, path, request);
        if (pointer) add_field(error, *pointer, error.message);
    }
    return error;
}

}  // namespace instantstart::flows
