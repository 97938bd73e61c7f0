// Roles and service-linked roles.
#include "base/text.h"
#include "twin/aws/iam/iam_service.h"
#include "twin/aws/iam/managed.h"

namespace instantstart::twin::iam {

namespace {

// As GetRole and CreateRole show it: documents are URL-encoded.
JsonObject role_view(const JsonObject& role) {
    JsonObject out = shown(role);
    if (base::get_array(role, "Tags").empty()) out.erase("Tags");
    out["AssumeRolePolicyDocument"] =
        base::percent_encode(base::get_string(role, "AssumeRolePolicyDocument"));
    return out;
}

bool is_service_linked(const JsonObject& role) {
    return role.contains("_service");
}

ServiceError protected_role(const JsonObject& role) {
    return {400, "UnmodifiableEntity",
            "Cannot perform the operation on the protected role '" + base::get_string(role, "RoleName") +
                "' - this role is only modifiable by AWS"};
}

struct Linked {
    const char* service;
    const char* role;
};

constexpr Linked kLinked[] = {
    {"hyperpod.sagemaker.amazonaws.com", "AWSServiceRoleForSageMakerHyperPod"},
    {"eks.amazonaws.com", "AWSServiceRoleForAmazonEKS"},
    {"eks-nodegroup.amazonaws.com", "AWSServiceRoleForAmazonEKSNodegroup"},
    {"elasticloadbalancing.amazonaws.com", "AWSServiceRoleForElasticLoadBalancing"},
    {"fsx.amazonaws.com", "AWSServiceRoleForAmazonFSx"},
    {"s3.data-source.lustre.fsx.amazonaws.com", "AWSServiceRoleForFSxS3Access"},
    {"autoscaling.amazonaws.com", "AWSServiceRoleForAutoScaling"},
    {"spot.amazonaws.com", "AWSServiceRoleForEC2Spot"},
};

}  // namespace

JsonObject* IamService::role(const Call& call) {
    const auto found = roles_.find(text_of(call, "RoleName"));
    if (found == roles_.end() || !is_shown(call, found->second)) return nullptr;
    return &found->second;
}

Reply IamService::create_role(const Call& call) {
    const std::string name = text_of(call, "RoleName");
    for (const auto& [known, role] : roles_) {
        if (base::iequals(known, name))
            return ServiceError(409, "EntityAlreadyExists", "Role with name " + name + " already exists.");
    }
    const std::string trust = text_of(call, "AssumeRolePolicyDocument");
    if (auto fault = policy_fault(trust, PolicyUse::trust))
        return ServiceError(400, "MalformedPolicyDocument", *fault);
    const std::string boundary = text_of(call, "PermissionsBoundary");
    if (!boundary.empty() && policy_document(boundary).empty())
        return ServiceError(404, "NoSuchEntity",
                            "Scope ARN: " + boundary + " does not exist or is not attachable.");
    const auto limit = world_.quota("Roles per account");
    if (limit && static_cast<double>(roles_.size()) >= *limit) {
        return ServiceError(
            409, "LimitExceeded",
            "Cannot exceed quota for RolesPerAccount: " + std::to_string(static_cast<std::int64_t>(*limit)));
    }
    JsonObject role;
    const std::string path = base::get_string(call.params, "Path", "/");
    role["Path"] = path;
    role["RoleName"] = name;
    role["RoleId"] = unique_id("AROA");
    role["Arn"] = "arn:aws:iam::" + world_.account() + ":role" + path + name;
    role["CreateDate"] = base::format_time(call.now);
    role["AssumeRolePolicyDocument"] = trust;
    if (call.params.contains("Description")) role["Description"] = text_of(call, "Description");
    role["MaxSessionDuration"] = base::get_int(call.params, "MaxSessionDuration", 3600);
    if (!boundary.empty())
        role["PermissionsBoundary"] =
            JsonObject{{"PermissionsBoundaryType", "Policy"}, {"PermissionsBoundaryArn", boundary}};
    role["Tags"] = base::get_array(call.params, "Tags");
    role["_inline"] = JsonObject{};
    role["_attached"] = JsonArray{};
    changed(role);
    JsonObject& kept = roles_[name] = std::move(role);
    return JsonObject{{"Role", role_view(kept)}};
}

Reply IamService::get_role(const Call& call) {
    const JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    JsonObject view = role_view(*found);
    view["RoleLastUsed"] = JsonObject{};
    return JsonObject{{"Role", std::move(view)}};
}

Reply IamService::list_roles(const Call& call) {
    const std::string prefix = base::get_string(call.params, "PathPrefix", "/");
    JsonArray out;
    for (const auto& [name, role] : roles_) {
        if (!base::get_string(role, "Path").starts_with(prefix) || !is_shown(call, role)) continue;
        JsonObject view = role_view(role);
        view.erase("Tags");  // a list shows neither tags nor boundaries
        view.erase("PermissionsBoundary");
        out.emplace_back(std::move(view));
    }
    return page(call, "Roles", out);
}

Reply IamService::delete_role(const Call& call) {
    JsonObject* found = role(call);
    const std::string name = text_of(call, "RoleName");
    if (found == nullptr) return no_such("role", name);
    if (is_service_linked(*found)) return protected_role(*found);
    const auto conflict = [](const char* what) {
        return ServiceError(409, "DeleteConflict",
                            std::string("Cannot delete entity, must ") + what + " first.");
    };
    if (!base::get_array(*found, "_attached").empty()) return conflict("detach all policies");
    if (!base::get_object(*found, "_inline").empty()) return conflict("delete policies");
    for (const auto& [profile_name, profile] : profiles_) {
        if (base::get_string(profile, "_role") == name) return conflict("remove roles from instance profile");
    }
    roles_.erase(name);
    world_.touched();
    return JsonObject{};
}

Reply IamService::update_role(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    if (call.params.contains("Description")) (*found)["Description"] = text_of(call, "Description");
    if (call.params.contains("MaxSessionDuration"))
        (*found)["MaxSessionDuration"] = base::get_int(call.params, "MaxSessionDuration");
    world_.touched();
    if (call.operation == "UpdateRoleDescription") return JsonObject{{"Role", role_view(*found)}};
    return JsonObject{};
}

Reply IamService::update_trust(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    if (is_service_linked(*found)) return protected_role(*found);
    const std::string trust = text_of(call, "PolicyDocument");
    if (auto fault = policy_fault(trust, PolicyUse::trust))
        return ServiceError(400, "MalformedPolicyDocument", *fault);
    (*found)["AssumeRolePolicyDocument"] = trust;
    changed(*found);
    return JsonObject{};
}

Reply IamService::put_boundary(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    const std::string boundary = text_of(call, "PermissionsBoundary");
    if (policy_document(boundary).empty())
        return ServiceError(404, "NoSuchEntity",
                            "Policy " + boundary + " does not exist or is not attachable.");
    (*found)["PermissionsBoundary"] =
        JsonObject{{"PermissionsBoundaryType", "Policy"}, {"PermissionsBoundaryArn", boundary}};
    changed(*found);
    return JsonObject{};
}

Reply IamService::delete_boundary(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr || !found->contains("PermissionsBoundary"))
        return no_such("role or permissions boundary of", text_of(call, "RoleName"));
    found->erase("PermissionsBoundary");
    changed(*found);
    return JsonObject{};
}

