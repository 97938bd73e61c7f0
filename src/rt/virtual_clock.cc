#include "rt/virtual_clock.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <random>
#include <utility>

#include "rt/event.h"

namespace instantstart::rt {

namespace {

struct Sleeper {
    explicit Sleeper(asio::io_context& io) : timer(io, asio::steady_timer::time_point::max()) {}
    asio::steady_timer timer;
    bool fired = false;
};

// Ordered by time, then by who came first: the order of waking is the same in every run.
using Sleepers = std::map<std::pair<Duration, std::uint64_t>, Sleeper*>;

}  // namespace

struct VirtualClock::Impl {
    Impl(asio::io_context& loop, std::uint64_t seed, TimePoint begin)
        : io(loop), engine(seed), start(begin) {}
    asio::io_context& io;
    std::mt19937_64 engine;
    TimePoint start;
    Duration elapsed{0};
    std::uint64_t next_number = 0;
    // Shared with the sleeping frames, which may die after the clock.
    std::shared_ptr<Sleepers> sleepers = std::make_shared<Sleepers>();

    void run_ready() {
        do {
            io.restart();
        } while (io.poll() > 0);
    }
};

namespace {

class Registration {
public:
    Registration(std::shared_ptr<Sleepers> sleepers, Sleepers::key_type key, Sleeper* sleeper)
        : sleepers_(std::move(sleepers)), key_(key) {
        sleepers_->emplace(key_, sleeper);
    }
    ~Registration() { sleepers_->erase(key_); }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

private:
    std::shared_ptr<Sleepers> sleepers_;
    Sleepers::key_type key_;
};

}  // namespace

VirtualClock::VirtualClock(asio::io_context& io, std::uint64_t seed, TimePoint start)
    : impl_(std::make_unique<Impl>(io, seed, start)) {}

VirtualClock::~VirtualClock() = default;

TimePoint VirtualClock::now() const {
    return impl_->start + impl_->elapsed;
}

Duration VirtualClock::monotonic() const {
    return impl_->elapsed;
}

Task<void> VirtualClock::sleep(Duration duration) {
    if (co_await is_cancelled()) co_return base::cancelled_error();
    if (duration <= Duration::zero()) {
        co_await asio::post(impl_->io, asio::use_awaitable);
        co_return base::ok();
    }
    Sleeper sleeper(impl_->io);
    const Registration registration(impl_->sleepers, {impl_->elapsed + duration, impl_->next_number++},
                                    &sleeper);
    co_await sleeper.timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!sleeper.fired) co_return base::cancelled_error();
    co_return base::ok();
}

std::uint64_t VirtualClock::random() {
    return impl_->engine();
}

bool VirtualClock::run_until(const std::function<bool()>& done, Duration limit) {
    const Duration end = impl_->elapsed + limit;
    while (true) {
        impl_->run_ready();
        if (done()) return true;
        auto first = impl_->sleepers->begin();
        while (first != impl_->sleepers->end() && first->second->fired) ++first;
        if (first == impl_->sleepers->end()) return false;
        if (first->first.first > end) {
            impl_->elapsed = end;
            return false;
        }
        impl_->elapsed = std::max(impl_->elapsed, first->first.first);
        first->second->fired = true;
        first->second->timer.cancel();
    }
}

}  // namespace instantstart::rt
