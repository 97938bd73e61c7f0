#include "aws/retry.h"

#include <algorithm>
#include <cmath>

namespace instantstart::aws {

bool RetryBudget::take(const Failure& failure) {
    // Throttled calls wait longer instead of costing more.
    const int price = failure.throttled ? 2 : 5;
    if (tokens_ < price) return false;
    tokens_ -= price;
    return true;
}

void RetryBudget::succeed() {
    tokens_ = std::min(kFull, tokens_ + 1);
}

rt::Duration retry_wait(const Failure& failure, int attempts_done, rt::Clock& clock) {
    constexpr double kMostSeconds = 20;
    const double first = failure.throttled ? 0.5 : 0.1;
    const double limit = std::min(kMostSeconds, first * std::pow(2.0, attempts_done));
    const auto jittered = std::chrono::duration<double>(clock.random_between(limit / 10, limit));
    const auto wait = std::chrono::duration_cast<rt::Duration>(jittered);
    return failure.wait ? std::max<rt::Duration>(wait, *failure.wait) : wait;
}

}  // namespace instantstart::aws
