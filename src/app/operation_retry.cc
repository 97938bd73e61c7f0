// operation.retry: a failed or cancelled operation goes on from its steps that are not done, under its old
// id. It is the engine's own function, so there is no flow: the framework calls run().
#include "app/advice.h"
#include "app/framework_operations.h"
#include "app/projection.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct OperationRetry {
    std::string operation_id;
};
BOOST_DESCRIBE_STRUCT(OperationRetry, (), (operation_id))

Task<Plan> plan(Call call, OperationRetry input) {
    auto found = co_await call.services->engine.get(call.context, input.operation_id);
    CO_TRY(JsonObject operation, std::move(found));
    Plan made;
    made.resource = base::get_string(operation, "resource");
    for (const JsonValue& step : base::get_array(operation, "steps")) {
        const std::string state = base::get_string(step, "state");
        if (state == "succeeded" || state == "skipped") continue;
        Plan::PlannedStep planned;
        planned.id = base::get_string(step, "id");
        planned.title = base::get_string(step, "title");
        planned.action = "retry";
        made.steps.push_back(std::move(planned));
    }
    made.changes.push_back("Goes on with " + base::get_string(operation, "name") +
                           " from the steps that are not done");
    co_return made;
}

Task<Answer> run(Call call, OperationRetry input) {
    auto retried = co_await call.services->engine.retry(
        call.context, input.operation_id, call.caller.principal, call.caller.face, call.idempotency_key);
    CO_TRY(ops::Submitted submitted, std::move(retried));
    Answer answer;
    answer.summary = operation_summary(submitted.operation);
    answer.next = operation_next(call.services->catalogue, submitted.operation);
    answer.body = operation_envelope(std::move(submitted.operation), submitted.replayed);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_operation_retry() {
    Meta meta;
    meta.id = "operation.retry";
    meta.method = "POST";
    meta.path = "/operations/{operation_id}/retry";
    meta.summary =
        "Goes on with a failed or cancelled operation from the steps that are not done, under the same id. "
        "Done when operation_get says so.";
    meta.kind = Kind::long_running;
    meta.role = Role::operator_role;
    meta.area = "operations";
    meta.idempotent = false;
    meta.shows_result = "operation.get";
    std::vector<Field> fields;
    fields.push_back(Field("operation_id", "The operation to go on with.").length(1, 64).like("op_7k2m4q"));
    return std::make_unique<TypedOperation<OperationRetry>>(std::move(meta), std::move(fields), plan, run);
}

}  // namespace instantstart::app
