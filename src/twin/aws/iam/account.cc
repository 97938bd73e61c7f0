// What concerns the account as a whole: users, summary, and the policy simulator.
#include "base/text.h"
#include "twin/aws/iam/iam_service.h"

namespace instantstart::twin::iam {

Reply IamService::get_user(const Call& call) {
    // The account has no users; a session asking for itself is told so as AWS does.
    const std::string name = text_of(call, "UserName");
    if (name.empty())
        return ServiceError(400, "ValidationError",
                            "Must specify userName when calling with non-User credentials");
    return no_such("user", name);
}

Reply IamService::list_users(const Call& call) {
    return page(call, "Users", JsonArray{});
}

Reply IamService::list_aliases(const Call& call) {
    return page(call, "AccountAliases", JsonArray{});
}

Reply IamService::account_summary(const Call&) {
    const auto quota = [this](std::string_view name) {
        return static_cast<std::int64_t>(world_.quota(name).value_or(0));
    };
    JsonObject map;
    map["Users"] = 0;
    map["UsersQuota"] = 5000;
    map["Groups"] = 0;
    map["GroupsQuota"] = 300;
    map["Roles"] = roles_.size();
    map["RolesQuota"] = quota("Roles per account");
    map["Policies"] = policies_.size();
    map["PoliciesQuota"] = quota("Customer managed policies per account");
    map["InstanceProfiles"] = profiles_.size();
    map["InstanceProfilesQuota"] = quota("Instance profiles per account");
    map["Providers"] = providers_.size();
    map["AttachedPoliciesPerRoleQuota"] = quota("Managed policies per role");
    map["PolicySizeQuota"] = 6144;
    map["VersionsPerPolicyQuota"] = 5;
    map["AccountMFAEnabled"] = 1;
    map["AccountAccessKeysPresent"] = 0;
    return JsonObject{{"SummaryMap", std::move(map)}};
}

JsonArray IamService::simulate(const Call& call, const std::vector<JsonValue>& documents,
                               const JsonObject* role) {
    JsonArray resources = base::get_array(call.params, "ResourceArns");
    if (resources.empty()) resources.emplace_back("*");
    PolicyRequest request;
    for (const JsonValue& entry : base::get_array(call.params, "ContextEntries")) {
        for (const JsonValue& value : base::get_array(entry, "ContextKeyValues")) {
            if (value.is_string())
                request.add(base::get_string(entry, "ContextKeyName"), std::string(value.as_string()));
        }
    }
    JsonArray out;
    for (const JsonValue& action : base::get_array(call.params, "ActionNames")) {
        for (const JsonValue& resource : resources) {
            request.action = action.as_string();
            request.resource = resource.as_string();
            const Verdict verdict = role != nullptr ? decide(*role, request) : Verdict::not_allowed;
            Effect effect = verdict == Verdict::allowed ? Effect::allow
                            : verdict == Verdict::denied || verdict == Verdict::denied_by_boundary
                                ? Effect::deny
                                : Effect::none;
            for (const JsonValue& document : documents)
                effect = combine(effect, evaluate(document, request, PolicyUse::identity));
            const char* decision = effect == Effect::allow  ? "allowed"
                                   : effect == Effect::deny ? "explicitDeny"
                                                            : "implicitDeny";
            out.emplace_back(JsonObject{{"EvalActionName", action.as_string()},
                                        {"EvalResourceName", resource.as_string()},
                                        {"EvalDecision", decision},
                                        {"MatchedStatements", JsonArray{}},
                                        {"MissingContextValues", JsonArray{}}});
        }
    }
    return out;
}

Reply IamService::simulate_principal(const Call& call) {
    const std::string source = text_of(call, "PolicySourceArn");
    const JsonObject* role = role_by_arn(source);
    if (role == nullptr && source.find(":role/") == std::string::npos) {
        return ServiceError(
            400, "InvalidInput",
            "Invalid Entity Arn: " + source + " does not clearly define entity type and name.");
    }
    if (role == nullptr) return no_such("role", source);
    std::vector<JsonValue> documents;
    for (const JsonValue& text : base::get_array(call.params, "PolicyInputList")) {
        auto document = base::parse_json(text.as_string());
        if (!document)
            return ServiceError(400, "InvalidInput", "Invalid input policy: Syntax errors in policy.");
        documents.push_back(std::move(*document));
    }
    return page(call, "EvaluationResults", simulate(call, documents, role));
}

Reply IamService::simulate_custom(const Call& call) {
    std::vector<JsonValue> documents;
    for (const JsonValue& text : base::get_array(call.params, "PolicyInputList")) {
        auto document = base::parse_json(text.as_string());
        if (!document)
            return ServiceError(400, "InvalidInput", "Invalid input policy: Syntax errors in policy.");
        documents.push_back(std::move(*document));
    }
    return page(call, "EvaluationResults", simulate(call, documents, nullptr));
}

}  // namespace instantstart::twin::iam
