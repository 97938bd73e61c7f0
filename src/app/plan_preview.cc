// plan.preview: what a write would do, as a query: open to viewers and to agents without asking a person.
#include "app/catalogue.h"
#include "app/execute.h"
#include "app/framework_operations.h"
#include "app/typed_operation.h"
#include "app/used_calls.h"

namespace instantstart::app {

namespace {

struct PlanPreview {
    std::string operation;
    JsonObject arguments;
};
BOOST_DESCRIBE_STRUCT(PlanPreview, (), (operation, arguments))

std::vector<std::string> writes_of(const Catalogue& catalogue) {
    std::vector<std::string> names;
    for (const auto& operation : catalogue.operations()) {
        if (is_write(operation->meta())) names.push_back(operation->meta().id);
    }
    return names;
}

Task<Answer> run(Call call, PlanPreview input) {
    const Catalogue& catalogue = *call.services->catalogue;
    const Operation* operation = catalogue.find(input.operation);
    if (operation == nullptr) operation = catalogue.find_tool(input.operation);
    if (operation == nullptr || !is_write(operation->meta())) {
        co_return faults_error({fault("/operation", "must be the id of an operation that changes something",
                                      writes_of(catalogue), input.operation)});
    }
    auto planned = co_await preview(std::move(call), *operation, std::move(input.arguments));
    CO_TRY(JsonObject plan, std::move(planned));
    Answer answer;
    const std::size_t steps = base::get_array(plan, "steps").size();
    answer.summary = base::get_bool(plan, "no_change") ? "Nothing would change."
                                                       : std::to_string(steps) + " steps; nothing was done.";
    answer.body["plan"] = std::move(plan);
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_plan_preview() {
    Meta meta;
    meta.id = "plan.preview";
    meta.method = "POST";
    meta.path = "/plan";
    meta.summary =
        "What a changing operation would do: steps, what it creates, changes and removes, quota and cost. "
        "Does nothing.";
    meta.area = "operations";
    meta.uses = used_by_planning();
    std::vector<Field> fields;
    fields.push_back(Field("operation", "The operation's id, for example cluster.create.")
                         .length(1, 64)
                         .like("cluster.create")
                         .explained());
    fields.push_back(
        Field("arguments", "Its arguments, as its own tool takes them.").defaults(JsonObject()).explained());
    return make_query<PlanPreview>(std::move(meta), std::move(fields), run);
}

}  // namespace instantstart::app
