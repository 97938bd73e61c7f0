#include "base/instant.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace instantstart::base {

namespace {

using std::chrono::days;
using std::chrono::sys_days;

constexpr std::int64_t kDay = 86400;
constexpr std::int64_t kFirst = -62167219200;  // 0000-01-01T00:00:00Z
constexpr std::int64_t kLast = 253402300799;   // 9999-12-31T23:59:59Z
constexpr std::int32_t kMicro = 1000;
constexpr std::int32_t kMilli = 1'000'000;
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view kWeekdays = "SunMonTueWedThuFriSat";

// Reads exactly `count` digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return -1;
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

std::optional<Instant> from_parts(int year, int month, int day, int hour, int minute, int second) {
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60 || year < 0) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    Instant out;
    out.seconds = sys_days(date).time_since_epoch().count() * kDay + hour * 3600 + minute * 60 + second;
    return out;
}

std::optional<Instant> parse_http(std::string_view text) {
    // "Mon, 30 Nov 2026 13:45:39 GMT"
    if (text.substr(25) != " GMT") return std::nullopt;
    const auto month = kMonths.find(text.substr(8, 3));
    if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
    return from_parts(digits(text, 12, 4), static_cast<int>(month / 3) + 1, digits(text, 5, 2),
                      digits(text, 17, 2), digits(text, 20, 2), digits(text, 23, 2));
}

std::optional<Instant> parse_basic(std::string_view text) {
    if (text[15] != 'Z') return std::nullopt;
    return from_parts(digits(text, 0, 4), digits(text, 4, 2), digits(text, 6, 2), digits(text, 9, 2),
                      digits(text, 11, 2), digits(text, 13, 2));
}

// Takes ".123" off the front; false for a point without digits. What is finer than a nanosecond is dropped.
bool take_fraction(std::string_view& rest, std::int32_t& nanos) {
    if (rest.empty() || rest[0] != '.') return true;
    std::size_t used = 1;
    std::int32_t scale = 100'000'000;
    for (; used < rest.size() && rest[used] >= '0' && rest[used] <= '9'; ++used, scale /= 10)
        nanos += (rest[used] - '0') * scale;
    if (used == 1) return false;
    rest.remove_prefix(used);
    return true;
}

// Seconds east of Greenwich: "", "Z", "+hh:mm" or "+hhmm".
std::optional<int> offset_of(std::string_view text) {
    if (text.empty() || text == "Z") return 0;
    const bool colon = text.size() == 6 && text[3] == ':';
    if ((text[0] != '+' && text[0] != '-') || (!colon && text.size() != 5)) return std::nullopt;
    const int hours = digits(text, 1, 2);
    const int minutes = digits(text, colon ? 4 : 3, 2);
    if (hours < 0 || minutes < 0) return std::nullopt;
    return (text[0] == '+' ? 1 : -1) * (hours * 3600 + minutes * 60);
}

std::chrono::year_month_day date_of(Instant instant) {
    const std::int64_t day = instant.seconds / kDay - (instant.seconds % kDay < 0 ? 1 : 0);
    return std::chrono::year_month_day(sys_days(days(static_cast<int>(day))));
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
    if (text.size() == 29 && text[3] == ',') return parse_http(text);
    if (text.size() == 16 && text[8] == 'T') return parse_basic(text);
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':' ||
        (text[10] != 'T' && text[10] != ' ')) {
        return std::nullopt;
    }
    auto out = from_parts(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2), digits(text, 11, 2),
                          digits(text, 14, 2), digits(text, 17, 2));
    if (!out) return std::nullopt;
    std::string_view rest = text.substr(19);
    if (!take_fraction(rest, out->nanos)) return std::nullopt;
    const auto offset = offset_of(rest);
    if (!offset) return std::nullopt;
    out->seconds -= *offset;
    if (out->seconds < kFirst || out->seconds > kLast) return std::nullopt;
    return out;
}

std::optional<Instant> instant_of_epoch(double seconds) {
    if (!(seconds >= static_cast<double>(kFirst) && seconds < static_cast<double>(kLast + 1)))
        return std::nullopt;
    Instant out;
    const double whole = std::floor(seconds);
    out.seconds = static_cast<std::int64_t>(whole);
    const auto micros = static_cast<std::int32_t>(std::nearbyint((seconds - whole) * 1e6));
    out.seconds += micros / 1'000'000;
    out.nanos = micros % 1'000'000 * kMicro;
    if (out.seconds > kLast) return std::nullopt;
    return out;
}

std::string format_instant(Instant instant) {
    const std::chrono::year_month_day date = date_of(instant);
    const auto second = static_cast<int>((instant.seconds % kDay + kDay) % kDay);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), second / 3600,
                  second / 60 % 60, second % 60);
    std::array<char, 16> fraction{};
    if (instant.nanos % kMilli >= kMicro) {
        std::snprintf(fraction.data(), fraction.size(), ".%06d", instant.nanos / kMicro);
    } else if (instant.nanos >= kMicro) {
        std::snprintf(fraction.data(), fraction.size(), ".%03d", instant.nanos / kMilli);
    }
    return std::string(text.data()) + fraction.data() + "Z";
}

std::string format_instant_http(Instant instant) {
    const std::chrono::year_month_day date = date_of(instant);
    const std::chrono::weekday weekday{sys_days(date)};
    const auto second = static_cast<int>((instant.seconds % kDay + kDay) % kDay);
    const std::string day(kWeekdays.substr(weekday.c_encoding() * 3, 3));
    const std::string month(kMonths.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT", day.c_str(),
                  static_cast<unsigned>(date.day()), month.c_str(), static_cast<int>(date.year()),
                  second / 3600, second / 60 % 60, second % 60);
    return text.data();
}

}  // namespace instantstart::base
