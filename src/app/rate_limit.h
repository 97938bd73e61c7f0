// RateLimiter: token buckets per principal and face. Only what has an effect or costs a look at the account
// is counted: refusals, replays and dry runs of mutations are free.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "app/operation.h"
#include "rt/clock.h"

namespace instantstart::app {

struct RateSettings {
    RateSettings() = default;
    int mutations_a_minute = -1;  // -1: the face's default (MCP 30, others 120); 0: no limit
    int queries_a_second = -1;    // -1: 50; 0: no limit
};

class RateLimiter {
public:
    RateLimiter(rt::Clock& clock, RateSettings settings) : clock_(clock), settings_(settings) {}
    // Takes one token, or Error{throttled, "rate_limited"} with when to come again.
    base::Result<void> take(const Caller& caller, Kind kind);

private:
    struct Bucket {
        double tokens = 0;
        base::Duration filled_at{};
    };
    struct Rate {
        double per_second = 0, burst = 0;
    };
    Rate rate_of(const Caller& caller, bool query) const;
    void forget_full(base::Duration now);

    rt::Clock& clock_;
    RateSettings settings_;
    std::map<std::pair<std::string, std::string>, Bucket> buckets_;
};

}  // namespace instantstart::app
