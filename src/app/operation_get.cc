// operation.get: an operation's steps, progress and end; waits for the end where asked to.
#include "app/advice.h"
#include "app/framework_operations.h"
#include "app/projection.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

struct OperationGet {
    std::string operation_id;
    std::optional<std::int64_t> wait_seconds;
};
BOOST_DESCRIBE_STRUCT(OperationGet, (), (operation_id, wait_seconds))

Task<Answer> run(Call call, OperationGet input) {
    ops::Engine& engine = call.services->engine;
    const auto limit = std::chrono::seconds(input.wait_seconds.value_or(0));
    base::Result<JsonObject> found;
    if (limit.count() > 0) {
        found = co_await engine.wait(call.context, input.operation_id, limit);
    } else {
        found = co_await engine.get(call.context, input.operation_id);
    }
    if (!found) {
        base::Error error = std::move(found).error();
        if (error.kind == base::ErrorKind::not_found && error.hint.empty()) {
            error.hint =
                "operation_list shows the operations there are; audit_list those that are no longer kept.";
        }
        co_return error;
    }
    Answer answer;
    answer.summary = operation_summary(*found);
    answer.next = operation_next(call.services->catalogue, *found);
    answer.body = operation_envelope(std::move(found).value(), false);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_operation_get() {
    Meta meta;
    meta.id = "operation.get";
    meta.method = "GET";
    meta.path = "/operations/{operation_id}";
    meta.summary =
        "State, steps, progress and result of an operation. With wait_seconds 50 it returns when the "
        "operation ends; while it "
        "runs nothing is done yet. Time up is no error: call again.";
    meta.area = "operations";
    std::vector<Field> fields;
    fields.push_back(Field("operation_id", "The id that a long-running operation answered with.")
                         .length(1, 64)
                         .like("op_7k2m4q"));
    fields.push_back(Field("wait_seconds", "How long to wait for the end at most.").range(0, 50));
    return make_query<OperationGet>(std::move(meta), std::move(fields), run);
}

}  // namespace instantstart::app
