// Backoff: growing, jittered waits between attempts.
#pragma once

#include <algorithm>

#include "rt/clock.h"

namespace instantstart::rt {

class Backoff {
public:
    Backoff(Duration first, Duration most, double factor = 2.0)
        : first_(first), most_(most), factor_(factor), next_(first) {}

    // The next wait: between half and all of the present step, which then grows.
    Duration next(Clock& clock) {
        const auto step = static_cast<double>(next_.count());
        const auto wait = Duration(static_cast<Duration::rep>(clock.random_between(step / 2, step)));
        next_ = std::min(most_, Duration(static_cast<Duration::rep>(step * factor_)));
        return wait;
    }
    void reset() { next_ = first_; }

private:
    Duration first_, most_;
    double factor_;
    Duration next_;
};

}  // namespace instantstart::rt
