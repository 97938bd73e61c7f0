// OIDC providers and instance profiles.
#include "base/text.h"
#include "twin/aws/iam/iam_service.h"

namespace instantstart::twin::iam {

namespace {

std::string provider_arn(const Call& call) {
    return text_of(call, "OpenIDConnectProviderArn");
}

ServiceError no_provider(const std::string& arn) {
    return {404, "NoSuchEntity", "OpenIDConnect Provider not found for arn " + arn};
}

}  // namespace

JsonObject* IamService::provider(const Call& call) {
    const auto found = providers_.find(provider_arn(call));
    if (found == providers_.end() || !is_shown(call, found->second)) return nullptr;
    return &found->second;
}

Reply IamService::create_provider(const Call& call) {
    std::string url = text_of(call, "Url");
    if (!url.starts_with("https://"))
        return ServiceError(400, "ValidationError", "Invalid Open ID Connect Provider URL");
    url.erase(0, std::string_view("https://").size());
    while (url.ends_with('/')) url.pop_back();
    const std::string arn = "arn:aws:iam::" + world_.account() + ":oidc-provider/" + url;
    if (providers_.contains(arn))
        return ServiceError(409, "EntityAlreadyExists",
                            "Provider with url https://" + url + " already exists.");
    const auto limit = world_.quota("OpenId connect providers per account");
    if (limit && static_cast<double>(providers_.size()) >= *limit)
        return ServiceError(409, "LimitExceeded", "Cannot exceed quota for OpenIdConnectProvidersPerAccount");
    JsonObject made;
    made["Url"] = url;
    made["ClientIDList"] = base::get_array(call.params, "ClientIDList");
    made["ThumbprintList"] = base::get_array(call.params, "ThumbprintList");
    if (made["ThumbprintList"].as_array().empty())
        made["ThumbprintList"] = JsonArray{"9e99a48a9960b14926bb7f3b02e22da2b0ab7280"};
    made["CreateDate"] = base::format_time(call.now);
    made["Tags"] = base::get_array(call.params, "Tags");
    providers_[arn] = std::move(made);
    world_.touched();
    return JsonObject{{"OpenIDConnectProviderArn", arn}, {"Tags", base::get_array(call.params, "Tags")}};
}

Reply IamService::get_provider(const Call& call) {
    const JsonObject* found = provider(call);
    if (found == nullptr) return no_provider(provider_arn(call));
    if (call.operation == "ListOpenIDConnectProviderTags")
        return page(call, "Tags", base::get_array(*found, "Tags"));
    return shown(*found);
}

Reply IamService::delete_provider(const Call& call) {
    // AWS answers well where there is none, but a wrong ARN of another account.
    providers_.erase(provider_arn(call));
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_providers(const Call& call) {
    JsonArray out;
    for (const auto& [arn, made] : providers_) {
        if (is_shown(call, made)) out.emplace_back(JsonObject{{"Arn", arn}});
    }
    return JsonObject{{"OpenIDConnectProviderList", std::move(out)}};
}

Reply IamService::change_provider(const Call& call) {
    JsonObject* found = provider(call);
    if (found == nullptr) return no_provider(provider_arn(call));
    const std::string client = text_of(call, "ClientID");
    JsonArray& clients = (*found)["ClientIDList"].as_array();
    const auto at = std::find(clients.begin(), clients.end(), JsonValue(client));
    if (call.operation == "AddClientIDToOpenIDConnectProvider" && at == clients.end())
        clients.emplace_back(client);
    if (call.operation == "RemoveClientIDFromOpenIDConnectProvider" && at != clients.end()) clients.erase(at);
    if (call.operation == "UpdateOpenIDConnectProviderThumbprint")
        (*found)["ThumbprintList"] = base::get_array(call.params, "ThumbprintList");
    if (call.operation == "TagOpenIDConnectProvider")
        merge_tags(*found, base::get_array(call.params, "Tags"));
    if (call.operation == "UntagOpenIDConnectProvider")
        remove_tags(*found, base::get_array(call.params, "TagKeys"));
    world_.touched();
    return JsonObject{};
}

JsonObject* IamService::profile(const Call& call) {
    const auto found = profiles_.find(text_of(call, "InstanceProfileName"));
    if (found == profiles_.end() || !is_shown(call, found->second)) return nullptr;
    return &found->second;
}

JsonObject IamService::profile_view(const JsonObject& profile) const {
    JsonObject out = shown(profile);
    JsonArray roles;
    if (const auto found = roles_.find(base::get_string(profile, "_role")); found != roles_.end()) {
        JsonObject role = shown(found->second);
        role["AssumeRolePolicyDocument"] =
            base::percent_encode(base::get_string(role, "AssumeRolePolicyDocument"));
        roles.emplace_back(std::move(role));
    }
    out["Roles"] = std::move(roles);
    return out;
}

Reply IamService::create_profile(const Call& call) {
    const std::string name = text_of(call, "InstanceProfileName");
    if (profiles_.contains(name))
        return ServiceError(409, "EntityAlreadyExists", "Instance Profile " + name + " already exists.");
    const std::string path = base::get_string(call.params, "Path", "/");
    JsonObject made;
    made["Path"] = path;
    made["InstanceProfileName"] = name;
    made["InstanceProfileId"] = unique_id("AIPA");
    made["Arn"] = "arn:aws:iam::" + world_.account() + ":instance-profile" + path + name;
    made["CreateDate"] = base::format_time(call.now);
    made["Tags"] = base::get_array(call.params, "Tags");
    JsonObject view = profile_view(made);
    profiles_[name] = std::move(made);
    world_.touched();
    return JsonObject{{"InstanceProfile", std::move(view)}};
}

Reply IamService::get_profile(const Call& call) {
    const JsonObject* found = profile(call);
    if (found == nullptr) return no_such("instance profile", text_of(call, "InstanceProfileName"));
    return JsonObject{{"InstanceProfile", profile_view(*found)}};
}

Reply IamService::delete_profile(const Call& call) {
    const JsonObject* found = profile(call);
    const std::string name = text_of(call, "InstanceProfileName");
    if (found == nullptr) return no_such("instance profile", name);
    if (found->contains("_role"))
        return ServiceError(409, "DeleteConflict",
                            "Cannot delete entity, must remove roles from instance profile first.");
    profiles_.erase(name);
    world_.touched();
    return JsonObject{};
}

Reply IamService::list_profiles(const Call& call) {
    JsonArray out;
    for (const auto& [name, made] : profiles_) {
        if (is_shown(call, made)) out.emplace_back(profile_view(made));
    }
    return page(call, "InstanceProfiles", out);
}

Reply IamService::list_profiles_for_role(const Call& call) {
    if (role(call) == nullptr) return no_such("role", text_of(call, "RoleName"));
    JsonArray out;
    for (const auto& [name, made] : profiles_) {
        if (base::get_string(made, "_role") == text_of(call, "RoleName"))
            out.emplace_back(profile_view(made));
    }
    return page(call, "InstanceProfiles", out);
}

Reply IamService::add_role_to_profile(const Call& call) {
    JsonObject* found = profile(call);
    if (found == nullptr) return no_such("instance profile", text_of(call, "InstanceProfileName"));
    if (role(call) == nullptr) return no_such("role", text_of(call, "RoleName"));
    if (found->contains("_role"))
        return ServiceError(409, "LimitExceeded",
                            "Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1");
    (*found)["_role"] = text_of(call, "RoleName");
    world_.touched();
    return JsonObject{};
}

Reply IamService::remove_role_from_profile(const Call& call) {
    JsonObject* found = profile(call);
    if (found == nullptr) return no_such("instance profile", text_of(call, "InstanceProfileName"));
    if (base::get_string(*found, "_role") != text_of(call, "RoleName"))
        return no_such("role", text_of(call, "RoleName"));
    found->erase("_role");
    world_.touched();
    return JsonObject{};
}

Reply IamService::tag_profile(const Call& call) {
    JsonObject* found = profile(call);
    if (found == nullptr) return no_such("instance profile", text_of(call, "InstanceProfileName"));
    if (call.operation == "ListInstanceProfileTags")
        return page(call, "Tags", base::get_array(*found, "Tags"));
    if (call.operation == "TagInstanceProfile")
        merge_tags(*found, base::get_array(call.params, "Tags"));
    else
        remove_tags(*found, base::get_array(call.params, "TagKeys"));
    world_.touched();
    return JsonObject{};
}

}  // namespace instantstart::twin::iam
