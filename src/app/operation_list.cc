// operation.list: operations, newest first, without their steps.
#include "app/cursor.h"
#include "app/framework_operations.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kDefaultLimit = 50;

struct OperationList {
    std::optional<std::string> resource, state;
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(OperationList, (), (resource, state, limit, cursor))

Task<Answer> run(Call call, OperationList input) {
    JsonObject filter;
    filter["resource"] = input.resource.value_or("");
    filter["state"] = input.state.value_or("");
    const std::string scope = cursor_scope("operation.list", call.caller, filter);
    CO_TRY(std::string after, read_cursor(scope, input.cursor.value_or("")));
    ops::Engine::ListQuery query;
    query.resource_prefix = input.resource.value_or("");
    query.state = input.state.value_or("");
    query.limit = static_cast<std::size_t>(input.limit.value_or(kDefaultLimit));
    query.after = std::move(after);
    auto listed = co_await call.services->engine.list(call.context, std::move(query));
    CO_TRY(ops::Engine::ListPage page, std::move(listed));
    JsonArray operations;
    for (auto& operation : page.operations) {
        operation.erase("steps");
        operation.erase("plan");
        operations.push_back(std::move(operation));
    }
    Answer answer;
    answer.summary = std::to_string(operations.size()) + " of " + std::to_string(page.total) +
                     " operations, newest first.";
    answer.body["operations"] = std::move(operations);
    answer.body["total"] = page.total;
    if (!page.next.empty()) {
        answer.body["next_cursor"] = make_cursor(scope, page.next);
        answer.body["truncated"] = true;
    }
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_operation_list() {
    Meta meta;
    meta.id = "operation.list";
    meta.method = "GET";
    meta.path = "/operations";
    meta.summary =
        "Operations, newest first; of one resource and all below it where given. After a lost answer look "
        "here before repeating.";
    meta.area = "operations";
    std::vector<Field> fields;
    fields.push_back(Field("resource", "Only operations on this object and what lies under it.")
                         .length(0, 300)
                         .like("cluster/demo")
                         .explained());
    fields.push_back(Field("state", "Only operations in this state.")
                         .one_of({"pending", "running", "waiting", "succeeded", "failed", "cancelled"}));
    fields.push_back(Field("limit", "How many at most; 50 where left out.").range(1, 200));
    fields.push_back(Field("cursor", "next_cursor of the page before.").length(0, 1024));
    return make_query<OperationList>(std::move(meta), std::move(fields), run);
}

}  // namespace instantstart::app
