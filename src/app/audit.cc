#include "app/audit.h"

#include "base/json.h"

namespace instantstart::app {

namespace {

constexpr const char* kTable = "audit";
constexpr auto kRetention = std::chrono::hours(24 * 400);
constexpr std::uint64_t kPruneEvery = 512;  // writes

// Sorts by time: microseconds since the epoch, padded, so that keys of one moment differ by their random end.
std::string key_of(base::TimePoint time) {
    const auto micros =
        std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
    std::string digits = std::to_string(micros);
    return std::string(digits.size() < 18 ? 18 - digits.size() : 0, '0') + digits;
}

}  // namespace

JsonObject AuditRecord::to_json(base::TimePoint time) const {
    JsonObject made;
    made["time"] = base::format_time_millis(time);
    made["principal"] = principal;
    made["face"] = face;
    made["operation"] = operation;
    if (!resource.empty()) made["resource"] = resource;
    made["outcome"] = outcome;
    if (!operation_id.empty()) made["operation_id"] = operation_id;
    return made;
}

boost::asio::awaitable<void> Audit::write(Context context, AuditRecord record) {
    const base::TimePoint now = clock_.now();
    store::Batch batch;
    batch.put(kTable, key_of(now) + "-" + clock_.random_id(6), record.to_json(now));
    auto written = co_await store_.commit(context, std::move(batch));
    if (!written) {
        context.log(base::LogLevel::error, "audit_not_written",
                    {{"operation", JsonValue(record.operation)},
                     {"outcome", JsonValue(record.outcome)},
                     {"error", JsonValue(written.error().chain())}});
        co_return;
    }
    if (++written_ % kPruneEvery != 0) co_return;
    auto pruned = co_await prune(context);
    if (!pruned)
        context.log(base::LogLevel::warn, "audit_not_pruned", {{"error", JsonValue(pruned.error().chain())}});
}

Task<void> Audit::prune(Context context) {
    store::Scan scan;
    scan.table = kTable;
    scan.limit = kPruneEvery;
    CO_TRY(auto oldest, co_await store_.scan(context, std::move(scan)));
    const std::string limit = key_of(clock_.now() - kRetention);
    store::Batch batch;
    for (auto& entry : oldest) {
        if (entry.key < limit) batch.remove(kTable, std::move(entry.key));
    }
    if (batch.removes.empty()) co_return base::ok();
    co_return co_await store_.commit(context, std::move(batch));
}

Task<Audit::Page> Audit::list(Context context, std::size_t limit, std::string after) {
    store::Scan scan;
    scan.table = kTable;
    scan.after = std::move(after);
    scan.limit = limit + 1;
    scan.descending = true;
    CO_TRY(auto entries, co_await store_.scan(std::move(context), std::move(scan)));
    Page page;
    for (auto& entry : entries) {
        if (page.records.size() == limit) {
            page.next = entries[limit - 1].key;
            break;
        }
        if (!entry.value.is_object()) continue;
        JsonObject record = entry.value.get_object();
        record["id"] = entry.key;
        page.records.push_back(std::move(record));
    }
    co_return page;
}

}  // namespace instantstart::app
