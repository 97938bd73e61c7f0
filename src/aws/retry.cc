#include "aws/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace instantstart::aws {

namespace {

// A setting and where it stands, for the message.
struct Setting {
    Setting() = default;
    std::string value, place;
};

Setting find_setting(const std::string& given, const char* variable, const char* key,
                     const Environment& environment, const Profiles& profiles) {
    Setting found;
    found.value = given;
    found.place = "the settings";
    if (!found.value.empty()) return found;
    found.value = environment(variable);
    found.place = variable;
    if (!found.value.empty()) return found;
    const std::string profile = profile_name(environment);
    found.value = profiles.value(profile, key);
    found.place = std::string(key) + " of profile " + profile;
    return found;
}

base::Result<RetryMode> parse_mode(const Setting& setting) {
    if (setting.value.empty() || setting.value == "standard" || setting.value == "legacy")
        return RetryMode::standard;
    if (setting.value == "adaptive") return RetryMode::adaptive;
    return base::invalid_error("invalid_retry_mode",
                               setting.place + " is \"" + setting.value + "\", which is no retry mode")
        .with_hint("Set it to standard or adaptive, or remove it.");
}

base::Result<int> parse_attempts(const Setting& setting, int fallback) {
    if (setting.value.empty()) return fallback;
    int attempts = 0;
    const char* end = setting.value.data() + setting.value.size();
    const auto parsed = std::from_chars(setting.value.data(), end, attempts);
    if (parsed.ec == std::errc() && parsed.ptr == end && attempts >= 1) return attempts;
    return base::invalid_error("invalid_max_attempts", setting.place + " is \"" + setting.value +
                                                           "\", which is no number of attempts")
        .with_hint("Set it to a whole number from 1, or remove it.");
}

}  // namespace

base::Result<RetrySettings> retry_settings_from(const std::string& given_mode, int given_attempts,
                                                const Environment& environment, const Profiles& profiles) {
    RetrySettings out;
    const std::string given = given_attempts == 0 ? std::string() : std::to_string(given_attempts);
    const Setting mode = find_setting(given_mode, "AWS_RETRY_MODE", "retry_mode", environment, profiles);
    const Setting attempts = find_setting(given, "AWS_MAX_ATTEMPTS", "max_attempts", environment, profiles);
    TRY(out.mode, parse_mode(mode));
    TRY(out.attempts, parse_attempts(attempts, out.attempts));
    return out;
}

int RetryQuota::take(const Failure& failure) {
    constexpr int kPrice = 5;
    constexpr int kPriceOfTimeout = 10;
    const int price = failure.timed_out ? kPriceOfTimeout : kPrice;
    if (tokens_ < price) return 0;
    tokens_ -= price;
    return price;
}

void RetryQuota::give_back(int taken) {
    tokens_ = std::min(kFull, tokens_ + std::max(1, taken));
}

rt::Duration retry_wait(const Failure& failure, int attempts_done, rt::Clock& clock) {
    const double most = std::chrono::duration<double>(kLongestWait).count();
    const double first = failure.throttled ? 0.5 : 0.1;
    const double limit = std::min(most, first * std::pow(2.0, attempts_done));
    const auto jittered = std::chrono::duration<double>(clock.random_between(limit / 10, limit));
    const auto wait = std::chrono::duration_cast<rt::Duration>(jittered);
    return failure.wait ? std::max<rt::Duration>(wait, *failure.wait) : wait;
}

}  // namespace instantstart::aws
