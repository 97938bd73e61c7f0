// The journal of every call that came over a socket.
#pragma once

#include <deque>
#include <string>

#include "base/json.h"
#include "base/time.h"

namespace instantstart::twin {

struct JournalEntry {
    JournalEntry() = default;
    std::int64_t sequence = 0;
    base::TimePoint time;
    std::string service, operation, principal, error_code, request_id;
    bool mutating = false;
    base::JsonObject parameters;
    int status = 0;
    base::JsonObject to_json() const;
};

class Journal {
public:
    void add(JournalEntry entry);  // gives it its sequence
    // {"calls": [...], "next": N}: entries after `since`, at most a page of 1,000.
    base::JsonObject page(std::int64_t since, bool mutating_only) const;
    base::JsonValue save() const;
    void load(const base::JsonValue& state);
    void clear();

private:
    std::deque<JournalEntry> entries_;
    std::int64_t last_ = 0;
};

}  // namespace instantstart::twin
