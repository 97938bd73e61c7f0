#include "base/time.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>

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

std::optional<TimePoint> from_parts(int year, int month, int day, int hour, int minute, int second) {
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 60 || year < 0) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
           std::chrono::seconds(second);
}

std::optional<TimePoint> parse_http(std::string_view text) {
    // "Mon, 30 Nov 2026 13:45:39 GMT"
    static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != 29 || text.substr(25) != " GMT") return std::nullopt;
    const auto month = kMonths.find(text.substr(8, 3));
    if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
    return from_parts(digits(text, 12, 4), static_cast<int>(month / 3) + 1, digits(text, 5, 2),
                      digits(text, 17, 2), digits(text, 20, 2), digits(text, 23, 2));
}

std::optional<TimePoint> parse_basic(std::string_view text) {
    if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
    return from_parts(digits(text, 0, 4), digits(text, 4, 2), digits(text, 6, 2), digits(text, 9, 2),
                      digits(text, 11, 2), digits(text, 13, 2));
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
    if (text.size() == 29 && text[3] == ',') return parse_http(text);
    if (text.size() == 16 && text[8] == 'T') return parse_basic(text);
    if (text.size() < 19 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' '))
        return std::nullopt;
    auto time = from_parts(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2), digits(text, 11, 2),
                           digits(text, 14, 2), digits(text, 17, 2));
    if (!time) return std::nullopt;
    std::string_view rest = text.substr(19);
    if (!rest.empty() && rest[0] == '.') {
        std::size_t used = 1;
        std::int64_t nanos = 0;
        std::int64_t scale = 100'000'000;
        for (; used < rest.size() && rest[used] >= '0' && rest[used] <= '9'; ++used, scale /= 10)
            nanos += (rest[used] - '0') * scale;
        if (used == 1) return std::nullopt;
        *time += std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(nanos));
        rest = rest.substr(used);
    }
    if (rest.empty() || rest == "Z") return time;
    if (rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':') {
        const int hours = digits(rest, 1, 2);
        const int minutes = digits(rest, 4, 2);
        if (hours < 0 || minutes < 0) return std::nullopt;
        const auto offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
        return rest[0] == '+' ? *time - offset : *time + offset;
    }
    return std::nullopt;
}

double to_epoch(TimePoint time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

TimePoint from_epoch(double seconds) {
    return TimePoint(
        std::chrono::duration_cast<system_clock::duration>(std::chrono::duration<double>(seconds)));
}

}  // namespace instantstart::base
