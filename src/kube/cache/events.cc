#include "kube/cache/events.h"

#include <iterator>

namespace instantstart::kube {

namespace {

enum Tag : int { kCreated = 1, kEventTime, kLast, kType, kReason, kMessage, kKind, kObject, kSeries };

// More of a message is for `kubectl describe`.
constexpr std::size_t kMaxMessage = 1024;

std::string key_of(std::string_view ns, std::string_view name) {
    std::string key(ns);
    key += '/';
    key += name;
    return key;
}

std::string_view whole_characters(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
    return text.substr(0, most);
}

}  // namespace

struct EventTable::Draft {
    Draft() = default;
    std::string created, event_time, last, series, reason, kind, object, message;
    bool warning = false;
};

EventTable::EventTable(Symbols& symbols, std::size_t most)
    : symbols_(symbols), most_(most), draft_(std::make_unique<Draft>()) {}
EventTable::~EventTable() = default;

std::vector<EventTable::Named> EventTable::newest(std::size_t limit, const std::string& before_time,
                                                  const std::string& before_key) const {
    const auto end = before_time.empty() ? by_time_.end() : by_time_.lower_bound({before_time, before_key});
    std::vector<Named> found;
    for (auto at = std::make_reverse_iterator(end); at != by_time_.rend() && found.size() < limit; ++at) {
        found.push_back({at->second, &events_.find(at->second)->second});
    }
    return found;
}

std::vector<Wanted> EventTable::wanted() const {
    return {{"metadata", 0, {{"creationTimestamp", kCreated}}},
            {"eventTime", kEventTime},
            {"lastTimestamp", kLast},
            {"series", 0, {{"lastObservedTime", kSeries}}},
            {"type", kType},
            {"reason", kReason},
            {"message", kMessage},
            {"involvedObject", 0, {{"kind", kKind}, {"name", kObject}}}};
}

void EventTable::begin() {
    auto& draft = *draft_;
    for (auto* text : {&draft.created, &draft.event_time, &draft.last, &draft.series, &draft.reason,
                       &draft.kind, &draft.object, &draft.message}) {
        text->clear();
    }
    draft.warning = false;
}

void EventTable::text(int tag, std::string_view /*key*/, std::string_view value) {
    auto& draft = *draft_;
    switch (tag) {
        case kCreated: draft.created = value; break;
        case kEventTime: draft.event_time = value; break;
        case kLast: draft.last = value; break;
        case kSeries: draft.series = value; break;
        case kType: draft.warning = value == "Warning"; break;
        case kReason: draft.reason = value; break;
        case kMessage: draft.message = whole_characters(value, kMaxMessage); break;
        case kKind: draft.kind = value; break;
        case kObject: draft.object = value; break;
        default: break;
    }
}

ClusterEvent EventTable::make_event() {
    const auto& draft = *draft_;
    ClusterEvent event;
    for (const auto* time : {&draft.series, &draft.last, &draft.event_time, &draft.created}) {
        if (time->empty()) continue;
        event.time = time->substr(0, 40);
        break;
    }
    event.reason = symbols_.hold(draft.reason);
    event.kind = symbols_.hold(draft.kind);
    event.object = symbols_.hold(draft.object);
    event.message = symbols_.hold(draft.message);
    event.generation = generation_;
    event.warning = draft.warning;
    return event;
}

void EventTable::release(const ClusterEvent& event) {
    for (const Symbol symbol : {event.reason, event.kind, event.object, event.message}) {
        symbols_.release(symbol);
    }
}

void EventTable::drop(Events::iterator at) {
    by_time_.erase({at->second.time, at->first});
    release(at->second);
    events_.erase(at);
}

bool EventTable::put(std::string_view ns, std::string_view name) {
    auto event = make_event();
    auto key = key_of(ns, name);
    if (const auto found = events_.find(key); found != events_.end()) {
        found->second.generation = generation_;
        if (found->second == event) {
            release(event);
            return false;
        }
        drop(found);
    }
    by_time_.emplace(event.time, key);
    events_.emplace(std::move(key), std::move(event));
    if (events_.size() > most_) drop(events_.find(by_time_.begin()->second));
    return true;
}

bool EventTable::remove(std::string_view ns, std::string_view name) {
    const auto found = events_.find(key_of(ns, name));
    if (found == events_.end()) return false;
    drop(found);
    return true;
}

bool EventTable::finish_list() {
    const auto before = events_.size();
    for (auto at = events_.begin(); at != events_.end();) {
        const auto present = at++;
        if (present->second.generation != generation_) drop(present);
    }
    return events_.size() != before;
}

void EventTable::clear() {
    for (const auto& [key, event] : events_) release(event);
    events_.clear();
    by_time_.clear();
}

}  // namespace instantstart::kube