Reply IamService::tag_role(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    merge_tags(*found, base::get_array(call.params, "Tags"));
    world_.touched();
    return JsonObject{};
}

Reply IamService::untag_role(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    remove_tags(*found, base::get_array(call.params, "TagKeys"));
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_role_tags(const Call& call) {
    const JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    return page(call, "Tags", base::get_array(*found, "Tags"));
}

Reply IamService::create_service_linked_role(const Call& call) {
    const std::string service = text_of(call, "AWSServiceName");
    for (const Linked& linked : kLinked) {
        if (service != linked.service) continue;
        if (roles_.contains(std::string_view(linked.role))) {
            return ServiceError(400, "InvalidInput",
                                "Service role name " + std::string(linked.role) +
                                    " has been taken in this account, please try a different suffix.");
        }
        ensure_service_linked_role(service, linked.role);
        return JsonObject{{"Role", role_view(roles_[linked.role])}};
    }
    return ServiceError(400, "InvalidInput", "Service role template for " + service + " was not found.");
}

Reply IamService::delete_service_linked_role(const Call& call) {
    JsonObject* found = role(call);
    const std::string name = text_of(call, "RoleName");
    if (found == nullptr || !is_service_linked(*found)) return no_such("role", name);
    const std::string task = "task" + base::get_string(*found, "Path") + name + "/" + world_.uuid();
    roles_.erase(name);
    world_.touched();
    return JsonObject{{"DeletionTaskId", task}};
}

Reply IamService::service_linked_role_deletion(const Call&) {
    return JsonObject{{"Status", "SUCCEEDED"}};
}

}  // namespace instantstart::twin::iam
