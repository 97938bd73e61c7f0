#include "twin/aws/authoriser.h"

#include "aws/model/iam_actions.h"
#include "base/digest.h"
#include "base/text.h"
#include "base/time.h"
#include "twin/aws/iam/policy.h"
#include "twin/aws/resource_tags.h"

namespace instantstart::twin {

namespace {

using aws::model::RequiredAction;
using iam::PolicyJudge;
using iam::PolicyRequest;
using iam::Verdict;

std::string because(Verdict verdict, const std::string& action) {
    switch (verdict) {
        case Verdict::denied: return " with an explicit deny in an identity-based policy";
        case Verdict::denied_by_boundary: return " with an explicit deny in a permissions boundary";
        case Verdict::not_in_boundary:
            return " because no permissions boundary allows the " + action + " action";
        default: return " because no identity-based policy allows the " + action + " action";
    }
}

// In the service's own form. S3 puts the resource into quotes; EC2 adds a text that only
// sts:DecodeAuthorizationMessage can read.
ServiceError refusal(const Call& call, const RequiredAction& needed, Verdict verdict) {
    const std::string quote = call.service == "s3" ? "\"" : "";
    const std::string on = needed.resource.empty() || needed.resource == "*"
                               ? std::string()
                               : " on resource: " + quote + needed.resource + quote;
    const std::string text = "User: " + call.caller.arn + " is not authorized to perform: " + needed.action +
                             on + because(verdict, needed.action);
    if (call.service == "ec2") {
        return {403, "UnauthorizedOperation",
                "You are not authorized to perform this operation. " + text +
                    ". Encoded authorization failure message: " + base::sha256_hex(call.request_id + text)};
    }
    if (call.service == "eks") return {403, "AccessDeniedException", text};
    const bool json =
        call.service == "sagemaker" || call.service == "logs" || call.service == "service-quotas";
    return {json ? 400 : 403, json ? "AccessDeniedException" : "AccessDenied", text};
}

// --- tags that come with the call: EC2's TagSpecifications, lists of Key and Value, maps

void add_tag(PolicyRequest& request, const std::string& key, const std::string& value) {
    request.add("aws:RequestTag/" + key, value);
    request.add("aws:TagKeys", key);
}

void add_tags(PolicyRequest& request, const JsonValue& tags) {
    if (const auto* list = tags.if_array()) {
        for (const JsonValue& tag : *list)
            add_tag(request, base::get_string(tag, "Key"), base::get_string(tag, "Value"));
    } else if (const auto* map = tags.if_object()) {
        for (const auto& tag : *map) {
            if (tag.value().is_string()) add_tag(request, tag.key(), std::string(tag.value().get_string()));
        }
    }
}

void add_request_tags(PolicyRequest& request, const Call& call) {
    if (call.service == "s3") return;  // S3's tags are no tags of the request
    for (const JsonValue& specification : base::get_array(call.params, "TagSpecifications")) {
        const auto* tags = base::find_path(specification, "Tags");
        if (tags != nullptr) add_tags(request, *tags);
    }
    for (const char* member : {"Tags", "tags"}) {
        const auto* tags = call.params.if_contains(member);
        if (tags != nullptr) add_tags(request, *tags);
    }
}

// --- what the account knows of the resource

JsonArray tags_of_resource(World& world, const std::string& arn) {
    const auto parts = base::split(arn, ':');
    if (parts.size() < 6 || arn.find('*') != std::string::npos) return JsonArray();
    const std::string& service = parts[2];
    if (service == "iam") return world.get<PolicyJudge>("iam").iam_tags(arn);
    const auto* found = dynamic_cast<const ResourceTags*>(world.service(service == "aps" ? "amp" : service));
    return found == nullptr ? JsonArray() : found->resource_tags(arn);
}

// Keys of tags are told apart by case, names of condition keys are not.
std::vector<std::string> resource_tag(World& world, const std::string& arn, std::string_view lower_key) {
    for (const JsonValue& tag : tags_of_resource(world, arn)) {
        if (base::to_lower(base::get_string(tag, "Key")) == lower_key)
            return {base::get_string(tag, "Value")};
    }
    return {};
}

std::vector<std::string> look_up(World& world, const RequiredAction& needed, const std::string& key) {
    for (const std::string_view prefix : {"aws:resourcetag/", "ec2:resourcetag/", "iam:resourcetag/"}) {
        if (!key.starts_with(prefix) || needed.makes) continue;
        const auto& judge = world.get<PolicyJudge>("iam");
        return resource_tag(world, judge.real_arn(needed.resource),
                            std::string_view(key).substr(prefix.size()));
    }
    if (key == "iam:permissionsboundary" && !needed.makes) {
        const auto& judge = world.get<PolicyJudge>("iam");
        const auto boundary = judge.boundary_of(judge.real_arn(needed.resource));
        if (!boundary.empty()) return {boundary};
    }
    return {};
}

// IAM and the like have one region for the whole partition.
std::string requested_region(const Call& call) {
    return call.service == "iam" ? "us-east-1" : call.region;
}

PolicyRequest request_of(World& world, const Call& call, const RequiredAction& needed) {
    PolicyRequest request;
    request.action = needed.action;
    request.resource = needed.resource;
    for (const auto& [key, value] : needed.condition) request.add(key, value);
    request.add("aws:RequestedRegion", requested_region(call));
    request.add("aws:PrincipalArn", call.caller.role_arn.empty() ? call.caller.arn : call.caller.role_arn);
    request.add("aws:PrincipalAccount", call.caller.account);
    request.add("aws:userid", call.caller.user_id);
    request.add("aws:CurrentTime", base::format_time(call.now));
    request.add("aws:ResourceAccount", world.account());
    if (call.service == "s3") request.add("s3:ResourceAccount", world.account());
    if (call.service == "ec2") request.add("ec2:Region", call.region);
    if (needed.makes) add_request_tags(request, call);
    request.look_up = [&world, &needed](const std::string& key) { return look_up(world, needed, key); };
    return request;
}

}  // namespace

std::optional<ServiceError> authorise(World& world, const Call& call) {
    // AWS lets every caller ask who it is.
    if (call.service == "sts" && call.operation == "GetCallerIdentity") return std::nullopt;
    const aws::model::AccountPlace place{"aws", call.region, world.account()};
    const auto& keys = world.get<Keys>("iam");
    const auto& judge = world.get<PolicyJudge>("iam");
    for (const auto& needed :
         aws::model::iam_actions_of_call(call.service, call.operation, call.params, place)) {
        if (!needed.unless_role.empty() && !keys.role_arn(needed.unless_role).empty()) continue;
        const Verdict verdict = judge.judge(call.caller, request_of(world, call, needed));
        if (verdict == Verdict::allowed) continue;
        RequiredAction refused = needed;
        refused.resource = judge.real_arn(needed.resource);
        return refusal(call, refused, verdict);
    }
    return std::nullopt;
}

}  // namespace instantstart::twin
