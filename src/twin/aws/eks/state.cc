#include "twin/aws/eks/state.h"

namespace instantstart::twin::eks {

std::string State::arn(std::string_view resource) const {
    return "arn:aws:eks:" + world.region() + ":" + world.account() + ":" + std::string(resource);
}

std::string State::time() const {
    return base::format_time_millis(world.now());
}

ServiceError missing(std::string message) {
    return failure("ResourceNotFoundException", std::move(message), 404);
}

ServiceError invalid(std::string message) {
    return failure("InvalidParameterException", std::move(message), 400);
}

Found require_cluster(State& state, std::string_view name) {
    Found found;
    found.record = state.clusters.find(name);
    if (found.record == nullptr)
        found.error = missing("No cluster found for name: " + std::string(name) + ".");
    return found;
}

std::optional<ServiceError> check_role(const State& state, std::string_view role_arn,
                                       std::string_view service) {
    IamView& iam = state.world.iam();
    const std::string arn(role_arn);
    const bool trusted = iam.role_exists(role_arn) && contains(iam.trusted_services(role_arn), service);
    if (trusted && iam.role_usable(role_arn)) return std::nullopt;
    return invalid("Role with arn: " + arn +
                   ", could not be assumed because it does not exist or the trusted entity is not correct");
}

JsonObject listed(const Call& call, const char* member, const JsonArray& items) {
    Page page = paginate(items, base::get_int(call.params, "maxResults", 100),
                         base::get_string(call.params, "nextToken"));
    JsonObject answer;
    answer[member] = std::move(page.items);
    if (!page.next_token.empty()) answer["nextToken"] = page.next_token;
    return answer;
}

JsonObject param(std::string_view type, std::string_view value) {
    JsonObject made;
    made["type"] = type;
    made["value"] = value;
    return made;
}

}  // namespace instantstart::twin::eks
