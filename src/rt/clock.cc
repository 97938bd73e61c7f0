#include "rt/clock.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <random>

#include "rt/event.h"

namespace instantstart::rt {

namespace {

constexpr std::string_view kIdAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";

std::uint64_t device_seed() {
    std::random_device device;
    return (static_cast<std::uint64_t>(device()) << 32U) ^ device();
}

class SystemClock final : public Clock {
public:
    explicit SystemClock(asio::any_io_executor executor)
        : executor_(std::move(executor)), engine_(device_seed()) {}

    TimePoint now() const override {
        return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
    }

    Duration monotonic() const override {
        return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
    }

    Task<void> sleep(Duration duration) override {
        if (co_await is_cancelled()) co_return base::cancelled_error();
        if (duration <= Duration::zero()) {
            co_await asio::post(executor_, asio::use_awaitable);
            co_return base::ok();
        }
        asio::steady_timer timer(executor_, duration);
        const auto [code] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        if (code) co_return base::cancelled_error();
        co_return base::ok();
    }

    std::uint64_t random() override { return engine_(); }

private:
    asio::any_io_executor executor_;
    std::mt19937_64 engine_;
};

}  // namespace

double Clock::random_between(double low, double high) {
    constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
    return low + (high - low) * (static_cast<double>(random() >> 11U) * kUnit);
}

std::string Clock::random_id(std::size_t length) {
    std::string text;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < length; ++i) {
        if (i % 12 == 0) bits = random();
        text += kIdAlphabet[bits & 31U];
        bits >>= 5U;
    }
    return text;
}

std::unique_ptr<Clock> make_system_clock(asio::any_io_executor executor) {
    return std::make_unique<SystemClock>(std::move(executor));
}

}  // namespace instantstart::rt
