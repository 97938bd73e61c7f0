#include "base/time.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>

#include "base/instant.h"

namespace instantstart::base {

namespace {

using std::chrono::system_clock;

std::tm utc_parts(TimePoint time) {
    const std::time_t seconds = system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return parts;
}

std::string formatted(TimePoint time, const char* pattern) {
    const std::tm parts = utc_parts(time);
    std::array<char, 64> buffer{};
    const std::size_t size = std::strftime(buffer.data(), buffer.size(), pattern, &parts);
    return {buffer.data(), size};
}

}  // namespace

std::string format_time(TimePoint time) {
    return formatted(time, "%Y-%m-%dT%H:%M:%SZ");
}

std::string format_time_millis(TimePoint time) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(time);
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time - whole).count();
    std::array<char, 8> fraction{};
    std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(millis));
    return formatted(time, "%Y-%m-%dT%H:%M:%S") + fraction.data();
}

std::string format_time_basic(TimePoint time) {
    return formatted(time, "%Y%m%dT%H%M%SZ");
}

std::string format_time_http(TimePoint time) {
    return formatted(time, "%a, %d %b %Y %H:%M:%S GMT");
}

std::optional<TimePoint> parse_time(std::string_view text) {
    const auto instant = parse_instant(text);
    // What lies outside of the clock's nanoseconds is no time to it.
    constexpr std::int64_t kMostSeconds = std::numeric_limits<std::int64_t>::max() / 1'000'000'000 - 1;
    if (!instant || instant->seconds > kMostSeconds || instant->seconds < -kMostSeconds) return std::nullopt;
    return TimePoint(std::chrono::seconds(instant->seconds)) +
           std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(instant->nanos));
}

double to_epoch(TimePoint time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

TimePoint from_epoch(double seconds) {
    // The ends of the clock, a little inside of them because doubles are coarse there.
    constexpr double kMostSeconds = 9223372036.0;
    if (std::isnan(seconds)) return {};
    if (seconds >= kMostSeconds) return TimePoint::max();
    if (seconds <= -kMostSeconds) return TimePoint::min();
    return TimePoint(
        std::chrono::duration_cast<system_clock::duration>(std::chrono::duration<double>(seconds)));
}

}  // namespace instantstart::base
