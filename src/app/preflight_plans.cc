// Preflight of training plans: type, zone, dates, target and free count of the capacity that was bought.
#include "app/preflight.h"
#include "app/schema.h"
#include "base/text.h"
#include "domain/training_plan.h"

namespace instantstart::app {

namespace {

// The plan's own name; "" where the ARN is of another service, region or account.
std::string plan_name(const std::string& arn, const std::string& region) {
    const auto parts = base::split(arn, ':');
    if (parts.size() != 6 || parts[2] != "sagemaker" || parts[3] != region) return "";
    const std::string_view kind = "training-plan/";
    return parts[5].starts_with(kind) ? parts[5].substr(kind.size()) : "";
}

Task<void> check_one(Call call, domain::InstanceGroup group, std::string at, std::int64_t wanted,
                     Findings& found) {
    const auto pointer = at + "/capacity/training_plan_arn";
    const auto name = plan_name(*group.capacity->training_plan_arn, call.services->aws.region());
    if (name.empty()) {
        found.faults.push_back(fault(pointer, "must be a training plan of " + call.services->aws.region()));
        co_return base::ok();
    }
    JsonObject parameters{{"TrainingPlanName", name}};
    auto described = co_await call.services->aws.call(call.context, "sagemaker", "DescribeTrainingPlan",
                                                      std::move(parameters));
    if (!described) {
        const auto& error = described.error();
        if (error.kind == base::ErrorKind::cancelled) co_return std::move(described).error();
        if (error.kind == base::ErrorKind::not_found || error.code == "ResourceNotFound") {
            found.faults.push_back(fault(pointer, "no such training plan: training_plan.list names them"));
        } else {
            found.warnings.push_back("could not look at training plan " + name + ": " + error.message);
        }
        co_return base::ok();
    }
    auto verdict = domain::check_plan(domain::training_plan_from(*described), group, wanted,
                                      call.services->clock.now(), at);
    for (auto& refused : verdict.faults) found.faults.push_back(std::move(refused));
    for (auto& warning : verdict.warnings) found.warnings.push_back(std::move(warning));
    co_return base::ok();
}

}  // namespace

Task<void> check_training_plans(Call call, GroupRequest request, Findings& found) {
    std::map<std::string, std::int64_t> wanted;  // by plan, over the groups so far
    for (std::size_t index = 0; index < request.groups.size(); ++index) {
        const auto& group = request.groups[index];
        if (!group.capacity || !group.capacity->training_plan_arn) continue;
        const auto so_far = wanted[*group.capacity->training_plan_arn] += group.count;
        const auto at = request.at.empty() ? "" : request.at + "/" + std::to_string(index);
        CO_CHECK_OK(co_await check_one(call, group, at, so_far, found));
    }
    co_return base::ok();
}

}  // namespace instantstart::app
