// Feed: list pages and watch events straight into a table, while their bytes come in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "kube/impl/projection.h"

namespace instantstart::kube::impl {

// What bounds the memory and the work that a server can make us spend.
struct FeedLimits {
    FeedLimits() = default;
    std::size_t page_bytes = std::size_t{1} << 30U;
    std::size_t event_bytes = std::size_t{16} << 20U;
    std::size_t objects = 500'000;
};

// The members of a list's or an event's object that the feed itself reads, and those of the table.
Wanted object_wanted(const Table& table, std::string key, int tag);

// Common part: objects into the table.
class ObjectFeed : public ProjectionSink {
public:
    void open(int tag) override;
    void close(int tag) override;
    void text(int tag, std::string_view key, std::string_view value) override;
    void number(int tag, std::string_view key, std::int64_t value) override;
    void flag(int tag, std::string_view key, bool value) override;

    std::uint64_t changes() const { return changes_; }

protected:
    explicit ObjectFeed(Table& table, FeedLimits limits) : table_(table), limits_(limits) {}
    virtual void begin_object();
    virtual void end_object() = 0;
    virtual void own_text(int tag, std::string_view value) = 0;
    virtual void own_number(int /*tag*/, std::int64_t /*value*/) {}
    bool put();
    bool remove();

    Table& table_;
    FeedLimits limits_;
    std::string ns_, name_, object_version_;
    bool in_object_ = false;
    std::uint64_t changes_ = 0;
};

// One page of a list. Objects without a name are left out.
class PageFeed final : public ObjectFeed {
public:
    PageFeed(Table& table, FeedLimits limits);

    // An error where the bytes are not a list, or too many.
    base::Result<void> write(std::string_view bytes);
    base::Result<void> end();  // an error where the page is not complete
    void begin_page();
    const std::string& resource_version() const { return version_; }  // of the first page
    const std::string& next() const { return next_; }                 // the continue token

private:
    void end_object() override;
    void own_text(int tag, std::string_view value) override;

    Wanted root_;
    Projection projection_;
    std::string version_, next_, kind_;
    bool too_many_ = false;
};

// The events of a watch, one document after another.
class WatchFeed final : public ObjectFeed {
public:
    WatchFeed(Table& table, FeedLimits limits);

    // Takes all; the events that end within are applied. An error: the Status of an ERROR event, or code
    // "WatchBroken" where the bytes are no events. Then the watch is of no use any more.
    base::Result<void> write(std::string_view bytes);
    // A table may read the members of a Status itself (those of events do).
    void text(int tag, std::string_view key, std::string_view value) override;
    const std::string& resource_version() const { return version_; }  // of the newest event, "" before
    std::uint64_t events() const { return events_; }
    bool is_between_events() const { return !projection_.is_begun(); }

private:
    void begin_object() override;
    void end_object() override { complete_ = true; }
    void own_text(int tag, std::string_view value) override;
    void own_number(int tag, std::int64_t value) override;
    base::Result<void> apply();

    Wanted root_;
    Projection projection_;
    std::string type_, version_;
    base::JsonObject status_;
    int reason_tag_ = 0, message_tag_ = 0;
    bool complete_ = false;
    std::uint64_t events_ = 0;
};

}  // namespace instantstart::kube::impl
