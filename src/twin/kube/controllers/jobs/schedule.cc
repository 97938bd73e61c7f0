#include "twin/kube/controllers/jobs/schedule.h"

#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <string>

#include "base/text.h"

namespace instantstart::twin::kube::controllers {

namespace {

using Names = std::map<std::string, int, std::less<>>;

const Names kMonths = {{"jan", 1}, {"feb", 2}, {"mar", 3}, {"apr", 4},  {"may", 5},  {"jun", 6},
                       {"jul", 7}, {"aug", 8}, {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}};
const Names kDays = {{"sun", 0}, {"mon", 1}, {"tue", 2}, {"wed", 3}, {"thu", 4}, {"fri", 5}, {"sat", 6}};

std::optional<int> value_of(std::string_view text, const Names& names) {
    if (const auto named = names.find(base::to_lower(text)); named != names.end()) return named->second;
    int out = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return out;
}

struct Range {
    int first = 0, last = 0, step = 1;
};

// "*", "5", "1-5", each with "/step"; "5/15" goes to the end.
std::optional<Range> range_of(std::string_view part, int low, int high, const Names& names) {
    Range out;
    const auto slash = part.find('/');
    const auto body = part.substr(0, slash);
    if (slash != std::string_view::npos) {
        const auto step = value_of(part.substr(slash + 1), {});
        if (!step || *step < 1) return std::nullopt;
        out.step = *step;
    }
    const auto dash = body.find('-');
    if (body == "*" || body == "?") {
        out.first = low;
        out.last = high;
    } else if (dash != std::string_view::npos) {
        const auto first = value_of(body.substr(0, dash), names),
                   last = value_of(body.substr(dash + 1), names);
        if (!first || !last) return std::nullopt;
        out.first = *first;
        out.last = *last;
    } else {
        const auto only = value_of(body, names);
        if (!only) return std::nullopt;
        out.first = *only;
        out.last = slash == std::string_view::npos ? *only : high;
    }
    if (out.first < low || out.last > high || out.first > out.last) return std::nullopt;
    return out;
}

template <std::size_t Size>
bool read_field(std::string_view text, int low, int high, const Names& names, std::bitset<Size>& out) {
    for (const auto& part : base::split(text, ',')) {
        const auto range = range_of(part, low, high, names);
        if (!range) return false;
        for (int i = range->first; i <= range->last; i += range->step)
            out.set(static_cast<std::size_t>(i) % Size);
    }
    return true;
}

std::string_view spelled_out(std::string_view text) {
    static const std::map<std::string, std::string, std::less<>> kShort = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"}};
    const auto found = kShort.find(text);
    return found == kShort.end() ? text : std::string_view(found->second);
}

}  // namespace

std::optional<Schedule> Schedule::parse(std::string_view text) {
    std::vector<std::string> fields;
    for (auto& field : base::split(spelled_out(base::trim(text)), ' ')) {
        if (!field.empty()) fields.push_back(std::move(field));
    }
    if (fields.size() != 5) return std::nullopt;
    Schedule out;
    out.any_day_ = fields[2] == "*" || fields[2] == "?";
    out.any_weekday_ = fields[4] == "*" || fields[4] == "?";
    // Day 7 is Sunday too.
    const bool good =
        read_field(fields[0], 0, 59, {}, out.minutes_) && read_field(fields[1], 0, 23, {}, out.hours_) &&
        read_field(fields[2], 1, 31, {}, out.days_) && read_field(fields[3], 1, 12, kMonths, out.months_) &&
        read_field(fields[4], 0, 7, kDays, out.weekdays_);
    return good ? std::optional(out) : std::nullopt;
}

std::optional<base::TimePoint> Schedule::next(base::TimePoint after) const {
    using std::chrono::days;
    const auto start = std::chrono::floor<std::chrono::minutes>(after) + std::chrono::minutes(1);
    const auto first_day = std::chrono::floor<days>(start);
    for (int i = 0; i < 5 * 366; ++i) {
        const auto day = first_day + days(i);
        const std::chrono::year_month_day date(day);
        const auto of_month = static_cast<unsigned>(date.day());
        const auto of_week = std::chrono::weekday(day).c_encoding();
        // Where both are given either will do, as in cron.
        const bool by_day = days_.test(of_month), by_week = weekdays_.test(of_week);
        const bool fits = any_day_ || any_weekday_ ? by_day && by_week : by_day || by_week;
        if (!fits || !months_.test(static_cast<unsigned>(date.month()))) continue;
        for (int minute = 0; minute < 24 * 60; ++minute) {
            const auto at = day + std::chrono::minutes(minute);
            if (at < start || !hours_.test(static_cast<std::size_t>(minute / 60)) ||
                !minutes_.test(static_cast<std::size_t>(minute % 60)))
                continue;
            return base::TimePoint(at);
        }
    }
    return std::nullopt;
}

}  // namespace instantstart::twin::kube::controllers
