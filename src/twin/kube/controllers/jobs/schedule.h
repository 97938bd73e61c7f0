// Schedule: the five fields of a CronJob's schedule, and the times that they name.
#pragma once

#include <bitset>
#include <optional>

#include "base/result.h"
#include "base/time.h"

namespace instantstart::twin::kube::controllers {

class Schedule {
public:
    // "*/5 * * * 1-5", "@daily" and its like; names of months and days as in cron. UTC.
    static std::optional<Schedule> parse(std::string_view text);
    // The first time after `after`; nothing within five years where no date fits (30 February).
    std::optional<base::TimePoint> next(base::TimePoint after) const;

private:
    std::bitset<60> minutes_;
    std::bitset<24> hours_;
    std::bitset<32> days_;
    std::bitset<13> months_;
    std::bitset<7> weekdays_;
    bool any_day_ = false, any_weekday_ = false;
};

}  // namespace instantstart::twin::kube::controllers
