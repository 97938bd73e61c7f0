// EventTable: the newest events of a cluster. Their number is bounded: what is older than the newest
// `most` is dropped, as the API server itself drops events after an hour.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/cache/symbols.h"
#include "kube/cache/table.h"

namespace instantstart::kube {

// Symbols are of the table's Symbols; texts that repeat (FailedScheduling's) are kept once.
struct ClusterEvent {
    ClusterEvent() = default;
    std::string time;                         // when it was seen last, RFC 3339
    Symbol reason = 0, kind = 0, object = 0;  // of what it tells: "Pod", its name
    Symbol message = 0;
    std::uint32_t generation = 0;  // of the list that told of it last; the table's own
    bool warning = false;

    bool operator==(const ClusterEvent&) const = default;
};

class EventTable final : public Table {
public:
    EventTable(Symbols& symbols, std::size_t most);
    ~EventTable() override;
    EventTable(const EventTable&) = delete;
    EventTable& operator=(const EventTable&) = delete;

    struct Named {
        std::string key;  // namespace/name
        const ClusterEvent* event;
    };
    // The newest `limit`, newest first by time and key; with `before_time` only those before that time and
    // key. Good until the table changes.
    std::vector<Named> newest(std::size_t limit, const std::string& before_time = "",
                              const std::string& before_key = "") const;
    const Symbols& symbols() const { return symbols_; }

    std::vector<Wanted> wanted() const override;
    void begin() override;
    void open(int /*tag*/) override {}
    void close(int /*tag*/) override {}
    void text(int tag, std::string_view key, std::string_view value) override;
    void number(int /*tag*/, std::string_view /*key*/, std::int64_t /*value*/) override {}
    void flag(int /*tag*/, std::string_view /*key*/, bool /*value*/) override {}
    bool put(std::string_view ns, std::string_view name) override;
    bool remove(std::string_view ns, std::string_view name) override;
    void start_list() override { ++generation_; }
    bool finish_list() override;
    void clear() override;
    std::size_t size() const override { return events_.size(); }

private:
    struct Draft;
    using Events = std::map<std::string, ClusterEvent, std::less<>>;
    ClusterEvent make_event();
    void release(const ClusterEvent& event);
    void drop(Events::iterator at);

    Symbols& symbols_;
    std::size_t most_;
    Events events_;
    std::set<std::pair<std::string, std::string>> by_time_;  // time and key
    std::uint32_t generation_ = 0;
    std::unique_ptr<Draft> draft_;
};

}  // namespace instantstart::kube
