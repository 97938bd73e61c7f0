#include "twin/aws/authoriser.h"

#include "aws/model/iam_actions.h"

namespace instantstart::twin {

namespace {

ServiceError refusal(const Call& call, const aws::model::RequiredAction& needed) {
    const std::string on = needed.resource.empty() || needed.resource == "*"
                               ? std::string()
                               : " on resource: " + needed.resource;
    const std::string text = "User: " + call.caller.arn + " is not authorized to perform: " + needed.action +
                             on + " because no identity-based policy allows the " + needed.action + " action";
    if (call.service == "ec2")
        return {403, "UnauthorizedOperation", "You are not authorized to perform this operation. " + text};
    if (call.service == "eks") return {403, "AccessDeniedException", text};
    const bool json =
        call.service == "sagemaker" || call.service == "logs" || call.service == "service-quotas";
    return {json ? 400 : 403, json ? "AccessDeniedException" : "AccessDenied", text};
}

}  // namespace

std::optional<ServiceError> authorise(World& world, const Call& call) {
    // AWS lets every caller ask who it is.
    if (call.service == "sts" && call.operation == "GetCallerIdentity") return std::nullopt;
    const aws::model::AccountPlace place{"aws", call.region, world.account()};
    const auto& keys = world.get<Keys>("iam");
    for (const auto& needed :
         aws::model::iam_actions_of_call(call.service, call.operation, call.params, place)) {
        if (!needed.unless_role.empty() && !keys.role_arn(needed.unless_role).empty()) continue;
        std::vector<std::pair<std::string, std::string>> context(needed.condition.begin(),
                                                                 needed.condition.end());
        context.emplace_back("aws:RequestedRegion", call.region);
        context.emplace_back("aws:PrincipalArn",
                             call.caller.role_arn.empty() ? call.caller.arn : call.caller.role_arn);
        context.emplace_back("aws:PrincipalAccount", call.caller.account);
        if (!world.iam().allows(call.caller, needed.action, needed.resource, context))
            return refusal(call, needed);
    }
    return std::nullopt;
}

}  // namespace instantstart::twin
