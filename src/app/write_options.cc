// What every write takes beside its own fields, and the plan of a write as a query.
#include "app/active.h"
#include "app/execute.h"
#include "app/projection.h"
#include "app/resource.h"
#include "app/schema.h"

namespace instantstart::app {

namespace {

constexpr std::size_t kMaxKey = 128;

std::string take_text(JsonObject& arguments, const char* name, std::size_t max,
                      std::vector<base::FieldError>& faults) {
    const JsonValue* found = arguments.if_contains(name);
    if (found == nullptr) return "";
    std::string text;
    if (found->is_string() && found->get_string().size() <= max) {
        text = std::string(found->get_string());
    } else if (!found->is_null()) {
        faults.push_back(fault(std::string("/") + name,
                               "must be a string of at most " + std::to_string(max) + " characters"));
    }
    arguments.erase(name);
    return text;
}

}  // namespace

WriteOptions take_write_options(JsonObject& arguments, std::vector<base::FieldError>& faults) {
    WriteOptions options;
    options.confirm = take_text(arguments, "confirm", kMaxKey, faults);
    options.expected_plan = take_text(arguments, "expected_plan", kMaxKey, faults);
    options.idempotency_key = take_text(arguments, "idempotency_key", kMaxKey, faults);
    const JsonValue* dry_run = arguments.if_contains("dry_run");
    if (dry_run == nullptr) return options;
    const bool text =
        dry_run->is_string() && (dry_run->get_string() == "true" || dry_run->get_string() == "false");
    if (dry_run->is_bool()) {
        options.dry_run = dry_run->get_bool();
    } else if (text) {  // from a query string
        options.dry_run = dry_run->get_string() == "true";
    } else if (!dry_run->is_null()) {
        faults.push_back(fault("/dry_run", "must be true or false"));
    }
    arguments.erase("dry_run");
    return options;
}

Task<void> resolve_cluster(Context context, store::Store& store, std::string principal,
                           JsonObject& normalized) {
    if (base::get_string(normalized, "cluster") != kActive) co_return base::ok();
    auto found = co_await active_cluster(std::move(context), store, std::move(principal));
    CO_TRY(const std::string name, std::move(found));
    if (name.empty()) {
        co_return base::conflict_error("no_active_cluster", "No cluster is active for this principal")
            .with_hint(
                "Name the cluster, or choose one with cluster_activate; cluster_list shows what there is.");
    }
    normalized["cluster"] = name;
    co_return base::ok();
}

Task<JsonObject> preview(Call call, const Operation& operation, JsonObject arguments) {
    std::vector<base::FieldError> faults;
    take_write_options(arguments, faults);
    auto normalized = operation.normalize(arguments);
    if (!normalized) {
        base::Error error = std::move(normalized).error();
        for (auto& field : error.fields) field.pointer = "/arguments" + field.pointer;
        co_return error;
    }
    JsonObject request = std::move(normalized).value();
    auto found = co_await resolve_cluster(call.context, call.services->store, call.caller.principal, request);
    CO_CHECK_OK(std::move(found));
    const std::string resource = resource_of(operation.meta(), request);
    Services& services = *call.services;
    auto planned = co_await operation.plan(std::move(call), std::move(request));
    if (!planned) {
        base::Error error = std::move(planned).error();
        for (auto& field : error.fields) field.pointer = "/arguments" + field.pointer;
        co_return error;
    }
    if (planned->resource.empty()) planned->resource = resource;
    co_return project_plan(operation.meta(), *planned, services);
}

}  // namespace instantstart::app
