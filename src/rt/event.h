// Event: lets coroutines of one loop wait for "something changed". Level-triggered use: check, wait, check
// again.
#pragma once

#include <memory>

#include "rt/clock.h"
#include "rt/task.h"

namespace instantstart::rt {

class Event {
public:
    explicit Event(asio::any_io_executor executor);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    // Wakes every present waiter.
    void notify_all();
    // Returns after the next notify_all(); Error{cancelled} on cancellation.
    Task<void> wait();
    // The same with a limit: Error{deadline} when it runs out first.
    Task<void> wait_for(Clock& clock, Duration limit);

private:
    struct State;
    std::shared_ptr<State> state_;
};

// Whether the calling coroutine has been asked to stop. For those who wait by means of their own.
asio::awaitable<bool> is_cancelled();
// Runs `task` with a limit: Error{deadline} (code "deadline") when it runs out, and the task is cancelled.
Task<void> with_limit(Clock& clock, Duration limit, Task<void> task);
// Runs `task` so that cancelling the caller does not reach it, for required clean-up, at most `limit`.
Task<void> shielded(Clock& clock, Duration limit, Task<void> task);

}  // namespace instantstart::rt
