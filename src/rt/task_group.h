// TaskGroup: the only way to start background work. Bounded, named, cancels and joins. It must be the last
// member of its owner (so that it dies first); destroying a busy group aborts, so its owner's stop() joins
// it.
#pragma once

#include <memory>
#include <string>

#include "rt/task.h"

namespace instantstart::rt {

class TaskGroup {
public:
    TaskGroup(asio::any_io_executor executor, std::string name, std::size_t max_tasks = 1024);
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    // Starts the task. An error other than `cancelled` is logged with its name. False (and the task is
    // dropped) when the group is full or has been cancelled.
    bool spawn(std::string name, Task<void> task);
    std::size_t size() const;
    // Asks every task to stop (terminal cancellation) and refuses new ones.
    void cancel();
    // Waits until no task runs.
    asio::awaitable<void> join();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace instantstart::rt
