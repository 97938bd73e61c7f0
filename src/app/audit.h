// The audit: every write, and every write that was refused, with who, by which face and what came of it.
#pragma once

#include <string>
#include <vector>

#include "app/operation.h"
#include "rt/clock.h"
#include "store/store.h"

namespace instantstart::app {

struct AuditRecord {
    AuditRecord() = default;
    std::string principal, face, operation, resource;
    std::string outcome;  // "started", "done", "no_change", "replayed", or the code of the refusal
    std::string operation_id;
    JsonObject to_json(base::TimePoint time) const;
};

class Audit {
public:
    Audit(store::Store& store, rt::Clock& clock) : store_(store), clock_(clock) {}
    // A record that cannot be written is logged, and does not fail what it records.
    boost::asio::awaitable<void> write(Context context, AuditRecord record);

    struct Page {
        Page() = default;
        std::vector<JsonObject> records;  // newest first
        std::string next;                 // "" at the end
    };
    Task<Page> list(Context context, std::size_t limit, std::string after);

private:
    store::Store& store_;
    rt::Clock& clock_;
    std::uint64_t written_ = 0;
    Task<void> prune(Context context);
};

}  // namespace instantstart::app
