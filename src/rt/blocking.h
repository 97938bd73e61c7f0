// BlockingPool: threads for calls that block (SQLite, files, large hashing). The caller's loop goes on
// meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "rt/task.h"

namespace instantstart::rt {

class BlockingPool {
public:
    // With 0 threads every call runs at once on the caller's loop: for simulation, where nothing may happen
    // beside it.
    explicit BlockingPool(std::size_t threads);
    // Waits for what runs. Destroy it before the loops that use it.
    ~BlockingPool();
    BlockingPool(const BlockingPool&) = delete;
    BlockingPool& operator=(const BlockingPool&) = delete;

    // Runs `call` on a thread and resumes on the caller's executor. A call that has begun is waited for even
    // when the coroutine is cancelled; one of a coroutine that was cancelled before is not begun.
    template <class T>
    Task<T> run(std::function<base::Result<T>()> call) {
        const auto result = std::make_shared<base::Result<T>>();
        std::function<void()> work = [result, call = std::move(call)] { *result = call(); };
        auto outcome = co_await run_erased(std::move(work));
        if (!outcome.has_value()) co_return std::move(outcome).error();
        co_return std::move(*result);
    }

private:
    struct State;
    Task<void> run_erased(std::function<void()> work);
    std::unique_ptr<State> state_;
};

}  // namespace instantstart::rt
