#include "rt/impl/spawn.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <utility>

#include "rt/event.h"

namespace instantstart::rt::impl {

namespace {

base::Error error_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
        if (error.code() == asio::error::operation_aborted) return base::cancelled_error();
        return base::internal_error("a task threw").with_detail(error.what());
    } catch (const std::exception& error) {
        return base::internal_error("a task threw").with_detail(error.what());
    } catch (...) {
        return base::internal_error("a task threw something unknown");
    }
}

// Asio would throw at the next await of a cancelled coroutine, so that no clean-up could await anything. Here
// the waits of rt and http return Error{cancelled} instead.
Task<void> without_throwing(Task<void> task) {
    co_await asio::this_coro::throw_if_cancelled(false);
    co_return co_await std::move(task);
}

}  // namespace

asio::awaitable<void> Gate::wait(std::function<void()> on_cancel) {
    const bool throwing = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    while (!open_) {
        const bool stop = co_await is_cancelled();
        if (stop && on_cancel) std::exchange(on_cancel, nullptr)();
        if (open_) break;
        co_await timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_await asio::this_coro::throw_if_cancelled(throwing);
}

void start(const asio::any_io_executor& executor, Task<void> task, asio::cancellation_slot slot,
           std::function<void(base::Result<void>)> done) {
    asio::co_spawn(
        executor, without_throwing(std::move(task)),
        asio::bind_cancellation_slot(
            slot, [done = std::move(done)](const std::exception_ptr& failure, base::Result<void> result) {
                done(failure ? base::Result<void>(error_of(failure)) : std::move(result));
            }));
}

}  // namespace instantstart::rt::impl

namespace instantstart::rt {

asio::awaitable<bool> is_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace instantstart::rt
