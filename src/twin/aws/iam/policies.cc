// Customer managed policies and their versions; AWS's own, read only.
#include "base/text.h"
#include "twin/aws/iam/iam_service.h"
#include "twin/aws/iam/managed.h"

namespace instantstart::twin::iam {

namespace {

constexpr std::size_t kManagedChars = 6144;  // of one version, white space aside

constexpr std::size_t kVersions = 5;

std::string arn_of(const Call& call) {
    return text_of(call, "PolicyArn");
}

ServiceError no_policy(const std::string& arn) {
    return {404, "NoSuchEntity", "Policy " + arn + " was not found."};
}

JsonObject version_view(const JsonObject& policy, const JsonObject& version, bool with_document) {
    JsonObject out;
    out["VersionId"] = base::get_string(version, "VersionId");
    out["IsDefaultVersion"] =
        base::get_string(version, "VersionId") == base::get_string(policy, "DefaultVersionId");
    out["CreateDate"] = base::get_string(version, "CreateDate");
    if (with_document) out["Document"] = base::percent_encode(base::get_string(version, "Document"));
    return out;
}

// AWS's own policy in the shape of ours.
JsonObject managed_object(const ManagedPolicy& managed) {
    JsonObject version{
        {"VersionId", "v1"}, {"CreateDate", "2018-05-27T21:07:14Z"}, {"Document", managed.document()}};
    JsonObject out;
    out["PolicyName"] = managed.name;
    out["PolicyId"] = "ANPA" + base::to_lower(managed.name);
    out["Arn"] = managed.arn();
    out["Path"] = managed.path;
    out["DefaultVersionId"] = "v1";
    out["IsAttachable"] = true;
    out["CreateDate"] = "2018-05-27T21:07:14Z";
    out["UpdateDate"] = "2018-05-27T21:07:14Z";
    out["_versions"] = JsonArray{std::move(version)};
    return out;
}

JsonObject* version_of(JsonObject& policy, std::string_view id) {
    for (JsonValue& version : policy["_versions"].as_array()) {
        if (base::get_string(version, "VersionId") == id) return &version.as_object();
    }
    return nullptr;
}

}  // namespace

JsonObject* IamService::policy(const Call& call) {
    const auto found = policies_.find(arn_of(call));
    if (found == policies_.end() || !is_shown(call, found->second)) return nullptr;
    return &found->second;
}

std::int64_t IamService::attachment_count(std::string_view policy_arn) const {
    std::int64_t count = 0;
    for (const auto& [name, role] : roles_) {
        for (const JsonValue& arn : base::get_array(role, "_attached"))
            count += arn.as_string() == policy_arn ? 1 : 0;
    }
    return count;
}

Reply IamService::create_policy(const Call& call) {
    const std::string name = text_of(call, "PolicyName");
    const std::string path = base::get_string(call.params, "Path", "/");
    const std::string arn = "arn:aws:iam::" + world_.account() + ":policy" + path + name;
    for (const auto& [known, policy] : policies_) {
        if (base::iequals(base::get_string(policy, "PolicyName"), name))
            return ServiceError(
                409, "EntityAlreadyExists",
                "A policy called " + name + " already exists. Duplicate names are not allowed.");
    }
    const std::string document = text_of(call, "PolicyDocument");
    if (auto fault = policy_fault(document, PolicyUse::identity))
        return ServiceError(400, "MalformedPolicyDocument", *fault);
    if (solid_size(document) > kManagedChars)
        return ServiceError(409, "LimitExceeded",
                            "Cannot exceed quota for PolicySize: " + std::to_string(kManagedChars));
    const auto limit = world_.quota("Customer managed policies per account");
    if (limit && static_cast<double>(policies_.size()) >= *limit)
        return ServiceError(409, "LimitExceeded", "Cannot exceed quota for PoliciesPerAccount");
    const std::string now = base::format_time(call.now);
    JsonObject version{{"VersionId", "v1"}, {"CreateDate", now}, {"Document", document}};
    JsonObject policy;
    policy["PolicyName"] = name;
    policy["PolicyId"] = unique_id("ANPA");
    policy["Arn"] = arn;
    policy["Path"] = path;
    policy["DefaultVersionId"] = "v1";
    policy["IsAttachable"] = true;
    if (call.params.contains("Description")) policy["Description"] = text_of(call, "Description");
    policy["CreateDate"] = now;
    policy["UpdateDate"] = now;
    policy["Tags"] = base::get_array(call.params, "Tags");
    policy["_versions"] = JsonArray{std::move(version)};
    policy["_last"] = 1;
    JsonObject view = shown(policy);
    view.erase("Description");  // only GetPolicy tells it
    if (base::get_array(policy, "Tags").empty()) view.erase("Tags");
    view["AttachmentCount"] = 0;
    view["PermissionsBoundaryUsageCount"] = 0;
    policies_[arn] = std::move(policy);
    world_.touched();
    return JsonObject{{"Policy", std::move(view)}};
}

Reply IamService::get_policy(const Call& call) {
    const std::string arn = arn_of(call);
    JsonObject view;
    if (const ManagedPolicy* managed = find_managed_policy(arn))
        view = shown(managed_object(*managed));
    else if (const JsonObject* found = policy(call))
        view = shown(*found);
    else
        return no_policy(arn);
    view["AttachmentCount"] = attachment_count(arn);
    view["PermissionsBoundaryUsageCount"] = 0;
    return JsonObject{{"Policy", std::move(view)}};
}

Reply IamService::delete_policy(const Call& call) {
    const std::string arn = arn_of(call);
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn);
    if (attachment_count(arn) > 0)
        return ServiceError(409, "DeleteConflict", "Cannot delete a policy attached to entities.");
    if (base::get_array(*found, "_versions").size() > 1) {
        return ServiceError(
            409, "DeleteConflict",
            "This policy has more than one version. Before you delete a policy, you must delete the policy's "
            "versions.");
    }
    policies_.erase(arn);
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_policies(const Call& call) {
    const std::string scope = base::get_string(call.params, "Scope", "All");
    const std::string prefix = base::get_string(call.params, "PathPrefix", "/");
    const bool only_attached = base::get_bool(call.params, "OnlyAttached");
    JsonArray out;
    const auto add = [&](const JsonObject& policy) {
        const std::int64_t count = attachment_count(base::get_string(policy, "Arn"));
        if (!base::get_string(policy, "Path").starts_with(prefix) || (only_attached && count == 0)) return;
        JsonObject view = shown(policy);
        view.erase("Tags");
        view.erase("Description");
        view["AttachmentCount"] = count;
        view["PermissionsBoundaryUsageCount"] = 0;
        out.emplace_back(std::move(view));
    };
    if (scope != "AWS") {
        for (const auto& [arn, policy] : policies_) {
            if (is_shown(call, policy)) add(policy);
        }
    }
    if (scope != "Local") {
        for (const ManagedPolicy& managed : managed_policies()) add(managed_object(managed));
    }
    return page(call, "Policies", out);
}

Reply IamService::create_version(const Call& call) {
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    const std::string document = text_of(call, "PolicyDocument");
    if (auto fault = policy_fault(document, PolicyUse::identity))
        return ServiceError(400, "MalformedPolicyDocument", *fault);
    if (solid_size(document) > kManagedChars)
        return ServiceError(409, "LimitExceeded",
                            "Cannot exceed quota for PolicySize: " + std::to_string(kManagedChars));
    if (base::get_array(*found, "_versions").size() >= kVersions) {
        return ServiceError(
            409, "LimitExceeded",
            "A managed policy can have up to 5 versions. Before you create a new version, you must delete an "
            "existing version.");
    }
    const std::int64_t number = base::get_int(*found, "_last") + 1;
    JsonObject version;
    version["VersionId"] = "v" + std::to_string(number);
    version["CreateDate"] = base::format_time(call.now);
    version["Document"] = document;
    (*found)["_last"] = number;
    if (base::get_bool(call.params, "SetAsDefault")) (*found)["DefaultVersionId"] = version["VersionId"];
    (*found)["UpdateDate"] = base::format_time(call.now);
    JsonObject view = version_view(*found, version, false);
    (*found)["_versions"].as_array().emplace_back(std::move(version));
    world_.touched();
    return JsonObject{{"PolicyVersion", std::move(view)}};
}

Reply IamService::get_version(const Call& call) {
    JsonObject managed_copy;
    JsonObject* found = policy(call);
    if (const ManagedPolicy* managed = find_managed_policy(arn_of(call))) {
        managed_copy = managed_object(*managed);
        found = &managed_copy;
    }
    if (found == nullptr) return no_policy(arn_of(call));
    const JsonObject* version = version_of(*found, text_of(call, "VersionId"));
    if (version == nullptr) return no_such("policy version", text_of(call, "VersionId"));
    return JsonObject{{"PolicyVersion", version_view(*found, *version, true)}};
}

Reply IamService::delete_version(const Call& call) {
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    const std::string id = text_of(call, "VersionId");
    if (id == base::get_string(*found, "DefaultVersionId"))
        return ServiceError(409, "DeleteConflict", "Cannot delete the default version of a policy.");
    JsonArray& versions = (*found)["_versions"].as_array();
    for (auto at = versions.begin(); at != versions.end(); ++at) {
        if (base::get_string(*at, "VersionId") != id) continue;
        versions.erase(at);
        world_.touched();
        return JsonObject{};
    }
    return no_such("policy version", id);
}

Reply IamService::list_versions(const Call& call) {
    JsonObject managed_copy;
    JsonObject* found = policy(call);
    if (const ManagedPolicy* managed = find_managed_policy(arn_of(call))) {
        managed_copy = managed_object(*managed);
        found = &managed_copy;
    }
    if (found == nullptr) return no_policy(arn_of(call));
    JsonArray out;
    for (const JsonValue& version : base::get_array(*found, "_versions"))
        out.emplace_back(version_view(*found, version.as_object(), false));
    return page(call, "Versions", out);
}

Reply IamService::set_default_version(const Call& call) {
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    const std::string id = text_of(call, "VersionId");
    if (version_of(*found, id) == nullptr) return no_such("policy version", id);
    (*found)["DefaultVersionId"] = id;
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_entities(const Call& call) {
    const std::string arn = arn_of(call);
    if (policy_document(arn).empty()) return no_policy(arn);
    JsonArray out;
    for (const auto& [name, role] : roles_) {
        for (const JsonValue& attached : base::get_array(role, "_attached")) {
            if (attached.as_string() == arn)
                out.emplace_back(
                    JsonObject{{"RoleName", name}, {"RoleId", base::get_string(role, "RoleId")}});
        }
    }
    JsonObject reply = page(call, "PolicyRoles", out);
    reply["PolicyGroups"] = JsonArray{};
    reply["PolicyUsers"] = JsonArray{};
    return reply;
}

Reply IamService::tag_policy(const Call& call) {
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    merge_tags(*found, base::get_array(call.params, "Tags"));
    world_.touched();
    return JsonObject{};
}

Reply IamService::untag_policy(const Call& call) {
    JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    remove_tags(*found, base::get_array(call.params, "TagKeys"));
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_policy_tags(const Call& call) {
    const JsonObject* found = policy(call);
    if (found == nullptr) return no_policy(arn_of(call));
    return page(call, "Tags", base::get_array(*found, "Tags"));
}

}  // namespace instantstart::twin::iam
