// audit.list: who changed or tried to change what, by which face, with what result.
#include "app/audit.h"
#include "app/cursor.h"
#include "app/framework_operations.h"
#include "app/typed_operation.h"

namespace instantstart::app {

namespace {

constexpr std::int64_t kDefaultLimit = 50;

struct AuditList {
    std::optional<std::int64_t> limit;
    std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(AuditList, (), (limit, cursor))

Task<Answer> run(Call call, AuditList input) {
    const std::string scope = cursor_scope("audit.list", call.caller, {});
    CO_TRY(std::string after, read_cursor(scope, input.cursor.value_or("")));
    Audit audit(call.services->store, call.services->clock);
    const auto limit = static_cast<std::size_t>(input.limit.value_or(kDefaultLimit));
    auto listed = co_await audit.list(call.context, limit, std::move(after));
    CO_TRY(Audit::Page page, std::move(listed));
    JsonArray records;
    for (auto& record : page.records) records.push_back(std::move(record));
    Answer answer;
    answer.summary = std::to_string(records.size()) + " records, newest first.";
    answer.body["audit"] = std::move(records);
    if (!page.next.empty()) {
        answer.body["next_cursor"] = make_cursor(scope, page.next);
        answer.body["truncated"] = true;
    }
    co_return answer;
}

}  // namespace

std::unique_ptr<Operation> make_audit_list() {
    Meta meta;
    meta.id = "audit.list";
    meta.method = "GET";
    meta.path = "/audit";
    meta.summary = "Who changed or tried to change what, by which face and with what result, newest first.";
    meta.role = Role::admin;
    meta.area = "diagnostics";
    meta.default_tool = false;
    std::vector<Field> fields;
    fields.push_back(Field("limit", "How many at most; 50 where left out.").range(1, 200));
    fields.push_back(Field("cursor", "next_cursor of the page before.").length(0, 1024));
    return make_query<AuditList>(std::move(meta), std::move(fields), run);
}

}  // namespace instantstart::app
