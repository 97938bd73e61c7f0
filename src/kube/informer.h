// Informer: keeps a table of one kind up to date by list and watch. One writer (its task), many readers of
// the table on its loop.
//
// What the table shows is what the API server told last, which may be seconds old: decide by it, but write
// with a precondition or look again. start() begins, stop() must end before it dies.
//
// It goes on whatever happens: an expired version (410) or one that the server does not know (after a restart
// with an older state) makes it list again; a connection that breaks, ends or says nothing for too long is
// made anew where it stood; refusals (401, 403, 429 with its Retry-After, 5xx) are waited out with growing,
// jittered pauses. What cannot be read is never half believed: the list tells the truth again. The memory
// that a server can make it use is bounded by Table and by the limits here.
#pragma once

#include <optional>
#include <string>

#include "kube/cache/table.h"
#include "kube/client.h"
#include "rt/event.h"
#include "rt/task_group.h"

namespace instantstart::kube {

struct InformerOptions {
    InformerOptions() = default;
    Resource resource;
    ListOptions list;  // page_size objects a page, max_items in all
    // Between attempts while the server cannot be reached.
    base::Duration longest_pause = std::chrono::seconds(30);
    // API servers send a bookmark about every minute: what is silent for longer than two is dead. Not so for
    // events, which they do not keep in their watch cache: such a watch may be silent until it ends.
    base::Duration silence = std::chrono::seconds(150);
    // Longer than any watch is asked to last.
    static constexpr auto kBeyondWatch = std::chrono::seconds(390);
};

class Informer {
public:
    // `client` and `table` outlive it.
    Informer(boost::asio::any_io_executor executor, Client& client, rt::Clock& clock, Table& table,
             InformerOptions options);

    void start();
    boost::asio::awaitable<void> stop();

    // True once the first list has come in; what was read then stays readable while the server is away.
    bool is_ready() const { return ready_; }
    // Readers make an informer in trouble try at once, but for the pauses that the server has asked for, and
    // less often the longer it lasts: every kLongestHurryGap at last. Who asks in between is told the latest
    // error.
    static constexpr base::Duration kFirstHurryGap = std::chrono::milliseconds(250);
    static constexpr base::Duration kLongestHurryGap = std::chrono::seconds(4);
    void hurry();
    // Until it is ready: the error of an attempt that failed meanwhile or just before, code "deadline" after
    // `limit`.
    Task<void> wait_ready(base::Duration limit);
    // Where there is an error: until another attempt has been made, so that what is told is not yesterday's.
    // At most `limit`; only cancelled is an error.
    Task<void> look_again(base::Duration limit);
    // Told after every change of the table, of readiness and of the error.
    rt::Event& changed() { return changed_; }
    // Why the table is not being kept up to date, where this has lasted for `longer_than`.
    const base::Error* error(base::Duration longer_than) const;

    // For tests and metrics.
    std::uint64_t lists() const { return lists_; }
    std::uint64_t watches() const { return watches_; }
    std::uint64_t events() const { return events_; }
    // The newest that the table has come to; "" before the first list.
    const std::string& resource_version() const { return resource_version_; }

private:
    Task<void> run();
    Task<void> round();
    Task<void> relist();
    // Follows changes until the watch ends; an error where it must be made anew.
    Task<void> follow();
    // Until something has changed, a moment at most, making it try where it waits.
    Task<void> wait_a_moment(base::Duration deadline);
    bool may_hurry() const;
    // Whether the error is as new as it can be had.
    bool has_tried() const { return error_ && !trying_ && !may_hurry(); }
    void note(base::Error problem);
    void note_success();

    Client& client_;
    rt::Clock& clock_;
    Table& table_;
    InformerOptions options_;
    std::string resource_version_;  // "" means that a list is needed
    bool ready_ = false, trying_ = false;
    int silent_watches_ = 0;            // in a row, that ended without a word
    std::uint64_t attempts_ = 0;        // begun
    std::uint64_t failed_attempt_ = 0;  // the last that failed, counted from 1
    std::uint64_t failures_ = 0, lists_ = 0, watches_ = 0, events_ = 0;
    std::optional<base::Error> error_;
    base::Duration failing_since_{}, tried_at_{};
    base::Duration not_before_{};                // a pause that the server has asked for
    base::Duration hurry_gap_ = kFirstHurryGap;  // from the last attempt to one that a reader may ask for
    rt::Event changed_, hurried_;
    rt::TaskGroup tasks_;
};

}  // namespace instantstart::kube
