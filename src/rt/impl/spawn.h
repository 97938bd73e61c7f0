// What the other files of rt share: starting a coroutine, and waiting in a way that cancellation does not
// break.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "rt/task.h"

namespace instantstart::rt::impl {

// A door that opens once. The opener and the waiter live on one loop.
class Gate {
public:
    explicit Gate(const asio::any_io_executor& executor)
        : timer_(executor, asio::steady_timer::time_point::max()) {}
    void open() {
        open_ = true;
        timer_.cancel();
    }
    bool is_open() const { return open_; }
    // Returns when open; cancellation of the waiter does not end it, but calls `on_cancel` (which may be
    // empty) once.
    asio::awaitable<void> wait(std::function<void()> on_cancel);

private:
    asio::steady_timer timer_;
    bool open_ = false;
};

// Asks one task to stop. Asio 1.81 lets an exception out of the loop when a coroutine is cancelled before its
// first line, so a request that comes so early is kept until then.
class Stopper {
public:
    void stop() {
        stopped_ = true;
        if (begun_) signal_.emit(asio::cancellation_type::terminal);
    }

private:
    friend class Start;
    asio::cancellation_signal signal_;
    bool begun_ = false;
    bool stopped_ = false;
};

// Starts `task`; `done` gets its result on the loop. An exception becomes an error: Asio's own "operation
// aborted" is `cancelled`, all else `internal`. A task stopped before it began is dropped.
void start(const asio::any_io_executor& executor, Task<void> task, std::shared_ptr<Stopper> stopper,
           std::function<void(base::Result<void>)> done);

}  // namespace instantstart::rt::impl
