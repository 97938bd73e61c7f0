// Inline and attached policies of roles.
#include <algorithm>

#include "base/text.h"
#include "twin/aws/iam/iam_service.h"
#include "twin/aws/iam/managed.h"

namespace instantstart::twin::iam {

namespace {

constexpr std::size_t kInlineChars = 10240;  // over all inline policies of a role, white space aside

std::string short_name(std::string_view arn) {
    return std::string(arn.substr(arn.rfind('/') + 1));
}

}  // namespace

Reply IamService::put_role_policy(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    if (found->contains("_service"))
        return ServiceError(400, "UnmodifiableEntity",
                            "Cannot perform the operation on a service-linked role.");
    const std::string document = text_of(call, "PolicyDocument");
    if (auto fault = policy_fault(document, PolicyUse::identity))
        return ServiceError(400, "MalformedPolicyDocument", *fault);
    const std::string name = text_of(call, "PolicyName");
    JsonObject& all = (*found)["_inline"].as_object();
    std::size_t size = solid_size(document);
    for (const auto& item : all) size += item.key() == name ? 0 : solid_size(item.value().as_string());
    if (size > kInlineChars)
        return ServiceError(
            409, "LimitExceeded",
            "Maximum policy size of 10240 bytes exceeded for role " + text_of(call, "RoleName"));
    const JsonValue* before = all.if_contains(name);
    const bool differs = before == nullptr || before->as_string() != document;
    all[name] = document;
    // Writing the same document again changes nothing that services would have to learn. Last, since `all`
    // may move by it.
    if (differs) changed(*found);
    return JsonObject{};
}

Reply IamService::get_role_policy(const Call& call) {
    const JsonObject* found = role(call);
    const std::string name = text_of(call, "PolicyName");
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    const JsonValue* document = base::get_object(*found, "_inline").if_contains(name);
    if (document == nullptr) return no_such("role policy", name);
    return JsonObject{{"RoleName", text_of(call, "RoleName")},
                      {"PolicyName", name},
                      {"PolicyDocument", base::percent_encode(document->as_string())}};
}

Reply IamService::delete_role_policy(const Call& call) {
    JsonObject* found = role(call);
    const std::string name = text_of(call, "PolicyName");
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    if ((*found)["_inline"].as_object().erase(name) == 0) return no_such("role policy", name);
    changed(*found);
    return JsonObject{};
}

Reply IamService::list_role_policies(const Call& call) {
    const JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    JsonArray names;
    for (const auto& item : base::get_object(*found, "_inline")) names.emplace_back(item.key());
    return page(call, "PolicyNames", names);
}

Reply IamService::attach_role_policy(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    if (found->contains("_service"))
        return ServiceError(400, "UnmodifiableEntity",
                            "Cannot perform the operation on a service-linked role.");
    const std::string arn = text_of(call, "PolicyArn");
    if (policy_document(arn).empty())
        return ServiceError(404, "NoSuchEntity", "Policy " + arn + " does not exist or is not attachable.");
    JsonArray& attached = (*found)["_attached"].as_array();
    for (const JsonValue& known : attached) {
        if (known.as_string() == arn) return JsonObject{};
    }
    const auto limit = world_.quota("Managed policies per role");
    if (limit && static_cast<double>(attached.size()) >= *limit) {
        return ServiceError(
            409, "LimitExceeded",
            "Cannot exceed quota for PoliciesPerRole: " + std::to_string(static_cast<std::int64_t>(*limit)));
    }
    attached.emplace_back(arn);
    changed(*found);
    return JsonObject{};
}

Reply IamService::detach_role_policy(const Call& call) {
    JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    const std::string arn = text_of(call, "PolicyArn");
    JsonArray& attached = (*found)["_attached"].as_array();
    for (auto at = attached.begin(); at != attached.end(); ++at) {
        if (at->as_string() != arn) continue;
        attached.erase(at);
        changed(*found);
        return JsonObject{};
    }
    return ServiceError(404, "NoSuchEntity", "Policy " + arn + " was not found.");
}

Reply IamService::list_attached(const Call& call) {
    const JsonObject* found = role(call);
    if (found == nullptr) return no_such("role", text_of(call, "RoleName"));
    JsonArray out;
    for (const JsonValue& arn : base::get_array(*found, "_attached")) {
        out.emplace_back(
            JsonObject{{"PolicyName", short_name(arn.as_string())}, {"PolicyArn", arn.as_string()}});
    }
    return page(call, "AttachedPolicies", out);
}

}  // namespace instantstart::twin::iam
