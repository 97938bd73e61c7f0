// operation.cancel: stops an operation at its next safe point. What it has made stays.
#include "app/advice.h"
#include "app/framework_operations.h"
#include "app/projection.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct OperationCancel {
    std::string operation_id;
};
BOOST_DESCRIBE_STRUCT(OperationCancel, (), (operation_id))

Task<Plan> plan(Call call, OperationCancel input) {
    auto found = co_await call.services->engine.get(call.context, input.operation_id);
    CO_TRY(JsonObject operation, std::move(found));
    Plan made;
    made.resource = "operation/" + input.operation_id;
    made.no_change = is_terminal(operation);
    if (!made.no_change) {
        made.changes.push_back("Stops " + base::get_string(operation, "name") + " at its next safe point");
        Plan::PlannedStep step;
        step.id = "cancel";
        step.title = "Stop the operation";
        step.action = "change";
        made.steps.push_back(std::move(step));
    }
    co_return made;
}

Task<Answer> run(Call call, OperationCancel input) {
    auto cancelled = co_await call.services->engine.cancel(call.context, input.operation_id);
    CO_TRY(JsonObject operation, std::move(cancelled));
    Answer answer;
    answer.summary = operation_summary(operation);
    answer.next = operation_next(call.services->catalogue, operation);
    answer.body["operation"] = std::move(operation);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_operation_cancel() {
    Meta meta;
    meta.id = "operation.cancel";
    meta.method = "POST";
    meta.path = "/operations/{operation_id}/cancel";
    meta.summary =
        "Stops an operation at its next safe point; what it made stays. Done when operation_get says "
        "cancelled. Ending a wait "
        "or closing a connection does not cancel anything.";
    meta.role = Role::operator_role;
    meta.area = "operations";
    meta.disruptive = true;
    meta.shows_result = "operation.get";
    std::vector<Field> fields;
    fields.push_back(Field("operation_id", "The operation to stop.").length(1, 64).like("op_7k2m4q"));
    return make_mutation<OperationCancel>(std::move(meta), std::move(fields), plan, run);
}

}  // namespace instantstart::app
