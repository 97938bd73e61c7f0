// How long to wait before the next attempt, and whether the budget of retries allows one.
#pragma once

#include <cstdint>

#include "aws/failure.h"
#include "rt/clock.h"

namespace instantstart::aws {

// One bucket per service: a service in trouble is not buried under retries, while single faults are always
// retried.
class RetryBudget {
public:
    // Takes the price of a retry; false where the bucket is too empty.
    bool take(const Failure& failure);
    // An attempt went well: a little is given back.
    void succeed();

private:
    static constexpr int kFull = 500;
    int tokens_ = kFull;
};

inline constexpr int kMaxAttempts = 5;

// Full jitter below a doubling limit of at most 20 s; never less than what the service asked for.
rt::Duration retry_wait(const Failure& failure, int attempts_done, rt::Clock& clock);

}  // namespace instantstart::aws
