#include "app/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace instantstart::app {

namespace {
constexpr std::size_t kMaxBuckets = 4096;
}

RateLimiter::Rate RateLimiter::rate_of(const Caller& caller, bool query) const {
    Rate rate;
    if (query) {
        rate.per_second = settings_.queries_a_second < 0 ? 50 : settings_.queries_a_second;
        rate.burst = 2 * rate.per_second;
    } else {
        const double standard = caller.face == "mcp" ? 30 : 120;
        const double a_minute = settings_.mutations_a_minute < 0 ? standard : settings_.mutations_a_minute;
        rate.per_second = a_minute / 60;
        // half a minute's worth for agents, a quarter for the other faces
        rate.burst = std::max(1.0, caller.face == "mcp" ? a_minute / 2 : a_minute / 4);
    }
    return rate;
}

void RateLimiter::forget_full(base::Duration now) {
    std::erase_if(buckets_, [now](const auto& entry) {
        return now - entry.second.filled_at > std::chrono::minutes(2);
    });
}

base::Result<void> RateLimiter::take(const Caller& caller, Kind kind) {
    const bool query = kind == Kind::query;
    const Rate rate = rate_of(caller, query);
    if (rate.per_second <= 0) return base::ok();
    const base::Duration now = clock_.monotonic();
    if (buckets_.size() > kMaxBuckets) forget_full(now);
    const auto key = std::make_pair(caller.principal, caller.face + (query ? "/query" : "/mutation"));
    auto [found, fresh] = buckets_.try_emplace(key);
    Bucket& bucket = found->second;
    const double elapsed = std::chrono::duration<double>(now - bucket.filled_at).count();
    bucket.tokens = fresh ? rate.burst : std::min(rate.burst, bucket.tokens + elapsed * rate.per_second);
    bucket.filled_at = now;
    if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return base::ok();
    }
    const double wait = (1 - bucket.tokens) / rate.per_second;
    return base::Error(base::ErrorKind::throttled, "rate_limited",
                       query ? "Too many queries from this principal"
                             : "Too many changes from this principal in a minute")
        .with_hint("Wait the given time and send the same request again; nothing was done.")
        .with_retry_after(std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait * 1000))));
}

}  // namespace instantstart::app
