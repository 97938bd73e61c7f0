#include "rt/event.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <list>
#include <optional>
#include <utility>

#include "rt/impl/spawn.h"

namespace instantstart::rt {

namespace {

struct Waiter {
    explicit Waiter(const asio::any_io_executor& executor)
        : timer(executor, asio::steady_timer::time_point::max()) {}
    asio::steady_timer timer;
    bool notified = false;
};

using Waiters = std::list<std::shared_ptr<Waiter>>;

}  // namespace

struct Event::State {
    explicit State(asio::any_io_executor loop) : executor(std::move(loop)) {}
    asio::any_io_executor executor;
    Waiters waiters;
    bool closed = false;
};

Event::Event(asio::any_io_executor executor) : state_(std::make_shared<State>(std::move(executor))) {}

Event::~Event() {
    state_->closed = true;
    for (const auto& waiter : state_->waiters) waiter->timer.cancel();
}

void Event::notify_all() {
    for (const auto& waiter : std::exchange(state_->waiters, {})) {
        waiter->notified = true;
        waiter->timer.cancel();
    }
}

Task<void> Event::wait() {
    if (co_await is_cancelled()) co_return base::cancelled_error();
    const auto state = state_;  // the event may die while we wait
    const auto waiter = std::make_shared<Waiter>(state->executor);
    state->waiters.push_back(waiter);
    co_await waiter->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (waiter->notified) co_return base::ok();
    state->waiters.remove(waiter);
    co_return base::cancelled_error();
}

Task<void> Event::wait_for(Clock& clock, Duration limit) {
    return with_limit(clock, limit, wait());
}

namespace {

base::Error deadline_error() {
    return {base::ErrorKind::deadline, "deadline", "the time ran out"};
}

// A task and a timer side by side. Whoever ends first stops the other; both have ended when the gate opens.
class Race : public std::enable_shared_from_this<Race> {
public:
    explicit Race(asio::any_io_executor executor) : executor_(std::move(executor)), gate_(executor_) {}

    void start(Task<void> task, Task<void> timer) {
        impl::start(
            executor_, std::move(task), stoppers_[0],
            [self = shared_from_this()](base::Result<void> result) { self->ended(0, std::move(result)); });
        impl::start(
            executor_, std::move(timer), stoppers_[1],
            [self = shared_from_this()](base::Result<void> result) { self->ended(1, std::move(result)); });
    }
    void cancel() {
        for (const auto& stopper : stoppers_) stopper->stop();
    }
    impl::Gate& gate() { return gate_; }
    base::Result<void> outcome() {
        const bool ran_out = results_[1].has_value() && results_[1]->has_value();
        if (first_ == 1 && ran_out) return deadline_error();
        return std::move(*results_[0]);
    }

private:
    void ended(std::size_t which, base::Result<void> result) {
        results_[which] = std::move(result);
        if (results_[1 - which].has_value()) {
            gate_.open();
            return;
        }
        first_ = which;
        stoppers_[1 - which]->stop();
    }

    asio::any_io_executor executor_;
    impl::Gate gate_;
    std::array<std::shared_ptr<impl::Stopper>, 2> stoppers_ = {std::make_shared<impl::Stopper>(),
                                                               std::make_shared<impl::Stopper>()};
    std::array<std::optional<base::Result<void>>, 2> results_;
    std::size_t first_ = 0;
};

}  // namespace

Task<void> with_limit(Clock& clock, Duration limit, Task<void> task) {
    if (co_await is_cancelled()) co_return base::cancelled_error();
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto race = std::make_shared<Race>(executor);
    race->start(std::move(task), clock.sleep(limit));
    co_await race->gate().wait([race] { race->cancel(); });
    co_return race->outcome();
}

Task<void> shielded(Clock& clock, Duration limit, Task<void> task) {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto race = std::make_shared<Race>(executor);
    race->start(std::move(task), clock.sleep(limit));
    co_await race->gate().wait(nullptr);
    co_return race->outcome();
}

}  // namespace instantstart::rt
