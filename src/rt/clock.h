// Clock: the seam of time and randomness. The product and the twin take time from nowhere else, so that a
// simulation can run both on virtual time with a seed. Single-threaded: used on the loop that owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/time.h"
#include "rt/task.h"

namespace instantstart::rt {

using base::Duration;
using base::TimePoint;

class Clock {
public:
    virtual ~Clock() = default;
    // Wall-clock time (what goes on the wire).
    virtual TimePoint now() const = 0;
    // Monotonic time since an arbitrary start, for measuring and deadlines.
    virtual Duration monotonic() const = 0;
    // Waits; Error{cancelled} when the coroutine is cancelled. A duration <= 0 yields once.
    virtual Task<void> sleep(Duration duration) = 0;
    // 64 random bits (seeded in simulation). Not for secrets: base/digest random_bytes is.
    virtual std::uint64_t random() = 0;

    // Uniform in [low, high).
    double random_between(double low, double high);
    // Lower-case base-32 text of `length` characters from random(), for ids.
    std::string random_id(std::size_t length);
};

// The real clock on `executor`.
std::unique_ptr<Clock> make_system_clock(asio::any_io_executor executor);

}  // namespace instantstart::rt
