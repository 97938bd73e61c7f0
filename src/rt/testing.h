// For tests: runs one coroutine to its end on virtual time.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "rt/task_group.h"
#include "rt/virtual_clock.h"

namespace instantstart::rt::testing {

template <class T>
Task<void> keep(Task<T> task, std::shared_ptr<std::optional<base::Result<T>>> out) {
    out->emplace(co_await std::move(task));
    co_return base::ok();
}

// Runs `task` until it ends or `limit` of virtual time has passed (then code "test_timeout", and it is
// cancelled).
template <class T>
base::Result<T> run(asio::io_context& io, VirtualClock& clock, Task<T> task,
                    Duration limit = std::chrono::hours(24)) {
    TaskGroup group(io.get_executor(), "test");
    const auto out = std::make_shared<std::optional<base::Result<T>>>();
    group.spawn("task", keep<T>(std::move(task), out));
    const bool ended = clock.run_until([&] { return group.size() == 0; }, limit);
    if (!ended) {
        group.cancel();
        clock.run_until([&] { return group.size() == 0; }, std::chrono::hours(1));
        return base::Error(base::ErrorKind::deadline, "test_timeout", "the task did not end");
    }
    if (!out->has_value()) return base::internal_error("the task threw");
    return std::move(**out);
}

}  // namespace instantstart::rt::testing
