// VirtualClock: time that moves only when every coroutine on its loop waits. Tests and simulation only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "rt/clock.h"

namespace instantstart::rt {

class VirtualClock final : public Clock {
public:
    VirtualClock(asio::io_context& io, std::uint64_t seed, TimePoint start);
    ~VirtualClock() override;
    VirtualClock(const VirtualClock&) = delete;
    VirtualClock& operator=(const VirtualClock&) = delete;

    TimePoint now() const override;
    Duration monotonic() const override;
    Task<void> sleep(Duration duration) override;
    std::uint64_t random() override;

    // Runs the loop, jumping to the next timer whenever nothing is ready, until `done()` or `limit` of
    // virtual time has passed or nothing can ever happen again. True when `done()` became true.
    bool run_until(const std::function<bool()>& done, Duration limit);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace instantstart::rt
