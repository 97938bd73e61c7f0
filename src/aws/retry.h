// How a call is retried: the settings of the AWS SDKs, the quota of retries, and how long to wait before the
// next attempt.
#pragma once

#include <cstdint>
#include <string>

#include "aws/failure.h"
#include "aws/profile.h"
#include "rt/clock.h"

namespace instantstart::aws {

// `adaptive` also limits how fast requests are sent to a service that throttles (send_rate.h).
enum class RetryMode : std::uint8_t { standard, adaptive };

struct RetrySettings {
    RetrySettings() = default;
    RetryMode mode = RetryMode::standard;
    // Attempts of a call, the first included. The SDKs' standard mode makes 3, their legacy mode 5. We make
    // 5: planning a launch reads some thirty things of a busy account, and one that is missing spoils the
    // plan.
    int attempts = 5;
};

// The values given by hand, else AWS_RETRY_MODE and AWS_MAX_ATTEMPTS, else the profile's retry_mode and
// max_attempts. "legacy" is accepted as standard. Error{invalid}: code "invalid_retry_mode" or
// "invalid_max_attempts", naming where the value stands.
base::Result<RetrySettings> retry_settings_from(const std::string& given_mode, int given_attempts,
                                                const Environment& environment, const Profiles& profiles);

// One quota per service: a service in trouble is not buried under retries, while single faults are always
// retried. The numbers are those of the SDKs' standard mode.
class RetryQuota {
public:
    // Takes the price of a retry; 0 where too little is left. What was taken last comes back with success().
    int take(const Failure& failure);
    // The call went well; `taken` is what its last retry took, 0 where it had none.
    void give_back(int taken);
    int left() const { return tokens_; }

private:
    static constexpr int kFull = 500;
    int tokens_ = kFull;
};

// Full jitter below a doubling limit of at most 20 s; never less than what the service asked for.
rt::Duration retry_wait(const Failure& failure, int attempts_done, rt::Clock& clock);
// What a service may ask a call to wait for. Whoever made the call is told of more, and looks again then.
inline constexpr rt::Duration kLongestWait = std::chrono::seconds(20);

}  // namespace instantstart::aws
