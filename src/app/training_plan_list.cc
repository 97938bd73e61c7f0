// training_plan.list: capacity that was bought ahead, and what of it is free.
#include <algorithm>

#include "app/domain_makers.h"
#include "app/typed_operation.h"
#include "base/text.h"
#include "domain/names.h"
#include "domain/training_plan.h"

namespace instantstart::app {

namespace {

struct TrainingPlanList {
    std::optional<std::string> instance_type;
    std::optional<std::string> status;
};
BOOST_DESCRIBE_STRUCT(TrainingPlanList, (), (instance_type, status))

JsonArray texts(const std::vector<std::string>& list) {
    JsonArray made;
    for (const auto& text : list) made.emplace_back(text);
    return made;
}

JsonObject row_of(const domain::TrainingPlan& plan, const JsonValue& described) {
    JsonObject row{{"arn", plan.arn},
                   {"name", plan.name},
                   {"status", plan.status},
                   {"message", domain::clean_text(base::get_string(described, "StatusMessage"), 300)},
                   {"instance_type", plan.types.empty() ? "" : plan.types.front()},
                   {"instance_types", texts(plan.types)},
                   {"zone", plan.zones.empty() ? "" : plan.zones.front()},
                   {"zones", texts(plan.zones)},
                   {"start", base::get_string(described, "StartTime")},
                   {"end", base::get_string(described, "EndTime")},
                   {"total_count", plan.total},
                   {"available_count", plan.available},
                   {"in_use_count", plan.in_use},
                   {"target_resources", texts(plan.targets)}};
    return row;
}

bool fits(const domain::TrainingPlan& plan, const TrainingPlanList& input) {
    if (input.status && base::to_lower(plan.status) != *input.status) return false;
    return !input.instance_type ||
           std::find(plan.types.begin(), plan.types.end(), *input.instance_type) != plan.types.end();
}

Task<Answer> run(Call call, TrainingPlanList input) {
    CO_TRY(auto plans,
           co_await call.services->aws.collect(call.context, "sagemaker", "ListTrainingPlans", JsonObject{}));
    JsonArray rows;
    std::int64_t free = 0;
    for (const auto& described : plans) {
        const auto plan = domain::training_plan_from(described.as_object());
        if (!fits(plan, input)) continue;
        free += plan.available;
        rows.push_back(row_of(plan, described));
    }
    Answer answer;
    answer.summary =
        std::to_string(rows.size()) + " training plans with " + std::to_string(free) + " free instances.";
    answer.body["total"] = static_cast<std::int64_t>(rows.size());
    answer.body["training_plans"] = std::move(rows);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_training_plan_list() {
    Meta meta;
    meta.id = "training_plan.list";
    meta.method = "GET";
    meta.path = "/training-plans";
    meta.summary =
        "Training plans of the account: type, zone, dates, status and the instances that are still free.";
    meta.area = "quotas";
    meta.default_tool = false;
    meta.uses = {"sagemaker:ListTrainingPlans"};
    return make_query<TrainingPlanList>(
        std::move(meta),
        {Field("instance_type", "Only plans for this type.").length(1, 64).like("ml.p5.48xlarge"),
         Field("status", "Only plans with this status.")
             .one_of({"pending", "scheduled", "active", "expired", "failed"})
             .like("active")},
        &run);
}

}  // namespace instantstart::app
