// Training plans: capacity bought for a window of time, in which groups that name the plan may have
// instances.
#pragma once

#include "twin/aws/sagemaker/state.h"
#include "twin/aws/services.h"

namespace instantstart::twin::sagemaker {

// The status of the plan with this ARN; "" for an unknown one.
std::string plan_status(State& state, std::string_view arn);
// Why the group of a request may not be bound to its plan.
std::optional<ServiceError> check_plan(State& state, const JsonObject& group, const JsonObject& vpc_config,
                                       const Record* cluster);
// The reserved capacity whose window is open: where it is and how many instances it has left.
struct OpenBlock {
    std::string zone, type;
    std::int64_t left = 0;
};
std::optional<OpenBlock> open_block(State& state, std::string_view arn);

// What Describe and List answer.
JsonObject plan_answer(State& state, const Record& plan);
// The plan's windows open and close from now on, the first after `start`.
void set_plan_timers(State& state, const Record& plan, base::Duration start);
// A plan as if it had been bought; one of that name is replaced.
void put_plan(State& state, const PlanSpec& spec);

void add_plan_operations(Operations& operations);
void plan_timer(State& state, const std::string& kind, const JsonObject& payload);

}  // namespace instantstart::twin::sagemaker
