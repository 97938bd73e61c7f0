// Times on the wire: RFC 3339 UTC and the other forms that AWS uses.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace instantstart::base {

using TimePoint = std::chrono::system_clock::time_point;
using Duration = std::chrono::nanoseconds;

// "2026-11-30T13:45:39Z", to the second; `format_time_millis` has three decimals ("…39.123Z").
std::string format_time(TimePoint time);
std::string format_time_millis(TimePoint time);
// "20261130T134539Z" (SigV4) and "Mon, 30 Nov 2026 13:45:39 GMT" (HTTP).
std::string format_time_basic(TimePoint time);
std::string format_time_http(TimePoint time);
// Any of the forms above; empty where the text is none of them. Fractions up to nanoseconds, offsets "Z" or
// "+hh:mm".
std::optional<TimePoint> parse_time(std::string_view text);
// Seconds since the epoch, with fraction.
double to_epoch(TimePoint time);
TimePoint from_epoch(double seconds);

}  // namespace instantstart::base
