// A time of the whole calendar, as documents and wires carry it: "9999-12-31T23:59:59Z" is one, though the
// nanoseconds of TimePoint end in 2262.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace instantstart::base {

// Years 0 to 9999. `nanos` counts forward from the second, also before 1970.
struct Instant {
    std::int64_t seconds = 0;  // since 1970
    std::int32_t nanos = 0;    // 0 to 999'999'999
};

// "2026-11-30T13:45:39Z" with an optional fraction and any offset, "20261130T134539Z" and "Mon, 30 Nov 2026
// 13:45:39 GMT"; empty where the text is none of them.
std::optional<Instant> parse_instant(std::string_view text);
// Seconds since 1970, rounded to microseconds; empty outside of the years 0 to 9999.
std::optional<Instant> instant_of_epoch(double seconds);
// RFC 3339 in UTC, with no, three or six decimals: as few as hold the microseconds.
std::string format_instant(Instant instant);
// The form of HTTP, to the second.
std::string format_instant_http(Instant instant);

}  // namespace instantstart::base
