#include "twin/aws/journal.h"

#include <algorithm>

namespace instantstart::twin {

namespace {
constexpr std::size_t kPage = 1000;
// Reads are the bulk of a long-lived twin's calls and only the newest matter; what changed something is kept
// much longer.
constexpr std::size_t kMost = 200'000;
constexpr std::size_t kSaved = 5'000;
}  // namespace

base::JsonObject JournalEntry::to_json() const {
    base::JsonObject out;
    out["sequence"] = sequence;
    out["time"] = base::format_time_millis(time);
    out["service"] = service;
    out["operation"] = operation;
    out["mutating"] = mutating;
    out["principal"] = principal;
    out["parameters"] = parameters;
    out["status"] = status;
    out["error_code"] = error_code;
    out["request_id"] = request_id;
    return out;
}

void Journal::add(JournalEntry entry) {
    entry.sequence = ++last_;
    entries_.push_back(std::move(entry));
    if (entries_.size() > kMost) entries_.pop_front();
}

base::JsonObject Journal::page(std::int64_t since, bool mutating_only) const {
    base::JsonArray calls;
    std::int64_t next = since;
    auto at = std::upper_bound(
        entries_.begin(), entries_.end(), since,
        [](std::int64_t value, const JournalEntry& entry) { return value < entry.sequence; });
    for (; at != entries_.end() && calls.size() < kPage; ++at) {
        next = at->sequence;
        if (!mutating_only || at->mutating) calls.emplace_back(at->to_json());
    }
    base::JsonObject out;
    out["calls"] = std::move(calls);
    out["next"] = next;
    return out;
}

base::JsonValue Journal::save() const {
    base::JsonArray calls;
    std::size_t kept = 0;
    for (auto at = entries_.rbegin(); at != entries_.rend() && kept < kSaved; ++at) {
        if (!at->mutating) continue;
        calls.emplace_back(at->to_json());
        ++kept;
    }
    std::reverse(calls.begin(), calls.end());
    base::JsonObject out;
    out["calls"] = std::move(calls);
    out["last"] = last_;
    return out;
}

void Journal::load(const base::JsonValue& state) {
    clear();
    for (const base::JsonValue& value : base::get_array(state, "calls")) {
        JournalEntry entry;
        entry.sequence = base::get_int(value, "sequence");
        entry.time = base::parse_time(base::get_string(value, "time")).value_or(base::TimePoint{});
        entry.service = base::get_string(value, "service");
        entry.operation = base::get_string(value, "operation");
        entry.mutating = base::get_bool(value, "mutating");
        entry.principal = base::get_string(value, "principal");
        entry.parameters = base::get_object(value, "parameters");
        entry.status = static_cast<int>(base::get_int(value, "status"));
        entry.error_code = base::get_string(value, "error_code");
        entry.request_id = base::get_string(value, "request_id");
        entries_.push_back(std::move(entry));
    }
    last_ = base::get_int(state, "last");
}

void Journal::clear() {
    entries_.clear();
    last_ = 0;
}

}  // namespace instantstart::twin
