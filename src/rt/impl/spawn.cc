#include "rt/impl/spawn.h"

#include <boost/asio/as_tuple.hpp>
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

}  // namespace

class Start {
public:
    static asio::cancellation_slot slot(Stopper& stopper) { return stopper.signal_.slot(); }

    // Asio would throw at the next await of a cancelled coroutine, so that no clean-up could await anything.
    // Here the waits of rt and http return Error{cancelled} instead.
    static Task<void> begin(Task<void> task, std::shared_ptr<Stopper> stopper) {
        co_await asio::this_coro::throw_if_cancelled(false);
        stopper->begun_ = true;
        if (stopper->stopped_) co_return base::cancelled_error();
        co_return co_await std::move(task);
    }
};

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

namespace {

// A handler with nothing bound around it. For one with an associated executor (as bind_cancellation_slot
// makes it) Asio 1.81 posts each cancellation with a bare pointer, which dangles when the task ends before
// that runs.
class Completion {
public:
    using cancellation_slot_type = asio::cancellation_slot;

    Completion(std::shared_ptr<Stopper> stopper, std::function<void(base::Result<void>)> done)
        : stopper_(std::move(stopper)), done_(std::move(done)) {}
    cancellation_slot_type get_cancellation_slot() const noexcept { return Start::slot(*stopper_); }
    void operator()(const std::exception_ptr& failure, base::Result<void> result) {
        done_(failure ? base::Result<void>(error_of(failure)) : std::move(result));
    }

private:
    std::shared_ptr<Stopper> stopper_;
    std::function<void(base::Result<void>)> done_;
};

}  // namespace

void start(const asio::any_io_executor& executor, Task<void> task, std::shared_ptr<Stopper> stopper,
           std::function<void(base::Result<void>)> done) {
    auto body = Start::begin(std::move(task), stopper);
    asio::co_spawn(executor, std::move(body), Completion(std::move(stopper), std::move(done)));
}

}  // namespace instantstart::rt::impl

namespace instantstart::rt {

asio::awaitable<bool> is_cancelled() {
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() != asio::cancellation_type::none;
}

}  // namespace instantstart::rt
